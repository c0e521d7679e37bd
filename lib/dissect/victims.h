/* SPDX-License-Identifier: MIT */
/* [001] 3.2, step (4): which way is replaced, if the policy is not LRU. In a set with one line too many, one
 * line is always absent; when it misses, it replaces the line that misses next. */
#ifndef GT_DISSECT_VICTIMS_H
#define GT_DISSECT_VICTIMS_H

#include "dissect/function.h"

#define GT_VICTIM_WAYS_MAX 64
#define GT_WHOLE_MAX 12 /* fractions of weights: 1/2 to 12ths */

struct gt_victims {
	uint32_t ways;
	uint64_t count[GT_VICTIM_WAYS_MAX]; /* how often each way was replaced; ways in the order in which a set fills */
	uint64_t n, again;		    /* all replacements; those of the same way as the previous one in the set */
	uint32_t after[GT_VICTIM_WAYS_MAX][GT_VICTIM_WAYS_MAX]; /* how often a way was replaced after each other in the set */
	int dependent;			    /* the last way tells something of the next: not by chance */
	uint64_t lost;			    /* contradictory misses, after which a set is not followed further */
	int alike;			    /* the counts agree with equal and independent probabilities */
	unsigned part[GT_VICTIM_WAYS_MAX], whole; /* or with these fractions part / whole; whole is 0: with none */
	int unique;			    /* no other such fractions agree */
};

/* Follows the misses of every set with this many ways (up to GT_VICTIM_WAYS_MAX), in all rings that begin with an empty
 * cache and have one line too many for the set, until a latency does not show whether a line missed. */
int gt_find_victims(const struct gt_chase_series *series, const struct gt_function *function, uint64_t unit, uint32_t ways,
		    struct gt_victims *victims, struct gt_error *error);

#endif
