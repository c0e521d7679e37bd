/* SPDX-License-Identifier: MIT */
/* Fills a level before a kernel begins: with what the program copied to device memory, or with all of its arrays. */
#ifndef GT_CACHE_WARM_H
#define GT_CACHE_WARM_H

#include "cache/config.h"
#include "cache/level.h"

#define GT_WARM_MAX (UINT64_C(256) << 30) /* bytes of a range */

/* Before the requests of a kernel: loads ranges of bytes into a shared level, in their order and by ascending address, valid
 * and clean. Neither the fills nor the evictions are counted or sent. */
int gt_level_warm(struct gt_level *level, const uint64_t *addresses, const uint64_t *bytes, size_t n,
		  struct gt_error *error);

struct gt_warm_ranges {
	uint64_t kernel; /* id of the launch whose ranges they are */
	uint64_t *addresses, *bytes; /* owned */
	size_t n;
	bool uneven; /* they are no pairs, which is an error where they are asked for */
};

/* The ranges of one kernel, as counts of the stages "copies" and "allocations" name them by their
 * arrays addresses and bytes. They may come before the kernel or behind it, but before its rows. */
struct gt_warming {
	struct gt_warm_ranges of[GT_WARMS]; /* by enum gt_warm */
};

/* Keeps the ranges of a count, if it is of one of these stages. Returns 0, or -1. */
int gt_warming_note(struct gt_warming *warming, const struct gt_count *count, struct gt_error *error);
/* Brings those of that kernel that the level's config asks for into it, once. Returns 0, or -1. */
int gt_warming_apply(struct gt_warming *warming, struct gt_level *level, uint64_t kernel, struct gt_error *error);
void gt_warming_clear(struct gt_warming *warming);

#endif
