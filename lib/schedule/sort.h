/* SPDX-License-Identifier: MIT */
/* Rows that wait, in order. */
#ifndef GT_SCHEDULE_SORT_H
#define GT_SCHEDULE_SORT_H

#include "schedule/kept.h"

static inline uint64_t gt_kept_key(const struct kept *row)
{
	return (uint64_t)row->an << 16 | row->warp;
}

/* A stable merge sort by access number and warp, bottom up, of n rows. Returns where they are: `rows` or `room`, which has
 * room for as many. */
struct kept *gt_kept_sort(struct kept *rows, struct kept *room, size_t n);

#endif
