/* SPDX-License-Identifier: MIT */
#include "order/team.h"

#include <stdlib.h>

#include "base/pipeline.h"
#include "counter/field.h"
#include "order/ordered.h"
#include "stream/chunk.h"
#include "stream/rebatch.h"

#define PART_ROWS ((size_t)GT_ROWS_BATCH) /* at least */
#define GROUP_ROWS_MAX ((size_t)64 * GT_ROWS_BATCH) /* of one high word, which are not divided: some megabytes */

struct part {
	size_t first, n; /* of what is listed by high words */
	struct gt_ordered ordered;
	struct gt_chunk *made; /* the rows */
	struct gt_sink sink;   /* which puts them there */
	struct gt_fold_out *fold;
	struct gt_fold_counts counts;
	struct gt_batch_records records;
};

struct gt_order_team {
	struct gt_ordered whole; /* what it lists by high words, and the next that is sent off */
	struct gt_writer *writer;
	struct gt_chunks chunks;
	struct gt_rebatch rebatch;
	struct gt_rows shape; /* of the launch that is under way: the columns, and no rows */
	struct gt_fold_counts counts; /* of it */
	struct part *parts;
	size_t parts_n;
	struct gt_pipeline *pipeline;
};

/* ---- steps ---- */

static int fold(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_order_team *team = context;
	struct part *part = of;
	const struct gt_packed *row;
	const uint64_t *lanes;

	(void)lane;
	part->made = gt_chunk_take(&team->chunks, error);
	if (!part->made || gt_ordered_begin_part(&part->ordered, &team->whole, part->first, part->n, error) != 0)
		return -1;
	gt_rows_shape(part->made->rows, &team->shape);
	part->sink = gt_sink_that_grows(part->made->rows);
	while (gt_ordered_next(&part->ordered, &row, &lanes))
		if (gt_fold_out_add(part->fold, row, lanes, error) != 0)
			return -1;
	return gt_fold_out_flush(part->fold, &part->counts, error);
}

static int rebatch(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_order_team *team = context;
	struct part *part = of;

	(void)lane;
	gt_counters_add(&team->counts, &part->counts, sizeof part->counts);
	return gt_rebatch_add(&team->rebatch, &team->chunks, part->made, &part->records.batches, error);
}

static int pack(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_order_team *team = context;
	struct part *part = of;

	(void)lane;
	return gt_batch_records_pack(&part->records, &team->chunks, &part->made, error);
}

static int write_out(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_order_team *team = context;
	const struct part *part = of;

	(void)lane;
	return gt_writer_put(team->writer, part->records.bytes.data, part->records.bytes.n, part->records.rows, error);
}

/* ---- opening ---- */

static int open_parts(struct gt_order_team *team, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{fold, 0}, {rebatch, 1}, {pack, 0}, {write_out, 1}};

	/* One that each thread works on, as many that wait, and one that is sent off. */
	team->parts_n = 2 * (size_t)jobs + 1;
	team->parts = calloc(team->parts_n, sizeof *team->parts);
	if (!team->parts)
		return gt_fail_memory(error, "threads");
	for (size_t i = 0; i < team->parts_n; i++)
		if (!(team->parts[i].fold = gt_fold_out_open(&team->parts[i].sink, error)))
			return -1;
	team->pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, team,
					  (struct gt_pipeline_items){team->parts, sizeof *team->parts, team->parts_n}, error);
	return team->pipeline ? 0 : -1;
}

/* The same as gt_order_team_open for a team to be opened. */
static int open_team(struct gt_order_team *team, const struct gt_kept *kept, unsigned jobs, struct gt_error *error)
{
	size_t largest;

	if (kept->n < PART_ROWS)
		return 0;
	if (gt_ordered_begin_parts(&team->whole, kept, &largest, error) != 0)
		return -1;
	if (largest > GROUP_ROWS_MAX)
		return 0;
	return open_parts(team, jobs, error) == 0 ? 1 : -1;
}

int gt_order_team_open(struct gt_order_team **team, const struct gt_kept *kept, unsigned jobs, struct gt_writer *writer,
		       struct gt_error *error)
{
	struct gt_order_team *opened = calloc(1, sizeof *opened);

	*team = NULL;
	if (!opened)
		return gt_fail_memory(error, "threads");
	opened->writer = writer;
	gt_chunks_open(&opened->chunks);
	int result = open_team(opened, kept, jobs, error);
	if (result == 1)
		*team = opened;
	else
		gt_order_team_close(opened);
	return result;
}

void gt_order_team_close(struct gt_order_team *team)
{
	if (!team)
		return;
	gt_pipeline_close(team->pipeline);
	for (size_t i = 0; team->parts && i < team->parts_n; i++) {
		struct part *part = &team->parts[i];
		gt_ordered_end(&part->ordered);
		gt_fold_out_close(part->fold);
		gt_chunk_release(&team->chunks, part->made);
		gt_batch_records_close(&part->records, &team->chunks);
	}
	gt_chunk_release(&team->chunks, team->rebatch.chunk);
	gt_chunks_close(&team->chunks);
	gt_ordered_end(&team->whole);
	free(team->parts);
	free(team);
}

/* ---- the caller ---- */

int gt_order_team_write(struct gt_order_team *team, uint32_t kernel, const struct gt_rows *shape, struct gt_fold_counts *counts,
			struct gt_error *error)
{
	size_t first = team->whole.by_high.next, n;

	team->counts = (struct gt_fold_counts){0};
	gt_rows_shape(&team->shape, shape);
	while ((n = gt_ordered_next_listed(&team->whole, kernel, PART_ROWS)) > 0) {
		struct part *part = gt_pipeline_next(team->pipeline, error);
		if (!part)
			return -1;
		part->first = first;
		part->n = n;
		gt_pipeline_put(team->pipeline, part);
		first += n;
	}
	if (gt_pipeline_drain(team->pipeline, error) != 0)
		return -1;
	*counts = team->counts;
	return gt_rebatch_give(&team->rebatch, &team->chunks, gt_writer_sink(team->writer), error);
}
