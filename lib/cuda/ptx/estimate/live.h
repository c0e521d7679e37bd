/* SPDX-License-Identifier: MIT */
/* Which values are live at the end of each basic block. Only values that a block reads before it writes them are
 * kept, so that the sets stay small: most values begin and end within a block. */
#ifndef GT_PTX_ESTIMATE_LIVE_H
#define GT_PTX_ESTIMATE_LIVE_H

#include "cuda/ptx/estimate/steps.h"

struct gt_ptx_live {
	uint32_t *values; /* that live from block to block: bit i of a set is values[i] */
	size_t n;
	uint32_t *bit;	/* by value: which bit; UINT32_MAX: none */
	size_t words;	/* 64-bit words of a set */
	uint64_t *sets; /* of each block: live at its end, live at its beginning, written in it; NULL: too many */
};

/* Freed by gt_ptx_live_free in either case. */
int gt_ptx_live_make(struct gt_ptx_live *live, const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow,
		     struct gt_error *error);
void gt_ptx_live_free(struct gt_ptx_live *live);

/* The set of what is live at the end of block b. */
const uint64_t *gt_ptx_live_out(const struct gt_ptx_live *live, size_t b);

#endif
