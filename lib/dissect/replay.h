/* SPDX-License-Identifier: MIT */
/* Replays a series through the inferred cache, to find each access that disagrees with it. Slow and simple:
 * lists are searched from the front. */
#ifndef GT_DISSECT_REPLAY_H
#define GT_DISSECT_REPLAY_H

#include "dissect/function.h"

struct gt_victim { /* a deterministic policy */
	const char *name;
	int moves_on_hit; /* a hit makes a line the last to be evicted */
	int counts;	  /* the line used least often is evicted first (LFU) */
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
	uint64_t runs_wrong; /* runs with more than 1/20 of their accesses wrong */
	struct gt_contradiction first[8];
};

/* Replays all runs up to N = `limit`, with lines as tags and units as sectors. Runs with lines whose set is not known
 * are left out. A run that does not begin with an empty cache (`cold` is 0) is first replayed twice as warm-up. */
int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, int cold, uint64_t limit,
	      const struct gt_victim *victim, struct gt_replay *replay, struct gt_error *error);

#endif
