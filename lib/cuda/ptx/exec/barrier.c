/* SPDX-License-Identifier: MIT */
/* bar and barrier: threads wait until all of the block, or as many as were named, arrive. They are
 * counted one by one, where a warp has parted; the lanes that a warp lacks count when all that it
 * has are there. */
#include "cuda/ptx/exec/paths.h"

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

void gt_ptx_wake(struct gt_ptx_warp *warp, unsigned number, const struct gt_ptx_barrier *barrier)
{
	struct gt_ptx_path *path, *below;
	bool woken = false;

	warp->partial[number] = 0;
	warp->partials &= ~(UINT32_C(1) << number);
	for (path = warp->top; path; path = path->below) {
		if (path->state != GT_PTX_PATH_AT_BARRIER || path->waits_at != number)
			continue;
		path->state = GT_PTX_PATH_RUNS;
		path->result[0] = barrier->count;
		path->result[1] = barrier->any;
		path->result[2] = barrier->all;
		woken = true;
	}
	if (!woken)
		return;
	if (warp->path && warp->path->state == GT_PTX_PATH_RUNS)
		warp->path->next = warp->at;
	for (path = warp->top; path && warp->top->below; path = below) {
		if (path->state == GT_PTX_PATH_RUNS)
			gt_ptx_path_merge(warp, path);
		below = path->below;
	}
	if (warp->state == GT_PTX_WAITS) {
		warp->state = GT_PTX_RUNS;
		gt_ptx_path_pick(warp);
	}
}

void gt_ptx_release(struct gt_ptx_core *core, unsigned number)
{
	struct gt_ptx_barrier *barrier = &core->barriers[number];

	if (barrier->threads == 0 || barrier->threads < expected_threads(core, barrier))
		return;
	for (uint32_t w = 0; w < core->n_warps; w++)
		gt_ptx_wake(&core->warps[w], number, barrier);
	barrier->threads = barrier->expected = barrier->count = barrier->any = 0;
	barrier->all = GT_PTX_FULL;
}

/* When all lanes that a warp has are there, so are those that it lacks. */
static void complete_warp(struct gt_ptx_warp *warp, unsigned number)
{
	uint32_t partial = warp->partial[number];

	if (!partial || (warp->live & ~partial))
		return;
	warp->core->barriers[number].threads += GT_WARP_SIZE - (uint32_t)__builtin_popcount(partial);
	warp->partial[number] = 0;
	warp->partials &= ~(UINT32_C(1) << number);
}

void gt_ptx_barrier_left(struct gt_ptx_warp *warp)
{
	for (uint32_t left = warp->partials; left; left &= left - 1) {
		unsigned number = gt_ptx_lowest(left);
		complete_warp(warp, number);
		gt_ptx_release(warp->core, number);
	}
}

/* Notes the arrival of threads at a barrier. */
static void arrive(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned number, uint32_t threads,
		   uint32_t mask)
{
	struct gt_ptx_barrier *barrier = &warp->core->barriers[number];

	barrier->expected = threads;
	if (op->choice == REDUCE) {
		uint32_t holds = gt_ptx_predicate(warp, op->c) & mask;
		barrier->count += (uint32_t)__builtin_popcount(holds);
		barrier->any |= holds ? GT_PTX_FULL : 0;
		barrier->all &= holds == mask ? GT_PTX_FULL : 0;
	}
	if (mask == warp->live) {
		barrier->threads += GT_WARP_SIZE;
		return;
	}
	barrier->threads += (uint32_t)__builtin_popcount(mask);
	warp->partial[number] |= mask;
	warp->partials |= UINT32_C(1) << number;
	complete_warp(warp, number);
}

/* The barrier and the count of threads of the lowest lane, and which lanes name the same; 0 after a
 * fault. */
static uint32_t operands(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint32_t *number,
			 uint32_t *threads)
{
	const uint32_t *numbers = gt_ptx_lanes(warp, op->a), *counts = op->b ? gt_ptx_lanes(warp, op->b) : NULL;
	unsigned lane = gt_ptx_lowest(mask);
	uint32_t same = 0;

	*number = numbers[lane];
	*threads = counts ? counts[lane] : 0;
	if (*number >= GT_PTX_BARRIERS) {
		gt_ptx_fault(warp, op, lane, "barrier %u: from 0 to %d expected", *number,
			     GT_PTX_BARRIERS - 1);
		return 0;
	}
	if (*threads % GT_WARP_SIZE != 0) {
		gt_ptx_fault(warp, op, lane, "barrier %u for %u threads: a multiple of %d expected", *number,
			     *threads, GT_WARP_SIZE);
		return 0;
	}
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned other = gt_ptx_lowest(m);
		same |= (uint32_t)(numbers[other] == *number && (!counts || counts[other] == *threads))
			<< other;
	}
	return same;
}

/* A warp's turn ends at a barrier, unless others of its lanes can go on. */
static const struct gt_ptx_op *end_turn(struct gt_ptx_warp *warp, bool all)
{
	if (warp->path->state != GT_PTX_PATH_RUNS)
		return gt_ptx_path_pick(warp);
	gt_ptx_path_select(warp, warp->path);
	return all ? NULL : warp->at;
}

const struct gt_ptx_op *gt_ptx_path_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
					 unsigned barrier)
{
	struct gt_ptx_path *path = warp->path;

	gt_ptx_path_keep(warp, op + 1);
	if (mask != path->mask && !(path = gt_ptx_path_split(warp, path, mask)))
		return NULL;
	path->state = GT_PTX_PATH_AT_BARRIER;
	path->waits_at = barrier;
	return end_turn(warp, false);
}

const struct gt_ptx_op *gt_ptx_barrier_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	uint32_t numbers = 0;

	gt_ptx_path_keep(warp, op + 1);
	warp->barriers += op->choice != ARRIVE;
	for (uint32_t left = mask, same; left; left &= ~same) {
		uint32_t number, threads;
		struct gt_ptx_path *path = warp->path;
		if (!(same = operands(warp, op, left, &number, &threads)))
			return NULL;
		numbers |= UINT32_C(1) << number;
		arrive(warp, op, number, threads, same);
		if (op->choice == ARRIVE)
			continue;
		if (same != path->mask && !(path = gt_ptx_path_split(warp, path, same)))
			return NULL;
		path->state = GT_PTX_PATH_AT_BARRIER;
		path->waits_at = number;
	}
	for (; numbers; numbers &= numbers - 1)
		gt_ptx_release(warp->core, gt_ptx_lowest(numbers));
	if (op->choice == ARRIVE)
		return gt_ptx_path_select(warp, warp->path);
	return end_turn(warp, mask == warp->mask);
}
