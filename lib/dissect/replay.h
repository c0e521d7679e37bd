/* SPDX-License-Identifier: MIT */
/* Replays a series through the inferred cache, to find each access that disagrees with it. Slow and simple:
 * lists are searched from the front. */
#ifndef GT_DISSECT_REPLAY_H
#define GT_DISSECT_REPLAY_H

#include "dissect/function.h"

#define GT_REPLAYED_MAX 6 /* policies */

enum gt_victim_rule { GT_OLDEST_USE, GT_OLDEST_FILL, GT_FEWEST_USES, GT_FEWEST_USES_WAY, GT_INTERVALS, GT_TREE };

struct gt_victim { /* a deterministic policy */
	const char *name;
	enum gt_victim_rule rule;
	int steady; /* in a ring each element misses in every round, or in none */
};
extern const struct gt_victim gt_victims[GT_REPLAYED_MAX];

struct gt_contradiction {
	size_t run, access; /* of the series; access within the run */
	int expected_hit;
};

struct gt_replay {
	int applies; /* the policy is possible with these ways; else the counts are 0 */
	uint64_t known, wrong;
	uint64_t open, open_wrong;   /* accesses at which some policy misses, except where each must */
	uint64_t quiet, quiet_wrong; /* at which all hit, except where each must */
	struct gt_contradiction first[8];
};

/* Replays all runs up to N = `limit` with each policy, with lines as tags and units as sectors. Runs with lines whose set is not
 * known are left out. A run that does not begin with an empty cache (`cold` is 0) is first replayed twice as warm-up. */
int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, int cold, uint64_t limit,
		  struct gt_replay replays[GT_REPLAYED_MAX], struct gt_error *error);

#endif
