/* SPDX-License-Identifier: MIT */
#include "base/piece.h"

#include <stdlib.h>
#include <string.h>

#include "base/input_state.h"

struct gt_input *gt_piece_open(const struct gt_input *of, struct gt_error *error)
{
	struct gt_input *piece = calloc(1, sizeof *piece);
	struct gt_error ignored;

	if (!piece) {
		gt_fail_memory(error, "an input");
		return NULL;
	}
	piece->file = piece->descriptor = -1;
	piece->ended = true;
	piece->path = strdup(of->path);
	if (piece->path)
		return piece;
	gt_input_close(piece, &ignored);
	gt_fail_memory(error, "an input");
	return NULL;
}

/* Reads until so many bytes are buffered or the input ends. */
static int read_ahead(struct gt_input *input, size_t bytes, struct gt_error *error)
{
	while (input->end - input->start < bytes && !input->ended)
		if (gt_input_make_room(input, error) != 0 || gt_input_fill(input, error) < 0)
			return -1;
	return 0;
}

bool gt_piece_begins(const struct gt_input *of, const char *text)
{
	size_t length = strlen(text);

	return of->end - of->start >= length && memcmp(of->buffer + of->start, text, length) == 0;
}

/* The offset of the last line behind the first that begins with the mark; 0 if there is none. */
static size_t last_mark(const char *text, size_t bytes, const char *mark)
{
	size_t length = strlen(mark), found = 0;

	for (const char *at = text + 1, *end = text + bytes; at < end && (at = memchr(at, *mark, (size_t)(end - at))); at++)
		if (at[-1] == '\n' && (size_t)(end - at) >= length && memcmp(at, mark, length) == 0)
			found = (size_t)(at - text);
	return found;
}

/* The bytes up to the end of the last whole line. */
static size_t whole_lines(const char *text, size_t bytes)
{
	while (bytes > 0 && text[bytes - 1] != '\n')
		bytes--;
	return bytes;
}

/* Gives the first n bytes of what is buffered to the piece, with the buffer itself, and keeps the others. */
static int give(struct gt_input *piece, struct gt_input *of, size_t n, struct gt_error *error)
{
	size_t rest = of->end - of->start - n;

	piece->terminated = NULL;
	if (piece->capacity < of->capacity && gt_input_resize(piece, of->capacity, error) != 0)
		return -1;
	char *buffer = piece->buffer;
	size_t capacity = piece->capacity;
	memcpy(buffer, of->buffer + of->start + n, rest);
	piece->buffer = of->buffer;
	piece->capacity = of->capacity;
	piece->first = of->start;
	piece->end = of->start + n;
	piece->has_zero = of->has_zero;
	gt_piece_again(piece, 0);
	of->buffer = buffer;
	of->capacity = capacity;
	of->start = 0;
	of->end = rest;
	return 0;
}

/* The bytes that a piece gets of those that are buffered; 0 if it is to have more. */
static size_t find_cut(const struct gt_input *of, const char *mark)
{
	const char *text = of->buffer + of->start;
	size_t bytes = of->end - of->start, lines;

	if (mark)
		return last_mark(text, bytes, mark);
	lines = whole_lines(text, bytes);
	/* A line that is too long is not read to its end. */
	return lines == 0 && bytes > GT_LINE_MAX + 1 ? bytes : lines;
}

int gt_piece_cut(struct gt_input *piece, struct gt_input *of, const char *mark, size_t least, struct gt_error *error)
{
	struct gt_error ignored;
	size_t n = 0;
	int result = 0;

	gt_input_mend(of);
	for (size_t wanted = least; n == 0 && result == 0; wanted *= 2) {
		result = read_ahead(of, wanted, error);
		if (result == 0 && of->ended)
			break;
		n = result == 0 ? find_cut(of, mark) : whole_lines(of->buffer + of->start, of->end - of->start);
	}
	if (n == 0 && result == 0)
		n = of->end - of->start;
	if (give(piece, of, n, result == 0 ? error : &ignored) != 0)
		return -1;
	return result < 0 ? -1 : n > 0;
}

void gt_piece_again(struct gt_input *piece, uint64_t before)
{
	gt_input_mend(piece);
	piece->start = piece->first;
	piece->line = before;
}

void gt_piece_note_line(struct gt_input *input, uint64_t line)
{
	input->line = line;
}
