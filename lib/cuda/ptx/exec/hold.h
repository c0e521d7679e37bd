/* SPDX-License-Identifier: MIT */
/* The accesses of the block that runs, warp by warp, until they are put in order. The machine adds to them what it traces,
 * without a batch of rows in between. */
#ifndef GT_PTX_HOLD_H
#define GT_PTX_HOLD_H

#include "cuda/ptx/exec/held.h"

#define GT_PTX_HOLD_WARPS 32 /* of a block at most: 1024 threads */

struct gt_ptx_hold {
	struct gt_ptx_held_store store;
	struct gt_ptx_held held[GT_PTX_HOLD_WARPS]; /* by their ordinals */
	uint64_t next[GT_PTX_HOLD_WARPS];	     /* smallest ordinal that may still come */
	uint32_t ended;				     /* bit w: warp w makes no more accesses */
	uint32_t block;
	unsigned warps; /* 1 + the highest warp with an access */
	uint64_t n;	/* held */
	bool has_hints, has_work;
	size_t room; /* accesses that may be added before `turn` is called, as before those of another block */
	int (*turn)(struct gt_ptx_hold *hold, uint32_t block, struct gt_error *error);
};

/* The place of one more access of a warp, whose warp, an, hint and lanes' addresses are set; NULL on error. */
static inline struct gt_ptx_kept *gt_ptx_hold_add(struct gt_ptx_hold *hold, uint32_t block, unsigned warp, uint32_t an,
						  uint16_t hint, size_t lanes, struct gt_error *error)
{
	if ((hold->block != block || hold->room == 0) && hold->turn(hold, block, error) != 0)
		return NULL;
	const unsigned at = warp % GT_PTX_HOLD_WARPS;
	struct gt_ptx_kept *kept = gt_ptx_held_new(&hold->held[at], &hold->store, lanes, error);
	if (!kept)
		return NULL;
	kept->an = an;
	kept->warp = (uint16_t)warp;
	kept->hint = hint;
	hold->next[at] = (uint64_t)an + 1;
	hold->warps = at >= hold->warps ? at + 1 : hold->warps;
	hold->has_hints |= hint != 0;
	hold->room--;
	hold->n++;
	return kept;
}

#endif
