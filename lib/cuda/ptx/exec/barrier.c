/* SPDX-License-Identifier: MIT */
/* Barriers of a block and of a cluster, and how the blocks of a cluster reach each other's shared memory. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/paths.h"

/* ---- barriers of a block ---- */

/* bar and barrier: threads wait until all of the block, or as many as were named, arrive. They are
 * counted one by one, where a warp has parted; the lanes that a warp lacks count when all that it
 * has are there. */

/* What op->choice says of a barrier. */
enum { SYNC, ARRIVE, REDUCE };

static uint32_t expected_threads(const struct gt_ptx_core *core, const struct gt_ptx_barrier *barrier)
{
	return barrier->expected ? barrier->expected : core->running * GT_WARP_SIZE;
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

static bool is_uniform(const uint32_t *lanes)
{
	return memcmp(lanes, lanes + 1, (GT_WARP_SIZE - 1) * sizeof *lanes) == 0;
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
	if (is_uniform(numbers) && (!counts || is_uniform(counts)))
		return mask;
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

static const struct gt_ptx_op *barrier_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
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

/* ---- clusters ---- */

uint32_t gt_ptx_cluster_size(const struct gt_ptx_launch *launch)
{
	return gt_ptx_cluster_extent(launch, 0) * gt_ptx_cluster_extent(launch, 1) * gt_ptx_cluster_extent(launch, 2);
}

uint64_t gt_ptx_cluster_block(const struct gt_ptx_launch *launch, uint64_t cluster, uint32_t rank)
{
	uint64_t at[3];

	for (unsigned k = 0; k < 3; k++) {
		const uint32_t clusters = launch->grid[k] / gt_ptx_cluster_extent(launch, k);
		at[k] = cluster % clusters * gt_ptx_cluster_extent(launch, k) + rank % gt_ptx_cluster_extent(launch, k);
		cluster /= clusters;
		rank /= gt_ptx_cluster_extent(launch, k);
	}
	return (at[2] * launch->grid[1] + at[1]) * launch->grid[0] + at[0];
}

void gt_ptx_cluster_leave(struct gt_ptx_core *core)
{
	struct gt_ptx_cluster *cluster = core->cluster;

	if (!cluster)
		return;
	cluster->blocks[core->rank] = NULL;
	core->cluster = NULL;
	if (--cluster->open == 0)
		free(cluster);
}

struct gt_ptx_core *gt_ptx_cluster_peer(struct gt_ptx_core *core, uint64_t rank)
{
	if (!core->cluster)
		return rank == 0 ? core : NULL;
	return rank < core->cluster->n ? core->cluster->blocks[rank] : NULL;
}

unsigned char *gt_ptx_cluster_place(struct gt_ptx_core *core, uint64_t address, uint64_t bytes)
{
	const uint64_t window = address >> GT_PTX_CLUSTER_SHIFT, at = address & (GT_PTX_CLUSTER_STEP - 1);
	const struct gt_ptx_core *peer = window == 0 ? core : gt_ptx_cluster_peer(core, window - 1);

	return peer && at <= peer->shared_bytes && bytes <= peer->shared_bytes - at ? peer->shared + at : NULL;
}

/* ---- addresses ---- */

#define MAPS(BITS)                                                                                               \
	static const struct gt_ptx_op *map_address##BITS(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask) \
	{                                                                                                        \
		const uint##BITS##_t *from = gt_ptx_lanes(warp, op->a), base = (uint##BITS##_t)op->with.immediate; \
		uint##BITS##_t *to = gt_ptx_lanes(warp, op->d);                                                  \
		const uint32_t *ranks = gt_ptx_lanes(warp, op->b), n = gt_ptx_cluster_size(warp->core->launch);  \
                                                                                                                 \
		for (uint32_t m = mask; m; m &= m - 1) {                                                         \
			const unsigned lane = gt_ptx_lowest(m);                                                  \
			const uint64_t at = (uint64_t)from[lane] - base;                                         \
			if (ranks[lane] >= n)                                                                    \
				return gt_ptx_fault(warp, op, lane, "mapa to block %u of a cluster of %u", ranks[lane], n); \
			if (at >= (GT_PTX_CLUSTER_BLOCKS + 1) * GT_PTX_CLUSTER_STEP)                             \
				return gt_ptx_fault(warp, op, lane, "0x%llx is no address of shared memory",     \
						    (unsigned long long)from[lane]);                             \
			to[lane] = (uint##BITS##_t)(base + gt_ptx_cluster_window(ranks[lane]) + at % GT_PTX_CLUSTER_STEP); \
		}                                                                                                \
		return op + 1;                                                                                   \
	}                                                                                                        \
	static const struct gt_ptx_op *rank_of##BITS(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask) \
	{                                                                                                        \
		const uint##BITS##_t *from = gt_ptx_lanes(warp, op->a), base = (uint##BITS##_t)op->with.immediate; \
		uint32_t *to = gt_ptx_lanes(warp, op->d);                                                        \
                                                                                                                 \
		for (uint32_t m = mask; m; m &= m - 1) {                                                         \
			const unsigned lane = gt_ptx_lowest(m);                                                  \
			to[lane] = gt_ptx_cluster_rank(warp->core, (uint64_t)from[lane] - base);                 \
		}                                                                                                \
		return op + 1;                                                                                   \
	}
MAPS(32)
MAPS(64)

/* Bit 24 of an address of shared memory is that of a block's place in its pair, so programs clear it for the even block's. Here the
 * window of a block has 1 + its rank, or 0 for its own. */
static const struct gt_ptx_op *lead_address(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t *from = gt_ptx_lanes(warp, op->a);
	uint32_t *to = gt_ptx_lanes(warp, op->d);

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint32_t at = from[lane] & (uint32_t)op->with.immediate, rank = gt_ptx_cluster_rank(warp->core, from[lane]);
		const bool own = from[lane] < GT_PTX_CLUSTER_STEP && rank % 2 == 0, shared = rank < GT_PTX_CLUSTER_BLOCKS;
		to[lane] = own || !shared ? at : (uint32_t)(gt_ptx_cluster_window(rank / 2 * 2) + at % GT_PTX_CLUSTER_STEP);
	}
	return op + 1;
}

/* ---- the barrier ---- */

/* True if all threads of a block that have not exited have arrived. */
static bool has_arrived(const struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (core->warps[w].live & ~core->warps[w].cluster_arrived)
			return false;
	return true;
}

static void wake_block(struct gt_ptx_core *core)
{
	const struct gt_ptx_barrier nothing = {0};

	for (uint32_t w = 0; w < core->n_warps; w++) {
		core->warps[w].cluster_arrived = 0;
		gt_ptx_wake(&core->warps[w], GT_PTX_CLUSTER_BARRIER, &nothing);
	}
}

/* Ends the phase if all threads of the cluster have arrived. */
static void settle_cluster(struct gt_ptx_core *core)
{
	const uint32_t n = gt_ptx_cluster_size(core->launch);

	for (uint32_t rank = 0; rank < n; rank++) {
		const struct gt_ptx_core *peer = gt_ptx_cluster_peer(core, rank);
		if (peer && !has_arrived(peer))
			return;
	}
	for (uint32_t rank = 0; rank < n; rank++) {
		struct gt_ptx_core *peer = gt_ptx_cluster_peer(core, rank);
		if (peer)
			wake_block(peer);
	}
}

void gt_ptx_cluster_left(struct gt_ptx_warp *warp)
{
	warp->cluster_arrived &= warp->live;
	if ((warp->core->cluster || warp->core->arrives) && !(warp->live & ~warp->cluster_arrived))
		settle_cluster(warp->core);
}

static const struct gt_ptx_op *cluster_arrive(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (warp->cluster_owes & mask)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(warp->cluster_owes & mask),
				    "barrier.cluster.arrive twice without barrier.cluster.wait between");
	warp->core->arrives = true;
	warp->cluster_owes |= mask;
	warp->cluster_arrived |= mask;
	if (warp->live & ~warp->cluster_arrived)
		return op + 1;
	gt_ptx_path_keep(warp, op + 1);
	settle_cluster(warp->core);
	return gt_ptx_path_select(warp, warp->path);
}

static const struct gt_ptx_op *cluster_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t waits = mask & warp->cluster_arrived;

	if (mask & ~warp->cluster_owes)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(mask & ~warp->cluster_owes),
				    "barrier.cluster.wait without barrier.cluster.arrive before");
	warp->cluster_owes &= ~mask;
	return waits ? gt_ptx_path_wait(warp, op, waits, GT_PTX_CLUSTER_BARRIER) : op + 1;
}

const struct gt_ptx_barrier_steps gt_ptx_barrier_steps = {
	.wait = barrier_wait,
	.cluster_arrive = cluster_arrive,
	.cluster_wait = cluster_wait,
	.map_address = {map_address32, map_address64},
	.rank_of = {rank_of32, rank_of64},
	.lead = lead_address,
};
