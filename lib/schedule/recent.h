/* SPDX-License-Identifier: MIT */
/* The lines that were used last, as many as a cache holds: what an order of issue by time takes the cache for. */
#ifndef GT_SCHEDULE_RECENT_H
#define GT_SCHEDULE_RECENT_H

#include <stdint.h>

#include "base/error.h"

struct recent_line {
	uint64_t address;
	uint64_t filled; /* when the last sector that was fetched is there */
	uint32_t newer, older, next; /* in the order of use; in its slot's list */
	uint8_t valid;	 /* sectors, those under way too */
};

struct recent {
	struct recent_line *lines; /* [0]: ends of the order of use */
	uint32_t *slots, mask;
	uint32_t n, capacity;
};

/* Room for `capacity` lines. NULL when memory is short. */
struct recent *gt_recent_open(uint32_t capacity, struct gt_error *error);
void gt_recent_close(struct recent *recent);

/* The line of an address, as the newest; the oldest gives way to one that is not there, which has no valid sectors. */
struct recent_line *gt_recent_use(struct recent *recent, uint64_t address);

#endif
