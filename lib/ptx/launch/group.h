/* SPDX-License-Identifier: MIT */
/* Blocks that follow each other in a launch, run by one thread, with all that this thread writes: a copy of the program, a
 * block's registers and shared memory, accesses, notes, an error. */
#ifndef GT_PTX_GROUP_H
#define GT_PTX_GROUP_H

#include "ptx/decode/program.h"
#include "ptx/exec/blockorder.h"
#include "ptx/launch/group_rows.h"

#define GT_PTX_GROUP_BLOCKS 32 /* at most */

/* Blocks of each group of a launch but the last one, which may have fewer. Records end with a group, so it does not depend on the
 * number of threads, for each of which there are enough groups. */
uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch);

struct gt_ptx_group {
	uint64_t first, end; /* blocks */
	uint64_t issued[GT_PTX_GROUP_BLOCKS]; /* warp instructions of each */
	struct gt_ptx_ran ran;
	int result; /* of the block that failed; its error */
	struct gt_error error;
	struct gt_ptx_group_rows rows;

	struct gt_ptx_launch launch; /* the accesses go to `order`, and from there to `rows` */
	struct gt_ptx_blockorder *order;
	struct gt_ptx_machine machine; /* with the group's notes */
	struct gt_ptx_notes notes;
	char said[GT_PTX_NOTES][GT_PTX_NOTE_TEXT]; /* their texts */
	struct gt_ptx_program *program;
	struct gt_ptx_core *core; /* NULL: none in this launch yet */
};

/* `memory`: bytes of accesses in memory. Returns 0, or -1; it is closed in either case. */
int gt_ptx_group_open(struct gt_ptx_group *group, uint64_t memory, struct gt_error *error);
void gt_ptx_group_close(struct gt_ptx_group *group);

/* Prepares it for a launch; afterwards gt_ptx_group_end. `program`: a copy that no other thread uses. */
void gt_ptx_group_begin(struct gt_ptx_group *group, struct gt_ptx_machine *machine, struct gt_ptx_program *program,
			const struct gt_ptx_launch *launch);
void gt_ptx_group_end(struct gt_ptx_group *group);

/* Runs its blocks up to the first that fails, and sets result, error, ran, issued, rows. */
void gt_ptx_group_run(struct gt_ptx_group *group);

/* Passes on what its blocks noted and accessed. Returns 0, or -1. */
int gt_ptx_group_pass(struct gt_ptx_group *group, struct gt_ptx_notes *notes, struct gt_writer *to, struct gt_error *error);

#endif
