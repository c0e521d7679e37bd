/* SPDX-License-Identifier: MIT */
/* The blocks of a launch. They run one after the other; if one waits for a later block, later blocks run concurrently with
 * it. */
#ifndef GT_PTX_BLOCKS_H
#define GT_PTX_BLOCKS_H

#include "cuda/ptx/exec/warp.h"

/* Warp instructions without a change that a wait could end with, after which a launch is taken to hang. */
#define GT_PTX_PATIENCE (UINT64_C(1) << 22)

/* Blocks of a launch, and where one of them is in the grid. */
static inline uint64_t gt_ptx_blocks(const struct gt_ptx_launch *launch)
{
	return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static inline void gt_ptx_block_place(const struct gt_ptx_launch *launch, uint64_t block, uint32_t ctaid[3])
{
	ctaid[0] = (uint32_t)(block % launch->grid[0]);
	ctaid[1] = (uint32_t)(block / launch->grid[0] % launch->grid[1]);
	ctaid[2] = (uint32_t)(block / launch->grid[0] / launch->grid[1]);
}

/* Allocates a block of the launch of `like`: shared memory, parameters, warps. NULL on error. */
struct gt_ptx_core *gt_ptx_core_open(const struct gt_ptx_core *like);
void gt_ptx_core_close(struct gt_ptx_core *core);

/* Whether it executes a cluster, or a block where there are no clusters. */
bool gt_ptx_is_executed(const struct gt_ptx_launch *launch, uint64_t cluster);
/* Begins a block: all its warps at the kernel's start. */
int gt_ptx_block_begin(struct gt_ptx_core *core, uint64_t block);
/* Runs one turn of each of its warps. */
int gt_ptx_block_round(struct gt_ptx_core *core, uint64_t *left);
/* Fails: every warp that is left waits, and nothing will release them. */
int gt_ptx_block_deadlock(struct gt_ptx_core *core);
/* Fails: the launch issues more than launch->max_instructions, the one beyond in that block. */
int gt_ptx_fail_unending(const struct gt_ptx_launch *launch, const uint32_t block[3], struct gt_error *error);
/* True if each of its warps waits for others, or repeats its state. */
bool gt_ptx_block_waits(const struct gt_ptx_core *core);

/* Begins to watch whether a block spins; notes an access of it while GT_PTX_NOTES_SPIN is set; begins the next
 * phase, and returns true if one has ended in which the block spun. */
void gt_ptx_spin_begin(struct gt_ptx_core *core);
bool gt_ptx_spin_look(struct gt_ptx_core *core);

/* Records in launch->ended which of its warps are done, if its accesses go to the launch's sink. */
void gt_ptx_block_ended(const struct gt_ptx_core *core);

/* Adds the block's counts. */
void gt_ptx_block_count(const struct gt_ptx_core *core, struct gt_ptx_ran *ran);

/* ---- clusters ---- */

/* Clusters of blocks, which are resident together and access each other's shared memory.
 *
 * PTX leaves open what an address of shared::cluster is. Here bits 24 and up are 0 for the shared memory of the block
 * itself, else 1 + the rank of the block whose shared memory it is. */

#define GT_PTX_CLUSTER_BLOCKS 16 /* at most: the largest cluster that is not portable */
#define GT_PTX_CLUSTER_SHIFT  24
#define GT_PTX_CLUSTER_STEP   (UINT64_C(1) << GT_PTX_CLUSTER_SHIFT)

struct gt_ptx_cluster {
	uint32_t n; /* blocks */
	uint32_t open;
	struct gt_ptx_core *blocks[GT_PTX_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
};

/* Blocks of a launch's clusters, 1 if it has none; how many clusters there are; the number of the block of a rank. */
uint32_t gt_ptx_cluster_size(const struct gt_ptx_launch *launch);
uint64_t gt_ptx_clusters(const struct gt_ptx_launch *launch);
uint64_t gt_ptx_cluster_block(const struct gt_ptx_launch *launch, uint64_t cluster, uint32_t rank);
/* The number of the cluster that a block belongs to. */
uint64_t gt_ptx_cluster_of(const struct gt_ptx_launch *launch, uint64_t block);

/* A block joins a cluster, or leaves it when it is closed; without blocks the cluster is freed. */
void gt_ptx_cluster_join(struct gt_ptx_cluster *cluster, struct gt_ptx_core *core, uint32_t rank);
void gt_ptx_cluster_leave(struct gt_ptx_core *core);

/* The block of that rank in the cluster of a block; NULL if there is none, or it has ended. */
struct gt_ptx_core *gt_ptx_cluster_peer(struct gt_ptx_core *core, uint64_t rank);

/* Where bytes of an address of shared::cluster lie; NULL if they are in no block that runs. */
unsigned char *gt_ptx_cluster_place(struct gt_ptx_core *core, uint64_t address, uint64_t bytes);

/* Threads have exited: the others of the cluster may have waited for them. */
void gt_ptx_cluster_left(struct gt_ptx_warp *warp);

/* mapa: op->d becomes op->a in the shared memory of block op->b; op->with.immediate: where the window of shared
 * addresses begins in op->a. getctarank: op->d becomes the rank of op->a. */
gt_ptx_step gt_ptx_map_address32, gt_ptx_map_address64, gt_ptx_rank_of32, gt_ptx_rank_of64;
/* barrier.cluster.arrive, and .wait. */
gt_ptx_step gt_ptx_cluster_arrive, gt_ptx_cluster_wait;

/* ---- barriers in shared memory ---- */

/* Barriers that are objects in shared memory: mbarrier.
 *
 * PTX leaves the 64 bits of an mbarrier opaque. Here they are, from the lowest: pending arrivals and expected arrivals,
 * 20 bits each; bytes that are still to come, plus 2^20, 21 bits; the number of the phase, modulo 8. The state that an
 * arrival returns is these bits. */

/* What is done with an mbarrier: `choice` of the micro-op. */
enum gt_ptx_mbarrier_action {
	GT_PTX_MBARRIER_INIT,
	GT_PTX_MBARRIER_INVALIDATE,
	GT_PTX_MBARRIER_ARRIVE,
	GT_PTX_MBARRIER_DROP, /* arrives, and is not expected any more */
	GT_PTX_MBARRIER_EXPECT,
	GT_PTX_MBARRIER_ARRIVE_EXPECTING, /* expects bytes, then arrives once */
	GT_PTX_MBARRIER_COMPLETE,
	GT_PTX_MBARRIER_LOOK, /* arrives for copies that are done, and is expected once more */
	GT_PTX_MBARRIER_TEST,
	GT_PTX_MBARRIER_TEST_PARITY,
};

/* op->with.access: where the mbarriers of the lanes are; op->a: the count, bytes, state or parity, 0: the count is 1;
 * op->d: the state, or the predicate, 0: none. */
gt_ptx_step gt_ptx_mbarrier;

#endif
