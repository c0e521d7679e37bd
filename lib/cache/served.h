/* SPDX-License-Identifier: MIT */
/* Reads that were served and what they fetch, which is sent column by column. */
#ifndef GT_CACHE_SERVED_H
#define GT_CACHE_SERVED_H

#include "cache/serve.h"

#define GT_SERVED_MAX 256

struct gt_served {
	uint64_t hits; /* sectors */
	size_t n;
	uint32_t row[GT_SERVED_MAX]; /* that fetches */
	uint8_t sectors[GT_SERVED_MAX];
};

/* Row i, which is a read, fetches sectors; there must be room. */
static inline void gt_served_add(struct gt_served *served, size_t i, uint32_t sectors)
{
	served->row[served->n] = (uint32_t)i;
	served->sectors[served->n++] = (uint8_t)sectors;
}

/* Sends what was added, as loads, and forgets it. Returns 0, or -1 with the sink's error. */
int gt_served_send(struct gt_served *served, struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		   struct gt_error *error);

#endif
