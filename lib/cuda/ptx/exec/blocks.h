/* SPDX-License-Identifier: MIT */
/* The blocks of a launch. They run one after the other; if one waits for a later block, later blocks run concurrently with
 * it. */
#ifndef GT_PTX_BLOCKS_H
#define GT_PTX_BLOCKS_H

#include "cuda/ptx/exec/warp.h"

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

/* One more than the last block that is executed, if there are no clusters. */
static inline uint64_t gt_ptx_executed_end(const struct gt_ptx_launch *launch)
{
	const uint64_t blocks = gt_ptx_blocks(launch);

	if (!launch->skip_untraced || launch->first_block >= blocks)
		return blocks;
	return launch->traced_blocks < blocks - launch->first_block ? launch->first_block + launch->traced_blocks : blocks;
}

/* Allocates a block of the launch of `like`: shared memory, parameters, warps. NULL on error. */
struct gt_ptx_core *gt_ptx_core_open(const struct gt_ptx_core *like);
void gt_ptx_core_close(struct gt_ptx_core *core);
/* Closes one whose block is done, and keeps its memory for gt_ptx_core_open. */
void gt_ptx_core_keep(struct gt_ptx_core *core);

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
/* Asks for a look soon: a warp polls and repeats no state. What a poll found, a slot of so many bytes, while GT_PTX_NOTES_SPIN is set. */
void gt_ptx_spin_ask(struct gt_ptx_core *core);
void gt_ptx_spin_found(struct gt_ptx_warp *warp, uint32_t line, const void *found, uint32_t bytes, uint32_t mask);

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

/* What the addresses of the shared memory of the block of a rank begin with; and the rank of the block of an address. */
static inline uint64_t gt_ptx_cluster_window(uint32_t rank)
{
	return (rank + 1) * GT_PTX_CLUSTER_STEP;
}

static inline uint32_t gt_ptx_cluster_rank(const struct gt_ptx_core *core, uint64_t address)
{
	return address < GT_PTX_CLUSTER_STEP ? core->rank : (uint32_t)(address >> GT_PTX_CLUSTER_SHIFT) - 1;
}

struct gt_ptx_cluster {
	uint32_t n; /* blocks */
	uint32_t open;
	struct gt_ptx_core *blocks[GT_PTX_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
};

/* Blocks of a cluster of a launch along a dimension, and in all: 1 if it has none. */
static inline uint32_t gt_ptx_cluster_extent(const struct gt_ptx_launch *launch, unsigned k)
{
	return launch->cluster[k] ? launch->cluster[k] : 1;
}

uint32_t gt_ptx_cluster_size(const struct gt_ptx_launch *launch);
/* The number of the block of a rank. */
uint64_t gt_ptx_cluster_block(const struct gt_ptx_launch *launch, uint64_t cluster, uint32_t rank);
/* A block leaves its cluster when it is closed; without blocks the cluster is freed. */
void gt_ptx_cluster_leave(struct gt_ptx_core *core);

/* The block of that rank in the cluster of a block; NULL if there is none, or it has ended. */
struct gt_ptx_core *gt_ptx_cluster_peer(struct gt_ptx_core *core, uint64_t rank);

/* Where bytes of an address of shared::cluster lie; NULL if they are in no block that runs. */
unsigned char *gt_ptx_cluster_place(struct gt_ptx_core *core, uint64_t address, uint64_t bytes);

/* Threads have exited: the others of the cluster may have waited for them. */
void gt_ptx_cluster_left(struct gt_ptx_warp *warp);

/* mapa: op->d becomes op->a in the shared memory of block op->b; op->with.immediate: where the window of shared
 * addresses begins in op->a. getctarank: op->d becomes the rank of op->a. lead:
 * op->d becomes op->a, masked with op->with.immediate, in the shared memory of the even block of its pair. */
extern const struct gt_ptx_barrier_steps {
	gt_ptx_step *wait, *cluster_arrive, *cluster_wait, *map_address[2], *rank_of[2], *lead;
} gt_ptx_barrier_steps;

#endif
