/* SPDX-License-Identifier: MIT */
/* Which deterministic policies a series allows, and which it excludes. */
#ifndef GT_DISSECT_POLICY_H
#define GT_DISSECT_POLICY_H

#include "dissect/replay.h"

struct gt_noise { /* of accesses whose outcome is the same in every cache */
	uint64_t forced, wrong;
	int outliers; /* the series has latencies of no class */
};

/* Counts the accesses that repeat a unit, and those that begin a unit in an empty cache. */
void gt_noise_measure(const struct gt_chase_series *series, uint64_t unit, int cold, struct gt_noise *noise);

/* Whether noise alone explains so many contradictions. */
int gt_noise_explains(const struct gt_noise *noise, const struct gt_replay *replay);
/* Whether it is out of the question that it does. */
int gt_noise_refutes(const struct gt_noise *noise, const struct gt_replay *replay);

enum gt_unsteady_kind { GT_STEADY, GT_IN_SOME_PASSES, GT_AMONG_MORE, GT_KEPT };
struct gt_unsteady { /* what no LRU and no FIFO does, whichever lines share a set */
	enum gt_unsteady_kind kind;
	uint64_t bytes; /* N of the first such run */
	uint64_t times;
};

/* Looks for accesses of a ring that hit in some passes and miss in others, and for lines that hit among more lines than
 * those among which they miss. -1: out of memory. */
int gt_find_unsteady(const struct gt_chase_series *series, uint64_t unit, int cold, const struct gt_noise *noise,
		     struct gt_unsteady *unsteady, struct gt_error *error);

/* Looks for a first line that hits at the begin of retouch's rounds, although since its last use lines of GT_PASSED times the
 * cache's size have passed: its set, if it is like the others, has then had that many times as many lines as ways. */
#define GT_PASSED 6
void gt_find_kept(const struct gt_chase_series *series, uint64_t size, int cold, struct gt_unsteady *unsteady);

#endif
