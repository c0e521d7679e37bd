/* SPDX-License-Identifier: MIT */
/* bar and barrier: warps wait until all of the block, or as many threads as were named, arrive. */
#include "ptx/exec/warp.h"

/* What op->choice says of a barrier. */
enum { SYNC, ARRIVE, REDUCE };

static uint32_t expected_threads(const struct gt_ptx_core *core, const struct gt_ptx_barrier *barrier)
{
	uint32_t warps = 0;

	if (barrier->expected)
		return barrier->expected;
	for (uint32_t w = 0; w < core->n_warps; w++)
		warps += core->warps[w].state != GT_PTX_DONE;
	return warps * GT_WARP_SIZE;
}

void gt_ptx_release(struct gt_ptx_core *core, unsigned number)
{
	struct gt_ptx_barrier *barrier = &core->barriers[number];

	if (barrier->threads == 0 || barrier->threads < expected_threads(core, barrier))
		return;
	barrier->result[0] = barrier->count;
	barrier->result[1] = barrier->any;
	barrier->result[2] = barrier->all;
	barrier->threads = barrier->expected = barrier->count = barrier->any = 0;
	barrier->all = GT_PTX_FULL;
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (core->warps[w].state == GT_PTX_WAITS && core->warps[w].barrier == number)
			core->warps[w].state = GT_PTX_RUNS;
}

/* The barrier and the count of threads, which all lanes hold alike; -1 after a fault. */
static int operands(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint32_t *number,
		    uint32_t *threads)
{
	unsigned lane = gt_ptx_lowest(mask);

	*number = ((const uint32_t *)gt_ptx_lanes(warp, op->a))[lane];
	*threads = op->b ? ((const uint32_t *)gt_ptx_lanes(warp, op->b))[lane] : 0;
	if (*number >= GT_PTX_BARRIERS) {
		gt_ptx_fault(warp, op, lane, "barrier %u: from 0 to %d expected", *number,
			     GT_PTX_BARRIERS - 1);
		return -1;
	}
	if (*threads % GT_WARP_SIZE != 0) {
		gt_ptx_fault(warp, op, lane, "barrier %u for %u threads: a multiple of %d expected", *number,
			     *threads, GT_WARP_SIZE);
		return -1;
	}
	if (mask != warp->live) {
		gt_ptx_fault(warp, op, lane,
			     "barrier %u is reached by %d threads of a warp, while %d others are elsewhere",
			     *number, __builtin_popcount(mask), __builtin_popcount(warp->live & ~mask));
		return -1;
	}
	return 0;
}

const struct gt_ptx_op *gt_ptx_barrier(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	uint32_t number, threads;

	if (operands(warp, op, mask, &number, &threads) != 0)
		return NULL;
	struct gt_ptx_barrier *barrier = &warp->core->barriers[number];
	barrier->expected = threads;
	if (op->choice == REDUCE) {
		uint32_t holds = gt_ptx_predicate(warp, op->c) & mask;
		barrier->count += (uint32_t)__builtin_popcount(holds);
		barrier->any |= holds ? GT_PTX_FULL : 0;
		barrier->all &= holds == mask ? GT_PTX_FULL : 0;
	}
	barrier->threads += GT_WARP_SIZE;
	if (op->choice != ARRIVE) {
		warp->state = GT_PTX_WAITS;
		warp->barrier = number;
		warp->at = op + 1;
	}
	gt_ptx_release(warp->core, number);
	return op->choice == ARRIVE ? op + 1 : NULL;
}

const struct gt_ptx_op *gt_ptx_barrier_result(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					      uint32_t mask)
{
	uint32_t number = ((const uint32_t *)gt_ptx_lanes(warp, op->a))[gt_ptx_lowest(mask)];
	const uint32_t *result = warp->core->barriers[number].result;

	if (op->choice > 0) {
		gt_ptx_set_predicate(warp, op->d, mask, result[op->choice]);
		return op + 1;
	}
	uint32_t *lanes = gt_ptx_lanes(warp, op->d);
	for (uint32_t m = mask; m; m &= m - 1)
		lanes[gt_ptx_lowest(m)] = result[0];
	return op + 1;
}
