/* SPDX-License-Identifier: MIT */
/* Threads that run the blocks of a launch, in groups of blocks that follow each other. Accesses, errors and counts are those of one
 * thread, if no block reads what another one writes in the launch, and no two write different data to one place. */
#ifndef GT_PTX_TEAM_H
#define GT_PTX_TEAM_H

#include "cuda/ptx/decode/program.h"

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

#endif
