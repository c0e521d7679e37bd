/* SPDX-License-Identifier: MIT */
/* What is undetermined, and which run of gpchase trace (or of the same chase on a GPU) would determine it. */
#ifndef GT_DISSECT_PROPOSE_H
#define GT_DISSECT_PROPOSE_H

#include "dissect/infer.h"

#define GT_PROPOSALS_MAX 8

struct gt_proposal {
	char why[160]; /* what is undetermined */
	const char *order; /* ring or retouch; NULL: the chases that should have determined it were made */
	uint64_t first, last, step; /* of N */
	uint64_t stride, rounds;
	unsigned times; /* that the chase is to be run, each from an empty cache */
};

/* Returns the number of proposals; 0: all that can be determined is. */
size_t gt_propose(const struct gt_inference *inference, const struct gt_chase_series *series,
		  struct gt_proposal proposals[GT_PROPOSALS_MAX]);

#endif
