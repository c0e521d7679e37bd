/* SPDX-License-Identifier: MIT */
/* Threads that measure gathered references: each has stacks of its own, and a histogram. */
#ifndef GT_REUSE_TEAM_H
#define GT_REUSE_TEAM_H

#include "base/error.h"
#include "reuse/histogram.h"
#include "reuse/stack.h"

#define GT_REUSE_TOGETHER 2048 /* references of a stack that are measured together */

struct gt_reuse_team;

/* `jobs` threads, the one that calls among them; distances are counted one by one below the bound. NULL on error. */
struct gt_reuse_team *gt_reuse_team_open(unsigned jobs, uint64_t bound, struct gt_error *error);
/* References that are not measured yet are dropped. */
void gt_reuse_team_close(struct gt_reuse_team *team);

/* Sends n references, at most GT_REUSE_TOGETHER, of the stack with this number to be measured, behind those that it was sent
 * before. *units becomes another array of that room. Until gt_reuse_team_wait the stack stays where it is. */
int gt_reuse_team_measure(struct gt_reuse_team *team, size_t number, struct gt_stack *stack, uint64_t **units, size_t n,
			  struct gt_error *error);
/* Waits until all are measured. Returns 0, or -1 with the error of the first that failed. */
int gt_reuse_team_wait(struct gt_reuse_team *team, struct gt_error *error);
/* Waits, and moves what was counted to a histogram of the same bound. */
int gt_reuse_team_give(struct gt_reuse_team *team, struct gt_histogram *to, struct gt_error *error);

#endif
