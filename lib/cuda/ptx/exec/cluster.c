/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/cluster.h"

#include <stdlib.h>

#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/paths.h"

static uint32_t extent(const struct gt_ptx_launch *launch, unsigned k)
{
	return launch->cluster[k] ? launch->cluster[k] : 1;
}

uint32_t gt_ptx_cluster_size(const struct gt_ptx_launch *launch)
{
	return extent(launch, 0) * extent(launch, 1) * extent(launch, 2);
}

uint64_t gt_ptx_clusters(const struct gt_ptx_launch *launch)
{
	return gt_ptx_blocks(launch) / gt_ptx_cluster_size(launch);
}

uint64_t gt_ptx_cluster_block(const struct gt_ptx_launch *launch, uint64_t cluster, uint32_t rank)
{
	uint64_t at[3];

	for (unsigned k = 0; k < 3; k++) {
		const uint32_t clusters = launch->grid[k] / extent(launch, k);
		at[k] = cluster % clusters * extent(launch, k) + rank % extent(launch, k);
		cluster /= clusters;
		rank /= extent(launch, k);
	}
	return (at[2] * launch->grid[1] + at[1]) * launch->grid[0] + at[0];
}

uint64_t gt_ptx_cluster_of(const struct gt_ptx_launch *launch, uint64_t block)
{
	uint64_t cluster = 0, step = 1;

	for (unsigned k = 0; k < 3; k++) {
		cluster += block % launch->grid[k] / extent(launch, k) * step;
		block /= launch->grid[k];
		step *= launch->grid[k] / extent(launch, k);
	}
	return cluster;
}

void gt_ptx_cluster_join(struct gt_ptx_cluster *cluster, struct gt_ptx_core *core, uint32_t rank)
{
	core->cluster = cluster;
	core->rank = rank;
	cluster->blocks[rank] = core;
	cluster->open++;
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
	const struct gt_ptx_op *gt_ptx_map_address##BITS(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask) \
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
			to[lane] = (uint##BITS##_t)(base + (uint64_t)(ranks[lane] + 1) * GT_PTX_CLUSTER_STEP +   \
						    at % GT_PTX_CLUSTER_STEP);                                   \
		}                                                                                                \
		return op + 1;                                                                                   \
	}                                                                                                        \
	const struct gt_ptx_op *gt_ptx_rank_of##BITS(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask) \
	{                                                                                                        \
		const uint##BITS##_t *from = gt_ptx_lanes(warp, op->a), base = (uint##BITS##_t)op->with.immediate; \
		uint32_t *to = gt_ptx_lanes(warp, op->d);                                                        \
                                                                                                                 \
		for (uint32_t m = mask; m; m &= m - 1) {                                                         \
			const unsigned lane = gt_ptx_lowest(m);                                                  \
			const uint64_t window = ((uint64_t)from[lane] - base) >> GT_PTX_CLUSTER_SHIFT;           \
			to[lane] = window == 0 ? warp->core->rank : (uint32_t)(window - 1);                      \
		}                                                                                                \
		return op + 1;                                                                                   \
	}
MAPS(32)
MAPS(64)

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
static void settle(struct gt_ptx_core *core)
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
		settle(warp->core);
}

const struct gt_ptx_op *gt_ptx_cluster_arrive(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
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
	settle(warp->core);
	return gt_ptx_path_select(warp, warp->path);
}

const struct gt_ptx_op *gt_ptx_cluster_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t waits = mask & warp->cluster_arrived;

	if (mask & ~warp->cluster_owes)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(mask & ~warp->cluster_owes),
				    "barrier.cluster.wait without barrier.cluster.arrive before");
	warp->cluster_owes &= ~mask;
	return waits ? gt_ptx_path_wait(warp, op, waits, GT_PTX_CLUSTER_BARRIER) : op + 1;
}
