/* SPDX-License-Identifier: MIT */
/* A reuse profile: the histogram of all references and, if asked for, one for each of their
 * classes: the same instruction, the same op. */
#ifndef GT_REUSE_PROFILE_H
#define GT_REUSE_PROFILE_H

#include "base/error.h"
#include "reuse/classes.h"
#include "reuse/histogram.h"

struct gt_profile {
	struct gt_histogram all;
	struct gt_reuse_classes classes; /* of each: a struct gt_histogram */
	uint64_t refused; /* references that found no MSHR, and are not counted else */
	uint64_t lines; /* distinct ones of the fullest stack that was flushed, where lines are sampled */
};

/* A profile of distances counted one by one below the bound (reuse/histogram.h). */
int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, const struct gt_launch *launch,
		    uint64_t bound, struct gt_error *error);
void gt_profile_close(struct gt_profile *profile);
/* Forgets what was counted. */
void gt_profile_clear(struct gt_profile *profile);

/* Counts a distance of a reference `weight` times: it stands for that many. Returns 0, or -1 when
 * memory is short. */
int gt_profile_add(struct gt_profile *profile, const struct gt_referrer *referrer, uint64_t distance,
		   uint64_t weight, struct gt_error *error);
/* A reference that was not measured, others standing for it. */
int gt_profile_pass(struct gt_profile *profile, const struct gt_referrer *referrer, struct gt_error *error);
/* Makes the counts of every histogram add up to its references (gt_histogram_settle), and orders the
 * classes by key; nothing may be added until the next clear. */
int gt_profile_finish(struct gt_profile *profile, struct gt_error *error);

#endif
