/* SPDX-License-Identifier: MIT */
/* Rows that wait, in order. */
#ifndef GT_SCHEDULE_SORT_H
#define GT_SCHEDULE_SORT_H

#include "base/error.h"
#include "schedule/kept.h"

static inline uint64_t gt_kept_key(const struct kept *row)
{
	return (uint64_t)row->an << 16 | row->warp;
}

/* A stable merge sort by access number and warp, bottom up, of n rows. Returns where they are: `rows` or `room`, which has
 * room for as many. */
struct kept *gt_kept_sort(struct kept *rows, struct kept *room, size_t n);

/* A stable counting sort by warp, none above `highest`, into `to`. Returns 0, or -1. */
int gt_kept_sort_by_warp(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error);

#endif
