/* SPDX-License-Identifier: MIT */
/* The lines of NVBit's mem_trace in several threads, which read what each says by itself. What follows from the lines before - the
 * launch, the warp - is found in the order of the trace. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/piece.h"
#include "import/nvbit.h"
#include "import/textparts.h"

/* A line that is kept; behind it stand the addresses that it lists. */
struct kept {
	uint64_t number; /* in the part */
	size_t bytes;	 /* of all */
	struct gt_nvbit_line line;
};

struct part {
	struct gt_textpart part;
	struct gt_nvbit_scanner scanner;
	unsigned char *bytes; /* what is kept */
	size_t n, capacity;
	uint64_t lines;
	bool cut; /* the line behind these cannot be read */
};

struct parts {
	struct gt_nvbit *reader;
	uint64_t lines; /* of the parts that were passed on, and before them */
};

static int keep(struct part *part, const struct gt_nvbit_line *line, struct gt_error *error)
{
	size_t addresses = line->addresses ? (size_t)__builtin_popcount(line->mask) * sizeof *line->addresses : 0;
	size_t all = sizeof(struct kept) + addresses;
	unsigned char *larger = gt_grown_to(part->bytes, part->n + all, &part->capacity, 1);

	if (!larger)
		return gt_fail_memory(error, "a part of a trace");
	part->bytes = larger;
	struct kept *kept = (void *)(part->bytes + part->n);
	*kept = (struct kept){.number = part->lines, .bytes = all, .line = *line};
	if (addresses > 0)
		memcpy(kept + 1, line->addresses, addresses);
	part->n += all;
	return 0;
}

static int read_part(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct part *part = of;
	struct gt_nvbit_line line;
	struct gt_error ignored;
	char *text;
	size_t length;
	int got;

	(void)context;
	(void)lane;
	part->n = 0;
	part->lines = 0;
	while ((got = gt_input_line(part->part.text, &text, &length, &ignored)) > 0) {
		part->lines = gt_input_line_number(part->part.text);
		gt_nvbit_scan(&part->scanner, text, length, &line);
		if (line.kind != GT_NVBIT_OTHER && keep(part, &line, error) != 0)
			return -1;
	}
	part->cut = got < 0;
	return 0;
}

/* The error of the line that cannot be read, with its place in the whole. */
static int read_to_error(const struct parts *parts, struct gt_input *text, struct gt_error *error)
{
	char *line;
	size_t length;

	gt_piece_again(text, parts->lines);
	while (gt_input_line(text, &line, &length, error) > 0)
		;
	return -1;
}

static int take_all(const struct parts *parts, const struct part *part)
{
	for (size_t at = 0; at < part->n;) {
		struct kept *kept = (void *)(part->bytes + at);
		gt_piece_note_line(part->part.text, parts->lines + kept->number);
		if (kept->line.addresses)
			kept->line.addresses = (const void *)(kept + 1);
		if (gt_nvbit_take(parts->reader, &kept->line) != 0)
			return -1;
		at += kept->bytes;
	}
	return 0;
}

static int pass_on(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct gt_nvbit *reader = parts->reader;
	struct gt_input *whole = reader->input;
	struct gt_error *whole_error = reader->error;
	const struct part *part = of;

	(void)lane;
	reader->input = part->part.text;
	reader->error = error;
	int result = take_all(parts, part);
	if (result == 0 && part->cut)
		result = read_to_error(parts, part->part.text, error);
	reader->input = whole;
	reader->error = whole_error;
	parts->lines += part->lines;
	return result;
}

static void close_part(void *of)
{
	struct part *part = of;

	free(part->bytes);
}

int gt_nvbit_parts(struct gt_nvbit *reader)
{
	struct parts parts = {.reader = reader, .lines = gt_input_line_number(reader->input)};
	const struct gt_textparts how = {
		.part_bytes = sizeof(struct part), .context = &parts, .read = read_part, .pass_on = pass_on, .close = close_part,
	};
	int result = gt_textparts_read(&how, reader->input, reader->to->jobs, reader->error);

	gt_piece_note_line(reader->input, parts.lines);
	return result;
}
