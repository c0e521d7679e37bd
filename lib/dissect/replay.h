/* SPDX-License-Identifier: MIT */
/* Replays a series through the inferred cache, to find each access that disagrees with it. Slow and simple:
 * lists are searched from the front. */
#ifndef GT_DISSECT_REPLAY_H
#define GT_DISSECT_REPLAY_H

#include "dissect/function.h"

struct gt_victim { /* a deterministic policy */
	const char *name;
	int moves_on_hit; /* a hit makes a line the last to go */
	int counts;	  /* the line used least often goes first (LFU) */
	int predicts;	  /* re-reference intervals (SRRIP) */
};
extern const struct gt_victim gt_victims[];
extern const size_t gt_victims_n;

struct gt_contradiction {
	size_t run, access; /* of the series; access within the run */
	int expected_hit;
};

struct gt_replay {
	uint64_t known, wrong;
	uint64_t runs_wrong; /* runs of which more than 1/20 is */
	struct gt_contradiction first[8];
};

/* Plays all runs up to N = `limit`, of lines that are found as a whole and filled by units. Runs with lines whose set is
 * not known are left out. A run that does not begin empty (`cold` is 0) is played twice before, unjudged. */
int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, int cold, uint64_t limit,
	      const struct gt_victim *victim, struct gt_replay *replay, struct gt_error *error);

#endif
