/* SPDX-License-Identifier: MIT */
/* Lookups that issue together, with --on-full stall. */
#ifndef GT_CACHE_TIMED_GROUP_H
#define GT_CACHE_TIMED_GROUP_H

#include "cache/timed/engine.h"

/* Lookups that wait for the ports of their banks: a queue for each bank, so that a step looks at those only that get one. */

struct gt_queues {
	struct gt_ends {
		uint32_t first, last; /* index + 1 of items; 0: none waits */
	} *ends;		      /* of each bank */
	uint32_t *next;		      /* of each item: index + 1 of the one behind it, or 0 */
	uint32_t *chosen;	      /* indices of the items that get a port in this step, ascending */
	size_t next_capacity, chosen_capacity;
};

void gt_queues_close(struct gt_queues *queues);

/* For a warp in a group: the step at which its last lookup was served, and that at which the latest takes effect. */
struct gt_last {
	uint64_t served, effect;
};

/* What came of the lookups of a step. */
struct gt_group_step {
	size_t served;
	uint64_t fails, conflicts; /* those that wait for an MSHR entry, and for a port */
};

/* Tries one lookup. `last`, if not NULL, gets for each warp when its last lookup was served and takes effect. Returns whether it
 * was served, or -1 with the error. */
int gt_group_attempt(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step,
		     struct gt_last *last, struct gt_group_step *result, struct gt_error *error);

/* Serves the engine's items, from `step` on. `last`, if not NULL, has a place for each warp. Returns 0, or -1. */
int gt_group_run(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_last *last, struct gt_error *error);

/* Serves those that are left after a first step, `start`, with one bank and without a limit of ports. */
int gt_group_continue(struct gt_timed *timed, struct gt_engine *engine, uint64_t start, const struct gt_group_step *first,
		      struct gt_error *error);

#endif
