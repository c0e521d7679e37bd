/* SPDX-License-Identifier: MIT */
/* Threads that run the blocks of a launch, in groups of blocks that follow each other. Accesses, errors and counts are those of one
 * thread, if no block reads what another one writes in the launch, and no two write different data to one place. */
#ifndef GT_PTX_LAUNCH_TEAM_H
#define GT_PTX_LAUNCH_TEAM_H

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/machine.h"
#include "stream/recorded.h"

struct gt_ptx_team;

/* `memory`: bytes of accesses that wait in memory for those of earlier blocks; more go into a file. NULL on error. */
struct gt_ptx_team *gt_ptx_team_open(unsigned jobs, uint64_t memory, struct gt_error *error);
void gt_ptx_team_close(struct gt_ptx_team *team);

/* Whether a team may run a launch: it has several blocks, which neither run in clusters nor have instructions that join them
 * (decode/decode.h), accesses that are put in order, and no memory check. */
bool gt_ptx_team_may_run(const struct gt_ptx_program *program, const struct gt_ptx_launch *launch);

/* Executes a launch as gt_ptx_execute does, by launch->team. */
int gt_ptx_team_run(struct gt_ptx_machine *machine, struct gt_ptx_program *program, const struct gt_ptx_launch *launch,
		    struct gt_ptx_ran *ran, struct gt_error *error);

/* Blocks that follow each other in a launch, and all that running them gives: rows, notes, counts, an error. */

#define GT_PTX_GROUP_BLOCKS 32 /* at most */

/* Blocks of each group of a launch but the last one, which may have fewer. Records end with a group, so it does not depend on the
 * number of threads, for each of which there are enough groups. */
uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch);

struct gt_ptx_group {
	uint64_t first, end; /* blocks */
	uint64_t issued[GT_PTX_GROUP_BLOCKS]; /* warp instructions of each */
	struct gt_ptx_ran ran;
	struct gt_ptx_out_of_bounds outside; /* if ran.out_of_bounds */
	int result; /* of the block that failed; its error */
	struct gt_error error;
	struct gt_recorded_rows rows; /* none, if none are traced */
	struct gt_ptx_notes notes;
	char said[GT_PTX_NOTES][GT_PTX_NOTE_TEXT]; /* their texts */
};

#endif
