/* SPDX-License-Identifier: MIT */
/* A reuse profile: the histogram of all references and, with a split, one for each class. */
#ifndef GT_REUSE_PROFILE_H
#define GT_REUSE_PROFILE_H

#include "base/error.h"
#include "reuse/classes.h"
#include "reuse/histogram.h"

struct gt_profile {
	struct gt_histogram all;
	struct gt_reuse_classes classes; /* of each: a struct gt_histogram */
	uint64_t refused; /* references that found no MSHR, which are counted only here */
	uint64_t lines; /* if lines are sampled: distinct lines of the fullest stack that was flushed */
};

/* A profile of distances counted one by one below the bound (reuse/histogram.h). */
int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, const struct gt_launch *launch,
		    uint64_t bound, struct gt_error *error);
void gt_profile_close(struct gt_profile *profile);
/* Sets all counts to 0. */
void gt_profile_clear(struct gt_profile *profile);

/* Counts the distance of a reference, which represents `weight` of them. Returns 0, or -1 when memory is short. */
int gt_profile_add(struct gt_profile *profile, const struct gt_referrer *referrer, uint64_t distance,
		   uint64_t weight, struct gt_error *error);
/* Counts a reference that was not sampled. */
int gt_profile_pass(struct gt_profile *profile, const struct gt_referrer *referrer, struct gt_error *error);
/* Makes the counts of every histogram add up to its references (gt_histogram_settle), and sorts the classes by key.
 * Nothing may be added until the next clear. */
int gt_profile_finish(struct gt_profile *profile, struct gt_error *error);

#endif
