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

/* Whether the launch traces a block. */
bool gt_ptx_is_traced(const struct gt_ptx_launch *launch, uint64_t block);
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
void gt_ptx_spin_note(struct gt_ptx_core *core, uint32_t line, uint64_t address, bool global, bool store);
bool gt_ptx_spin_look(struct gt_ptx_core *core);

/* Records in launch->ended which of its warps are done, if its accesses go to the launch's sink. */
void gt_ptx_block_ended(const struct gt_ptx_core *core);

/* Adds the block's counts. */
void gt_ptx_block_count(const struct gt_ptx_core *core, struct gt_ptx_ran *ran);

/* Runs a block that waits, and later ones beside it, until all of them are done. *next is the next
 * block to begin. The core is closed then. Without a core, runs all clusters of the launch from *next on, each of which
 * has its blocks beside each other. Accesses reach the sink block by block all the same. */
int gt_ptx_run_beside(const struct gt_ptx_core *like, struct gt_ptx_core *core, uint64_t *next, uint64_t *left,
		      struct gt_ptx_ran *ran);

#endif
