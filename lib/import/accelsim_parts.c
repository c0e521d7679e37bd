/* SPDX-License-Identifier: MIT */
/* A grouped trace in several threads: each reads a part that begins with a thread block. What the parts report is passed on in
 * their order, so that nothing depends on the threads. A part that is not as expected - a header in it, an error - is read
 * again, then, in its place. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/piece.h"
#include "import/accelsim.h"
#include "import/recorded.h"
#include "import/textparts.h"

struct part {
	struct gt_textpart part;
	struct gt_accelsim reader;
	struct gt_recorded recorded;
	struct gt_error error; /* why it was not read to its end; told when it is read again */
	bool as_expected;
};

struct parts {
	const struct gt_trace *to;
	struct gt_accelsim *header; /* with which each part begins */
	struct gt_accelsim *reader; /* where the parts that were passed on lead to */
	uint64_t lines;		    /* of these parts, and before them */
	atomic_bool outdated;	    /* another launch has begun since parts were given its header */
};

static void begin_part(void *context, void *of)
{
	const struct parts *parts = context;
	struct part *part = of;

	gt_accelsim_begin_part(&part->reader, parts->header);
}

static bool is_outdated(void *context)
{
	struct parts *parts = context;

	return atomic_load(&parts->outdated);
}

/* Reads up to the end, a header or an error. */
static int read_part(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct part *part = of;
	struct gt_input *text = part->part.text;
	char *line;
	size_t length;
	int got;

	(void)lane;
	(void)error;
	part->as_expected = false;
	if (atomic_load(&parts->outdated))
		return 0;
	gt_recorded_begin(&part->recorded, text, parts->to);
	part->reader.to = &part->recorded.trace;
	part->reader.input = text;
	part->reader.error = &part->error;
	while ((got = gt_input_line(text, &line, &length, &part->error)) > 0)
		if (*line == '-' || gt_accelsim_line(&part->reader, line) != 0)
			return 0;
	part->as_expected = got == 0 && part->reader.place == GT_ACCELSIM_OUTSIDE;
	return 0;
}

/* Reads a part in its place. */
static int read_again(struct parts *parts, struct gt_input *text, struct gt_error *error)
{
	struct gt_accelsim *reader = parts->reader;
	struct gt_input *whole = reader->input;
	struct gt_error *whole_error = reader->error;
	char *line;
	size_t length;
	int got, result = 0;

	gt_piece_again(text, parts->lines);
	reader->input = text;
	reader->error = error;
	while (result == 0 && (got = gt_input_line(text, &line, &length, error)) != 0) {
		if (got > 0 && *line == '-')
			atomic_store(&parts->outdated, true);
		result = got < 0 ? -1 : gt_accelsim_line(reader, line);
	}
	reader->input = whole;
	reader->error = whole_error;
	parts->lines = gt_input_line_number(text);
	return result;
}

static int pass_on(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	const struct part *part = of;
	struct gt_input *text = part->part.text;

	(void)lane;
	if (!part->as_expected || is_outdated(parts) || parts->reader->place != GT_ACCELSIM_OUTSIDE)
		return read_again(parts, text, error);
	uint64_t lines = gt_input_line_number(text);
	int result = gt_recorded_report(&part->recorded, text, parts->lines, parts->to, error);
	parts->lines += lines;
	return result;
}

static void close_part(void *of)
{
	struct part *part = of;

	gt_recorded_close(&part->recorded);
}

int gt_accelsim_parts(struct gt_accelsim *reader)
{
	struct parts parts = {.to = reader->to, .reader = reader, .lines = gt_input_line_number(reader->input),
			      .header = calloc(1, sizeof *parts.header)};
	const struct gt_textparts how = {
		.part_bytes = sizeof(struct part), .mark = GT_ACCELSIM_BLOCK, .context = &parts,
		.begin = begin_part, .ended = is_outdated, .read = read_part, .pass_on = pass_on, .close = close_part,
	};

	if (!parts.header)
		return gt_fail_memory(reader->error, "threads");
	gt_accelsim_begin_part(parts.header, reader);
	int result = gt_textparts_read(&how, reader->input, reader->to->jobs, reader->error);
	free(parts.header);
	gt_piece_note_line(reader->input, parts.lines);
	return result;
}
