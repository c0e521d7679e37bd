/* SPDX-License-Identifier: MIT */
#include "ptx/record/blockorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#define WARPS 32	/* of a block at most: 1024 threads */
#define NONE UINT32_MAX /* the end of a chain */

struct gt_ptx_blockorder {
	struct gt_sink in, *to;
	uint64_t memory; /* bytes a block may take */
	struct gt_rows *held; /* of one block */
	uint32_t *next;	      /* of each held row: the next of its warp */
	uint32_t first[WARPS], last[WARPS];
};

static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error);

struct gt_ptx_blockorder *gt_ptx_blockorder_open(struct gt_sink *to, uint64_t memory, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = calloc(1, sizeof *order);

	if (!order) {
		gt_fail_memory(error, "a block's accesses");
		return NULL;
	}
	order->to = to;
	order->memory = memory;
	order->in = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, error), take_batch, order};
	order->held = gt_rows_new(GT_ROWS_BATCH, error);
	order->next = malloc(GT_ROWS_BATCH * sizeof *order->next);
	memset(order->first, 0xff, sizeof order->first);
	if (!order->in.rows || !order->held || !order->next) {
		gt_ptx_blockorder_close(order);
		gt_fail_memory(error, "a block's accesses");
		return NULL;
	}
	return order;
}

void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order)
{
	if (!order)
		return;
	gt_rows_free(order->in.rows);
	gt_rows_free(order->held);
	free(order->next);
	free(order);
}

struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order)
{
	return &order->in;
}

/* Passes row i of the block on. */
static int pass_row(struct gt_ptx_blockorder *order, size_t i, struct gt_error *error)
{
	const struct gt_rows *held = order->held;

	if (gt_sink_room(order->to, error) != 0)
		return -1;
	struct gt_rows *to = order->to->rows;
	size_t at = to->n;
	to->block[at] = held->block[i];
	to->warp[at] = held->warp[i];
	to->an[at] = held->an[i];
	to->pc[at] = held->pc[i];
	to->op[at] = held->op[i];
	to->hint[at] = held->hint[i];
	to->size[at] = held->size[i];
	to->mask[at] = held->mask[i];
	to->base[at] = held->base[i];
	to->stride[at] = held->stride[i];
	if (held->stride[i] == GT_STRIDE_LANES) {
		size_t n = (size_t)__builtin_popcount(held->mask[i]);
		if (gt_rows_reserve_lanes(to, n, error) != 0)
			return -1;
		memcpy(to->lanes + to->n_lanes, held->lanes + held->base[i], n * sizeof *to->lanes);
		to->base[at] = to->n_lanes;
		to->n_lanes += n;
	}
	to->n++;
	return 0;
}

/* Passes on the block that is held. The chains of its warps are in the order of their ordinals, so
 * going round the warps takes each row once. */
static int pass_block(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	struct gt_rows *held = order->held;
	uint32_t *next = order->first;

	if (held->n > 0 &&
	    gt_sink_begin_as(order->to, &(struct gt_rows){.kind = GT_ACCESSES, .has_hints = held->has_hints}, error) != 0)
		return -1;
	for (size_t passed = 0; passed < held->n;) {
		uint32_t an = UINT32_MAX;
		for (unsigned warp = 0; warp < WARPS; warp++)
			if (next[warp] != NONE && held->an[next[warp]] < an)
				an = held->an[next[warp]];
		for (unsigned warp = 0; warp < WARPS; warp++) {
			for (; next[warp] != NONE && held->an[next[warp]] == an; passed++) {
				if (pass_row(order, next[warp], error) != 0)
					return -1;
				next[warp] = order->next[next[warp]];
			}
		}
	}
	held->n = held->n_lanes = 0;
	held->has_hints = false;
	return 0;
}

/* Columns of rows [from, from + n) go behind those that `to` holds, which has room. */
static int append(struct gt_rows *to, const struct gt_rows *rows, size_t from, size_t n, struct gt_error *error)
{
	size_t lanes = 0, first_lane = SIZE_MAX;

	for (size_t i = from; i < from + n; i++) {
		if (rows->stride[i] != GT_STRIDE_LANES)
			continue;
		if (first_lane == SIZE_MAX)
			first_lane = (size_t)rows->base[i];
		lanes = (size_t)rows->base[i] + (size_t)__builtin_popcount(rows->mask[i]) - first_lane;
	}
	if (gt_rows_reserve_lanes(to, lanes, error) != 0)
		return -1;
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		unsigned char *array = gt_column_of(to, column);
		const unsigned char *source = gt_column_of(rows, column);
		bool kept = !column->flag || column->offset == offsetof(struct gt_rows, hint);
		if (column->in_access && kept && source)
			memcpy(array + to->n * column->width, source + from * column->width, n * column->width);
	}
	for (size_t i = to->n; i < to->n + n; i++)
		if (to->stride[i] == GT_STRIDE_LANES)
			to->base[i] += to->n_lanes - first_lane;
	if (lanes > 0)
		memcpy(to->lanes + to->n_lanes, rows->lanes + first_lane, lanes * sizeof *to->lanes);
	to->n_lanes += lanes;
	to->has_hints |= rows->has_hints;
	to->n += n;
	return 0;
}

/* Room for n more rows of the block. */
static int make_room(struct gt_ptx_blockorder *order, size_t n, struct gt_error *error)
{
	struct gt_rows *held = order->held;
	size_t capacity = held->capacity;
	uint64_t bytes = (held->n + n) * (uint64_t)64 + held->n_lanes * sizeof *held->lanes;

	if (bytes > order->memory || held->n + n >= NONE)
		return gt_fail(error, "block %" PRIu32 " makes more accesses than %" PRIu64 " bytes of memory can put in order",
			       held->block[0], order->memory);
	if (held->n + n <= capacity)
		return 0;
	while (capacity < held->n + n)
		capacity *= 2;
	struct gt_rows *more = gt_rows_new(capacity, error);
	uint32_t *next = more ? gt_resized(order->next, capacity, sizeof *next) : NULL;
	if (next)
		order->next = next;
	if (!next || append(more, held, 0, held->n, error) != 0) {
		gt_rows_free(more);
		return more && next ? -1 : gt_fail_memory(error, "a block's accesses");
	}
	gt_rows_free(held);
	order->held = more;
	return 0;
}

/* Rows [from, from + n) are of one block: held, each on the chain of its warp. */
static int hold(struct gt_ptx_blockorder *order, const struct gt_rows *rows, size_t from, size_t n, struct gt_error *error)
{
	if (order->held->n > 0 && order->held->block[0] != rows->block[from] && pass_block(order, error) != 0)
		return -1;
	if (make_room(order, n, error) != 0)
		return -1;
	uint32_t at = (uint32_t)order->held->n;
	if (append(order->held, rows, from, n, error) != 0)
		return -1;
	for (size_t i = from; i < from + n; i++, at++) {
		unsigned warp = rows->warp[i] % WARPS;
		order->next[at] = NONE;
		if (order->first[warp] == NONE)
			order->first[warp] = at;
		else
			order->next[order->last[warp]] = at;
		order->last[warp] = at;
	}
	return 0;
}

static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = context;

	for (size_t from = 0, to; from < rows->n; from = to) {
		for (to = from + 1; to < rows->n && rows->block[to] == rows->block[from];)
			to++;
		if (hold(order, rows, from, to - from, error) != 0)
			return -1;
	}
	rows->n = rows->n_lanes = 0;
	rows->has_hints = false;
	return 0;
}

int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	return take_batch(order, order->in.rows, error) != 0 ? -1 : pass_block(order, error);
}
