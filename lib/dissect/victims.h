/* SPDX-License-Identifier: MIT */
/* [001] 3.2, step (4): which way goes, where the policy is no LRU. In a set with one line too many one line is always
 * out; when it is missed it takes the place of the line that is missed next. */
#ifndef GT_DISSECT_VICTIMS_H
#define GT_DISSECT_VICTIMS_H

#include "dissect/sweep.h"

#define GT_VICTIM_WAYS_MAX 64

struct gt_victims {
	uint32_t ways;
	uint64_t count[GT_VICTIM_WAYS_MAX]; /* how often each way went; ways in the order in which a set fills */
	uint64_t n, again;		    /* all; those of the same way as the one before in the set */
	uint64_t lost;			    /* misses that do not fit in */
	int alike;			    /* the counts agree with equal chances, and with no memory */
	unsigned part[GT_VICTIM_WAYS_MAX], whole; /* or with these fractions; whole 0: with none of 12th or more */
};

/* Follows the misses of every set in the run in which it overflows. For sweeps that begin cold, whose sets hold the
 * same number of lines, up to GT_VICTIM_WAYS_MAX; ways 0 otherwise. */
int gt_find_victims(const struct gt_series *series, const struct gt_sweep *sweep, uint64_t line, struct gt_victims *victims,
		    struct gt_error *error);

#endif
