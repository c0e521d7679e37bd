/* SPDX-License-Identifier: MIT */
/* What a thread runs blocks with: a copy of the program, a block's registers and shared memory, the order of its accesses. One group
 * of blocks is run with it at a time. */
#ifndef GT_PTX_WORKER_H
#define GT_PTX_WORKER_H

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/launch/group.h"

struct gt_ptx_worker {
	struct gt_ptx_blockorder *order;
	/* Of a launch: */
	struct gt_ptx_launch launch; /* the accesses go to `order`, and from there to the group */
	struct gt_ptx_machine machine; /* with the group's notes */
	struct gt_ptx_program *program;
	struct gt_ptx_core *core; /* NULL: no block has been run */
	struct gt_ptx_ran ran;	  /* of the group */
	struct gt_error error;
};

/* `memory`: bytes of accesses that wait in memory for others of their block. Returns 0, or -1; it is closed in either case. */
int gt_ptx_worker_open(struct gt_ptx_worker *worker, uint64_t memory, struct gt_error *error);
void gt_ptx_worker_close(struct gt_ptx_worker *worker);

/* Prepares it for a launch; afterwards gt_ptx_worker_end. `program`: a copy that no other thread uses. */
void gt_ptx_worker_begin(struct gt_ptx_worker *worker, const struct gt_ptx_machine *machine, struct gt_ptx_program *program,
			 const struct gt_ptx_launch *launch);
void gt_ptx_worker_end(struct gt_ptx_worker *worker);

/* Runs the blocks of a group up to the first that fails, and sets all that it holds of them. */
void gt_ptx_worker_run(struct gt_ptx_worker *worker, struct gt_ptx_group *group);

#endif
