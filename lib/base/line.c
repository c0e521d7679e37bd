/* SPDX-License-Identifier: MIT */
/* The lines of an input (base/input.h). */
#include <stdbool.h>
#include <string.h>

#include "base/input_state.h"

#define STREAM_MAGIC "\x93\xa6gtrace" /* how gtrace(5) begins: an array of three, whose first is that string */

/* The same for the rest of a line, which has a limit. */
static int make_room(struct gt_input *input, struct gt_error *error)
{
	if (input->start == 0 && input->end == input->capacity && input->capacity > GT_LINE_MAX) {
		input->line++;
		return gt_input_fail(input, error, "expected a line of at most %u bytes", GT_LINE_MAX);
	}
	return gt_input_make_room(input, error);
}

/* The end of the line that begins at `start`: its newline, or the end of the input. */
static int find_end(struct gt_input *input, size_t *end, bool *newline, struct gt_error *error)
{
	size_t searched = 0;

	for (;;) {
		char *from = input->buffer + input->start + searched;
		char *found = memchr(from, '\n', input->end - input->start - searched);
		if (found) {
			*newline = true;
			*end = (size_t)(found - input->buffer);
			return 1;
		}
		searched = input->end - input->start;
		if (!input->ended && (make_room(input, error) != 0 || gt_input_fill(input, error) < 0))
			return -1;
		if (input->ended) {
			*newline = false;
			*end = input->end;
			return searched > 0;
		}
	}
}

int gt_input_line(struct gt_input *input, char **line, size_t *length, struct gt_error *error)
{
	bool newline;
	size_t end;

	gt_input_mend(input);
	int found = find_end(input, &end, &newline, error);

	if (found <= 0)
		return found;
	char *text = input->buffer + input->start;
	size_t n = end - input->start;
	input->start = end + newline;
	input->line++;
	if (n > GT_LINE_MAX)
		return gt_input_fail(input, error, "expected a line of at most %u bytes", GT_LINE_MAX);
	if (input->has_zero && memchr(text, '\0', n))
		return gt_input_fail(input, error, memcmp(text, STREAM_MAGIC, n < 8 ? n : 8) == 0
							   ? "expected text, found a gtrace stream (gtrace-cat shows it)"
							   : "expected text, found a 0 byte");
	if (newline && n > 0 && text[n - 1] == '\r')
		n--;
	input->terminated = text + n;
	input->replaced = text[n];
	text[n] = '\0';
	*line = text;
	*length = n;
	return 1;
}
