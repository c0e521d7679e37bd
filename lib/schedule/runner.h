/* SPDX-License-Identifier: MIT */
/* The warps of resident blocks, for the order of issue by time: when each may go on to its next access. */
#ifndef GT_SCHEDULE_RUNNER_H
#define GT_SCHEDULE_RUNNER_H

#include "schedule/block.h"

#define GT_NEVER UINT64_MAX /* as a time: not known yet */

/* The warps of one scheduler. Those that became resident last stand last. */
struct crew {
	struct runner **runners;
	uint64_t *ready; /* of each: when it may issue what leads to its next access; GT_NEVER: not known, or none is left */
	size_t n, capacity;
};

struct runner {
	struct source *source; /* its accesses still to be issued; the next is in the window */
	struct block *block;
	struct crew *crew;
	size_t place;	   /* in it */
	uint64_t arrived;  /* when it may go on but for barriers; GT_NEVER: a load that it waits for is queued */
	uint64_t data;	   /* when all loads that L1 has taken have their data */
	uint32_t barriers; /* of its block, that it has passed when it makes its next access */
	uint32_t queued;   /* accesses that L1 has not taken */
	uint32_t instructions; /* before its next access */
	bool held;	   /* by a barrier, for the others of its block */
};

/* Makes runners of a block that has become resident; warp w belongs to crew (first + w) mod n. Returns 0, or -1. */
int gt_runners_admit(struct block *block, struct crew *const *crews, uint32_t n, uint64_t first, struct keep *keep,
		     uint64_t now, struct gt_error *error);

/* What a row says of itself. */
const struct shape *gt_kept_shape(const struct shapes *shapes, const struct kept *row);
uint64_t gt_kept_address(const struct kept *row);

/* It has issued the access that ends at `end`. Returns 0, or -1. */
int gt_runner_issued(struct runner *runner, struct kept *end, struct keep *keep, uint64_t now, struct gt_error *error);
/* L1 has taken an access of it, whose loads have their data at `data`. Returns whether the runner has ended. */
bool gt_runner_served(struct runner *runner, uint64_t data);
/* Takes it out of its crew. */
void gt_runner_leave(struct runner *runner);

void gt_crew_close(struct crew *crew);

#endif
