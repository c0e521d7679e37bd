/* SPDX-License-Identifier: MIT */
/* The next ordinal of each thread or warp, for traces without ordinals. A page has 32 counters, for the warps of
 * a block or the threads of a warp. */
#ifndef GT_ORDER_ORDINALS_H
#define GT_ORDER_ORDINALS_H

#include "base/error.h"
#include "base/map.h"

#define GT_ORDINAL_KERNELS (UINT32_C(1) << 26) /* launches that can be told apart */

struct gt_ordinals {
	struct gt_map pages; /* from what a page counts to its index */
	uint32_t (*counters)[32];
	size_t n, capacity; /* pages */
	uint64_t last;	    /* the key of the page used last */
	size_t last_page;
};

int gt_ordinals_open(struct gt_ordinals *ordinals, struct gt_error *error);
void gt_ordinals_close(struct gt_ordinals *ordinals);

/* The next ordinal of warp `warp` (below 32) of a block; the same of a thread, which is a lane. */
int gt_ordinal_of_warp(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
		       uint32_t *ordinal, struct gt_error *error);
int gt_ordinal_of_thread(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
			 unsigned lane, uint32_t *ordinal, struct gt_error *error);

/* Bytes of memory in use. */
static inline uint64_t gt_ordinals_bytes(const struct gt_ordinals *ordinals)
{
	return ordinals->capacity * sizeof *ordinals->counters + (ordinals->pages.mask + 1) * sizeof *ordinals->pages.slots;
}

#endif
