/* SPDX-License-Identifier: MIT */
#include "import/textparts.h"

#include <stdlib.h>

#include "base/piece.h"
#include "base/pipeline.h"

#define PART_BYTES ((size_t)256 << 10) /* of text, at least: with what is read from it, it fits into a core's cache */

static struct gt_textpart *part_at(const struct gt_textparts *parts, void *first, size_t i)
{
	return (void *)((char *)first + i * parts->part_bytes);
}

/* Sends parts off until the input ends, or they are to end. */
static int send(const struct gt_textparts *parts, struct gt_input *whole, struct gt_pipeline *pipeline, struct gt_error *error)
{
	int got = 1;

	while (got > 0 && !(parts->ended && parts->ended(parts->context))) {
		struct gt_textpart *part = gt_pipeline_next(pipeline, error);
		if (!part)
			return -1;
		got = gt_piece_cut(part->text, whole, parts->mark, PART_BYTES, error);
		if (got == 0)
			break;
		if (parts->begin)
			parts->begin(parts->context, part);
		gt_pipeline_put(pipeline, part);
	}
	return got < 0 ? -1 : 0;
}

static int read_in(const struct gt_textparts *parts, struct gt_input *whole, struct gt_pipeline *pipeline, struct gt_error *error)
{
	struct gt_error input_error;
	int sent = send(parts, whole, pipeline, &input_error), result = gt_pipeline_drain(pipeline, error);

	if (result == 0 && sent != 0) {
		*error = input_error;
		result = -1;
	}
	return result;
}

int gt_textparts_read(const struct gt_textparts *parts, struct gt_input *whole, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{parts->read, 0}, {parts->pass_on, 1}};
	/* One that each thread works on, as many that wait, and one that is cut. */
	size_t n = 2 * (size_t)jobs + 1, opened = 0;
	void *items = calloc(n, parts->part_bytes);
	struct gt_pipeline *pipeline = NULL;
	struct gt_error ignored;

	if (!items)
		return gt_fail_memory(error, "threads");
	while (opened < n && (part_at(parts, items, opened)->text = gt_piece_open(whole, error)))
		opened++;
	if (opened == n)
		pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, parts->context,
					    (struct gt_pipeline_items){items, parts->part_bytes, n}, error);
	int result = pipeline ? read_in(parts, whole, pipeline, error) : -1;
	gt_pipeline_close(pipeline);
	for (size_t i = 0; i < opened; i++) {
		gt_input_close(part_at(parts, items, i)->text, &ignored);
		parts->close(part_at(parts, items, i));
	}
	free(items);
	return result;
}
