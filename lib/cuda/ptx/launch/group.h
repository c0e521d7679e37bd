/* SPDX-License-Identifier: MIT */
/* Blocks that follow each other in a launch, and all that running them gives: rows, notes, counts, an error. */
#ifndef GT_PTX_GROUP_H
#define GT_PTX_GROUP_H

#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/stray.h"
#include "cuda/ptx/launch/group_rows.h"

#define GT_PTX_GROUP_BLOCKS 32 /* at most */

/* Blocks of each group of a launch but the last one, which may have fewer. Records end with a group, so it does not depend on the
 * number of threads, for each of which there are enough groups. */
uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch);

struct gt_ptx_group {
	uint64_t first, end; /* blocks */
	uint64_t issued[GT_PTX_GROUP_BLOCKS]; /* warp instructions of each */
	struct gt_ptx_ran ran;
	struct gt_ptx_strays strays; /* if ran.strayed */
	int result; /* of the block that failed; its error */
	struct gt_error error;
	struct gt_ptx_group_rows rows; /* none, if none are traced */
	struct gt_ptx_notes notes;
	char said[GT_PTX_NOTES][GT_PTX_NOTE_TEXT]; /* their texts */
};

/* `memory`: bytes of rows that wait in memory for those of earlier groups. Returns 0, or -1; it is closed in either case. */
int gt_ptx_group_open(struct gt_ptx_group *group, uint64_t memory, struct gt_error *error);
void gt_ptx_group_close(struct gt_ptx_group *group);

/* Passes on its notes and rows. Returns 0, or -1. */
int gt_ptx_group_pass(struct gt_ptx_group *group, struct gt_ptx_notes *notes, struct gt_writer *to, struct gt_error *error);
/* Forgets them. */
void gt_ptx_group_drop(struct gt_ptx_group *group);

#endif
