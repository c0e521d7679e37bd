/* SPDX-License-Identifier: MIT */
#include "ptx/record/blockorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/temporary.h"
#include "ptx/exec/held.h"

#define WARPS 32	 /* of a block at most: 1024 threads */
#define EARLY (1U << 16) /* held accesses above which some are passed on before the block ends */

struct gt_ptx_blockorder {
	struct gt_sink in, *to;
	struct gt_store store;
	struct gt_ptx_held held[WARPS]; /* of each warp of the block, by their ordinals */
	uint64_t next[WARPS];		/* smallest ordinal that may still come */
	uint32_t ended;			/* bit w: warp w makes no more accesses */
	uint32_t block;
	unsigned warps; /* 1 + the highest warp with an access */
	uint64_t n; /* held */
	bool has_hints;
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
	gt_store_open(&order->store, memory, gt_temporary_directory());
	order->in = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, error), take_batch, order};
	if (!order->in.rows) {
		gt_ptx_blockorder_close(order);
		return NULL;
	}
	return order;
}

void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order)
{
	if (!order)
		return;
	gt_rows_free(order->in.rows);
	gt_store_close(&order->store);
	free(order);
}

struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order)
{
	return &order->in;
}

uint32_t *gt_ptx_blockorder_ended(struct gt_ptx_blockorder *order)
{
	return &order->ended;
}

static uint64_t first_of(const struct gt_ptx_blockorder *order, unsigned warp)
{
	const struct gt_ptx_kept *kept = gt_ptx_held_first(&order->held[warp]);

	return kept ? kept->an : UINT64_MAX;
}

/* Passes on held accesses with ordinals below `bound`. The accesses of a warp come in the order of their ordinals, so a loop
 * over the warps takes each access once. */
static int pass_below(struct gt_ptx_blockorder *order, uint64_t bound, struct gt_error *error)
{
	uint64_t first[WARPS];

	if (order->n > 0 &&
	    gt_sink_begin_as(order->to, &(struct gt_rows){.kind = GT_ACCESSES, .has_hints = order->has_hints}, error) != 0)
		return -1;
	for (unsigned warp = 0; warp < order->warps; warp++)
		first[warp] = first_of(order, warp);
	while (order->n > 0) {
		uint64_t an = UINT64_MAX;
		for (unsigned warp = 0; warp < order->warps; warp++)
			an = first[warp] < an ? first[warp] : an;
		if (an >= bound)
			return 0;
		for (unsigned warp = 0; warp < order->warps; warp++)
			for (; first[warp] == an; order->n--) {
				if (gt_ptx_held_pass(&order->held[warp], &order->store, order->block, order->to, error) != 0)
					return -1;
				first[warp] = first_of(order, warp);
			}
	}
	return 0;
}

/* Passes on the held block, which is complete. */
static int pass_block(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	int result = pass_below(order, UINT64_MAX, error);

	memset(order->next, 0, sizeof order->next);
	order->warps = 0;
	order->has_hints = false;
	return result;
}

/* Passes on the accesses that no later one can precede. */
static int pass_early(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	uint64_t bound = UINT64_MAX;

	for (unsigned warp = 0; warp < WARPS; warp++)
		if (!(order->ended >> warp & 1) && order->next[warp] < bound)
			bound = order->next[warp];
	return pass_below(order, bound, error);
}

static int hold(struct gt_ptx_blockorder *order, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	unsigned warp = rows->warp[i] % WARPS;

	if (rows->block[i] != order->block) {
		if (pass_block(order, error) != 0)
			return -1;
		order->block = rows->block[i];
	}
	if (gt_ptx_held_add(&order->held[warp], &order->store, rows, i, error) != 0)
		return -1;
	order->next[warp] = (uint64_t)rows->an[i] + 1;
	order->warps = warp >= order->warps ? warp + 1 : order->warps;
	order->has_hints |= gt_rows_hint(rows, i) != 0;
	order->n++;
	return 0;
}

static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = context;
	int result = 0;

	for (size_t i = 0; result == 0 && i < rows->n; i++)
		result = hold(order, rows, i, error);
	rows->n = rows->n_lanes = 0;
	rows->has_hints = false;
	return result == 0 && order->n >= EARLY ? pass_early(order, error) : result;
}

int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	return take_batch(order, order->in.rows, error) != 0 ? -1 : pass_block(order, error);
}
