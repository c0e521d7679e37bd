/* SPDX-License-Identifier: MIT */
/* A grouped trace in several threads: each reads a part that begins with a thread block. What the parts report is passed on in
 * their order, so that nothing depends on the threads. A part that is not as expected - a header in it, an error - is read
 * again, then, in its place. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/piece.h"
#include "base/pipeline.h"
#include "import/accelsim.h"
#include "import/recorded.h"

#define PART_BYTES ((size_t)256 << 10) /* of text, at least: with what is read from it, it fits into a core's cache */

struct part {
	struct gt_accelsim reader;
	struct gt_input *text;
	struct gt_recorded recorded;
	struct gt_error error; /* why it was not read to its end; told when it is read again */
	bool as_expected;
};

struct parts {
	struct gt_input *whole;
	const struct gt_trace *to;
	struct gt_accelsim *header; /* with which each part begins */
	struct gt_accelsim *reader; /* where the parts that were passed on lead to */
	uint64_t lines;		    /* of these parts, and before them */
	atomic_bool outdated;	    /* another launch has begun since parts were given its header */
	struct part *parts;
	size_t n;
	struct gt_pipeline *pipeline;
};

/* ---- steps ---- */

/* Reads up to the end, a header or an error. */
static int read_part(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct part *part = of;
	char *line;
	size_t length;
	int got;

	(void)lane;
	(void)error;
	part->as_expected = false;
	if (atomic_load(&parts->outdated))
		return 0;
	gt_recorded_begin(&part->recorded, part->text, parts->to);
	part->reader.to = &part->recorded.trace;
	part->reader.input = part->text;
	part->reader.error = &part->error;
	while ((got = gt_input_line(part->text, &line, &length, &part->error)) > 0)
		if (*line == '-' || gt_accelsim_line(&part->reader, line) != 0)
			return 0;
	part->as_expected = got == 0 && part->reader.place == GT_ACCELSIM_OUTSIDE;
	return 0;
}

/* Reads a part in its place. */
static int read_again(struct parts *parts, struct part *part, struct gt_error *error)
{
	struct gt_accelsim *reader = parts->reader;
	struct gt_error *whole_error = reader->error;
	char *line;
	size_t length;
	int got, result = 0;

	gt_piece_again(part->text, parts->lines);
	reader->input = part->text;
	reader->error = error;
	while (result == 0 && (got = gt_input_line(part->text, &line, &length, error)) != 0) {
		if (got > 0 && *line == '-')
			atomic_store(&parts->outdated, true);
		result = got < 0 ? -1 : gt_accelsim_line(reader, line);
	}
	reader->input = parts->whole;
	reader->error = whole_error;
	parts->lines = gt_input_line_number(part->text);
	return result;
}

static int pass_on(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct part *part = of;

	(void)lane;
	if (!part->as_expected || atomic_load(&parts->outdated) || parts->reader->place != GT_ACCELSIM_OUTSIDE)
		return read_again(parts, part, error);
	uint64_t lines = gt_input_line_number(part->text);
	int result = gt_recorded_report(&part->recorded, part->text, parts->lines, parts->to, error);
	parts->lines += lines;
	return result;
}

/* ---- the caller ---- */

static int open_parts(struct parts *parts, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{read_part, 0}, {pass_on, 1}};

	/* One that each thread works on, as many that wait, and one that is cut. */
	parts->n = 2 * jobs + 1;
	parts->parts = calloc(parts->n, sizeof *parts->parts);
	parts->header = calloc(1, sizeof *parts->header);
	if (!parts->parts || !parts->header)
		return gt_fail_memory(error, "threads");
	gt_accelsim_begin_part(parts->header, parts->reader);
	for (size_t i = 0; i < parts->n; i++)
		if (!(parts->parts[i].text = gt_piece_open(parts->whole, error)))
			return -1;
	parts->pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, parts,
					   (struct gt_pipeline_items){parts->parts, sizeof *parts->parts, parts->n}, error);
	return parts->pipeline ? 0 : -1;
}

static void close_parts(struct parts *parts)
{
	struct gt_error ignored;

	gt_pipeline_close(parts->pipeline);
	for (size_t i = 0; parts->parts && i < parts->n; i++) {
		gt_input_close(parts->parts[i].text, &ignored);
		gt_recorded_close(&parts->parts[i].recorded);
	}
	free(parts->parts);
	free(parts->header);
}

/* Sends parts off until the input ends or another launch begins. */
static int send_parts(struct parts *parts, struct gt_error *error)
{
	int got = 1;

	while (got > 0 && !atomic_load(&parts->outdated)) {
		struct part *part = gt_pipeline_next(parts->pipeline, error);
		if (!part)
			return -1;
		got = gt_piece_cut(part->text, parts->whole, GT_ACCELSIM_BLOCK, PART_BYTES, error);
		if (got == 0)
			break;
		gt_accelsim_begin_part(&part->reader, parts->header);
		gt_pipeline_put(parts->pipeline, part);
	}
	return got < 0 ? -1 : 0;
}

int gt_accelsim_parts(struct gt_accelsim *reader)
{
	struct parts parts = {.whole = reader->input, .to = reader->to, .reader = reader, .lines = gt_input_line_number(reader->input)};
	struct gt_error *error = reader->error, input_error;
	int result = open_parts(&parts, reader->to->jobs, error);

	if (result == 0) {
		int sent = send_parts(&parts, &input_error);
		/* What was read before the input failed comes first. */
		result = gt_pipeline_drain(parts.pipeline, error);
		if (result == 0 && sent != 0) {
			*error = input_error;
			result = -1;
		}
	}
	close_parts(&parts);
	gt_piece_note_line(reader->input, parts.lines);
	return result;
}
