/* SPDX-License-Identifier: MIT */
#include "import/pptparts.h"

#include <stdlib.h>

#include "base/pipeline.h"
#include "import/parts.h"
#include "import/pptblock.h"

/* A file that is under way. */
struct part {
	const struct gt_pptfile *file;
	struct gt_pptblock *reader;
	struct gt_input *input; /* open until the file has been passed on */
	struct gt_recorded recorded;
	int result;
	struct gt_error error;
};

struct gt_pptparts {
	const struct gt_trace *to;
	struct part *parts;
	size_t n;
	struct gt_pipeline *pipeline; /* NULL: one thread */
};

/* Opens and reads the file, whose input stays open. */
static int read_file(struct part *part, const struct gt_trace *to, struct gt_error *error)
{
	part->input = gt_input_open(part->file->path, error);
	if (!part->input)
		return -1;
	part->recorded.input = part->input;
	part->reader->to = to;
	part->reader->error = error;
	part->reader->block = part->file->block;
	return gt_pptblock_read(part->reader, part->input);
}

static int close_file(struct part *part, int result, struct gt_error *error)
{
	struct gt_error ignored;
	struct gt_input *input = part->input;

	part->input = NULL;
	return gt_input_close(input, result == 0 ? error : &ignored) == 0 ? result : -1;
}

/* Reads the file in its place. */
static int read_now(struct part *part, const struct gt_trace *to, struct gt_error *error)
{
	return close_file(part, read_file(part, to, error), error);
}

/* ---- steps ---- */

static int read_part(void *context, void *of, unsigned lane, struct gt_error *error)
{
	const struct gt_pptparts *parts = context;
	struct part *part = of;

	(void)lane;
	(void)error;
	gt_recorded_begin(&part->recorded, NULL, parts->to);
	part->result = read_file(part, &part->recorded.trace, &part->error);
	return 0;
}

static int pass_on(void *context, void *of, unsigned lane, struct gt_error *error)
{
	const struct gt_pptparts *parts = context;
	struct part *part = of;

	(void)lane;
	if (part->recorded.full) {
		close_file(part, -1, error);
		return read_now(part, parts->to, error);
	}
	int result = gt_recorded_report(&part->recorded, part->input, 0, parts->to, error);
	if (result == 0 && part->result != 0) {
		*error = part->error;
		result = -1;
	}
	return close_file(part, result, error);
}

/* ---- the caller ---- */

static int open_parts(struct gt_pptparts *parts, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{read_part, 0}, {pass_on, 1}};
	int result = 0;

	/* One that each thread reads, and as many that wait; one file is read by the caller itself. */
	parts->n = jobs > 1 ? 2 * (size_t)jobs : 1;
	parts->parts = calloc(parts->n, sizeof *parts->parts);
	if (!parts->parts)
		return gt_fail_memory(error, "threads");
	for (size_t i = 0; i < parts->n && result == 0; i++) {
		parts->parts[i].reader = gt_pptblock_open(parts->to, error);
		result = parts->parts[i].reader ? 0 : -1;
	}
	if (result == 0 && jobs > 1) {
		parts->pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, parts,
						   (struct gt_pipeline_items){parts->parts, sizeof *parts->parts, parts->n}, error);
		result = parts->pipeline ? 0 : -1;
	}
	return result;
}

struct gt_pptparts *gt_pptparts_open(const struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptparts *parts = calloc(1, sizeof *parts);

	if (!parts) {
		gt_fail_memory(error, "a trace's reader");
		return NULL;
	}
	parts->to = to;
	if (open_parts(parts, to->jobs, error) == 0)
		return parts;
	gt_pptparts_close(parts);
	return NULL;
}

void gt_pptparts_close(struct gt_pptparts *parts)
{
	struct gt_error ignored;

	if (!parts)
		return;
	gt_pipeline_close(parts->pipeline);
	for (size_t i = 0; parts->parts && i < parts->n; i++) {
		gt_pptblock_close(parts->parts[i].reader);
		gt_input_close(parts->parts[i].input, &ignored);
		gt_recorded_close(&parts->parts[i].recorded);
	}
	free(parts->parts);
	free(parts);
}

int gt_pptparts_read(struct gt_pptparts *parts, const struct gt_pptfile *files, size_t n, unsigned warps, unsigned last_lanes,
		     struct gt_error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct part *part = parts->pipeline ? gt_pipeline_next(parts->pipeline, error) : parts->parts;
		if (!part)
			return -1;
		part->file = &files[i];
		part->reader->warps = warps;
		part->reader->last_lanes = last_lanes;
		if (parts->pipeline)
			gt_pipeline_put(parts->pipeline, part);
		else if (read_now(part, parts->to, error) != 0)
			return -1;
	}
	return parts->pipeline ? gt_pipeline_drain(parts->pipeline, error) : 0;
}
