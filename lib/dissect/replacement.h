/* SPDX-License-Identifier: MIT */
/* Which way is replaced: series are replayed with policies that are deterministic, and the victims of others are counted. */
#ifndef GT_DISSECT_REPLACEMENT_H
#define GT_DISSECT_REPLACEMENT_H

#include "dissect/sets.h"

/* ---- deterministic policies ---- */

#define GT_REPLAYED_MAX 6 /* policies */

struct gt_victim { /* a deterministic policy */
	const char *name;    /* as gcache takes it */
	uint32_t least_ways; /* if no set has so many, it is another of these policies */
	bool steady;	     /* in a ring each element misses in every round, or in none */
};
extern const struct gt_victim gt_victims[GT_REPLAYED_MAX];

struct gt_contradiction {
	size_t run, access; /* of the series; access within the run */
	bool expected_hit;
};

struct gt_replay {
	bool applies; /* the policy is possible with these ways; else the counts are 0 */
	uint64_t known, wrong;
	uint64_t open, open_wrong;   /* accesses at which some policy misses, except where each must */
	uint64_t quiet, quiet_wrong; /* at which all hit, except where each must */
	uint64_t steadily_wrong; /* elements of rings of many rounds, in nearly all of these */
	struct gt_contradiction first[8];
};

/* Replays all runs up to N = `limit` with each policy, with lines as tags and units as sectors. Runs with lines whose set is not
 * known are left out. A run that does not begin with an empty cache (`cold` is false) is first replayed twice as warm-up. */
int gt_replay_run(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, bool cold, uint64_t limit,
		  struct gt_replay replays[GT_REPLAYED_MAX], struct gt_error *error);

/* ---- the ways that are replaced, by chance or else ---- */

#define GT_VICTIM_WAYS_MAX 64
#define GT_WHOLE_MAX 12 /* fractions of weights: 1/2 to 12ths */

struct gt_victims {
	uint32_t ways;
	uint64_t count[GT_VICTIM_WAYS_MAX]; /* how often each way was replaced; ways in the order in which a set fills */
	uint64_t n, again;		    /* all replacements; those of the same way as the previous one in the set */
	uint32_t after[GT_VICTIM_WAYS_MAX][GT_VICTIM_WAYS_MAX]; /* how often a way was replaced after each other in the set */
	bool dependent;			    /* the last way tells something of the next: not by chance */
	uint64_t lost;			    /* contradictory misses, after which a set is not followed further */
	bool alike;			    /* the counts agree with equal and independent probabilities */
	unsigned part[GT_VICTIM_WAYS_MAX], whole; /* or with these fractions part / whole; whole is 0: with none */
	bool unique;			    /* no other such fractions agree */
};

/* Follows the misses of every set with this many ways (up to GT_VICTIM_WAYS_MAX), in all rings that begin with an empty
 * cache and have one line too many for the set, until a latency does not show whether a line missed. */
int gt_find_victims(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, uint32_t ways,
		    struct gt_victims *victims, struct gt_error *error);

#endif
