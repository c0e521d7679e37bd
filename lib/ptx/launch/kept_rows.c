/* SPDX-License-Identifier: MIT */
#include "ptx/launch/kept_rows.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/temporary.h"

static void empty(struct gt_rows *rows)
{
	rows->n = rows->n_lanes = 0;
	rows->has_hints = false;
}

/* The run that row i continues, or a new one. NULL when memory is short. */
static struct gt_ptx_kept_run *run_of(struct gt_ptx_kept_rows *kept, const struct gt_rows *rows, size_t i, bool begins)
{
	struct gt_ptx_kept_run *last = kept->n > 0 ? &kept->runs[kept->n - 1] : NULL;

	if (!begins && last && last->block == rows->block[i])
		return last;
	void *grown = gt_grown(kept->runs, kept->n, &kept->capacity, sizeof *kept->runs);
	if (!grown)
		return NULL;
	kept->runs = grown;
	last = &kept->runs[kept->n++];
	*last = (struct gt_ptx_kept_run){.block = rows->block[i], .has_hints = rows->has_hints, .has_work = rows->has_work};
	return last;
}

static int pack(struct gt_ptx_kept_rows *kept, struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_ptx_kept_run *run = run_of(kept, rows, i, i == 0);
		if (!run)
			return gt_fail_memory(error, "accesses");
		if (gt_ptx_held_add(&kept->held, &kept->store, rows, i, error) != 0)
			return -1;
		run->n++;
	}
	empty(rows);
	return 0;
}

static uint64_t bytes_of(const struct gt_rows *rows)
{
	uint64_t width = 0;

	for (size_t c = 0; c < gt_columns_n; c++)
		width += gt_columns[c].width;
	return width * rows->capacity + rows->lanes_capacity * sizeof *rows->lanes;
}

/* An empty batch that is not in use. NULL when memory is short. */
static struct gt_rows *spare_batch(struct gt_ptx_kept_rows *kept, struct gt_error *error)
{
	if (kept->n_batches < kept->made)
		return kept->batches[kept->n_batches];
	struct gt_rows **grown = gt_grown(kept->batches, kept->made, &kept->batches_capacity, sizeof *kept->batches);
	if (!grown) {
		gt_fail_memory(error, "accesses");
		return NULL;
	}
	kept->batches = grown;
	struct gt_rows *batch = gt_rows_new(GT_ROWS_BATCH, error);
	if (batch)
		kept->batches[kept->made++] = batch;
	return batch;
}

/* Sets the rows aside with their columns; the sink goes on with those of an empty batch. */
static int set_aside(struct gt_ptx_kept_rows *kept, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_rows *batch = spare_batch(kept, error), full = *rows;

	if (!batch)
		return -1;
	*rows = *batch;
	*batch = full;
	empty(rows);
	gt_rows_shape(rows, batch);
	kept->n_batches++;
	kept->batch_bytes += bytes_of(batch);
	return 0;
}

/* A batch that is full, or has other columns than the rows to come. */
static int keep(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_ptx_kept_rows *kept = context;
	const bool has_room = kept->n == 0 && kept->batch_bytes + bytes_of(rows) <= kept->most;

	return has_room ? set_aside(kept, rows, error) : pack(kept, rows, error);
}

int gt_ptx_kept_rows_open(struct gt_ptx_kept_rows *kept, uint64_t memory, struct gt_error *error)
{
	*kept = (struct gt_ptx_kept_rows){.sink = {gt_rows_new(GT_ROWS_BATCH, error), keep, kept}, .most = memory / 4 * 3};
	gt_store_open(&kept->store, memory - kept->most, gt_temporary_directory());
	return kept->sink.rows ? 0 : -1;
}

void gt_ptx_kept_rows_close(struct gt_ptx_kept_rows *kept)
{
	gt_rows_free(kept->sink.rows);
	for (size_t i = 0; i < kept->made; i++)
		gt_rows_free(kept->batches[i]);
	free(kept->batches);
	gt_store_close(&kept->store);
	free(kept->runs);
}

static int pass_run(struct gt_ptx_kept_rows *kept, const struct gt_ptx_kept_run *run, struct gt_sink *to, struct gt_error *error)
{
	const struct gt_rows shape = {.kind = GT_ACCESSES, .has_hints = run->has_hints, .has_work = run->has_work};
	int result = gt_sink_begin_as(to, &shape, error);

	for (uint64_t i = 0; result == 0 && i < run->n; i++)
		result = gt_ptx_held_pass(&kept->held, &kept->store, run->block, to, error);
	return result;
}

/* Appends n rows from `first` on, for which there is room. */
static int append(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n, struct gt_error *error)
{
	size_t at = to->n;

	gt_rows_append(to, from, first, n);
	for (; at < to->n; at++, first++) {
		size_t lanes = gt_ptx_row_lanes(to, at);
		if (lanes == 0)
			continue;
		if (gt_rows_reserve_lanes(to, lanes, error) != 0)
			return -1;
		memcpy(to->lanes + to->n_lanes, from->lanes + from->base[first], lanes * sizeof *to->lanes);
		to->base[at] = to->n_lanes;
		to->n_lanes += lanes;
	}
	return 0;
}

static int pass_rows(const struct gt_rows *rows, struct gt_sink *to, struct gt_error *error)
{
	int result = rows->n > 0 ? gt_sink_begin_as(to, rows, error) : 0;

	for (size_t first = 0, n; result == 0 && first < rows->n; first += n) {
		if (gt_sink_room(to, error) != 0)
			return -1;
		n = to->rows->capacity - to->rows->n;
		n = n < rows->n - first ? n : rows->n - first;
		result = append(to->rows, rows, first, n, error);
	}
	return result;
}

int gt_ptx_kept_rows_pass(struct gt_ptx_kept_rows *kept, struct gt_sink *to, struct gt_error *error)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < kept->n_batches; i++)
		result = pass_rows(kept->batches[i], to, error);
	for (size_t i = 0; result == 0 && i < kept->n; i++)
		result = pass_run(kept, &kept->runs[i], to, error);
	if (result == 0)
		result = pass_rows(kept->sink.rows, to, error);
	gt_ptx_kept_rows_drop(kept);
	return result;
}

void gt_ptx_kept_rows_drop(struct gt_ptx_kept_rows *kept)
{
	for (size_t i = 0; i < kept->n_batches; i++)
		empty(kept->batches[i]);
	gt_ptx_held_clear(&kept->held, &kept->store);
	empty(kept->sink.rows);
	kept->n = kept->n_batches = 0;
	kept->batch_bytes = 0;
}
