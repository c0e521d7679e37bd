/* SPDX-License-Identifier: MIT */
/* How long requests take, for the order of issue by time: an L1 of each SM and the L2 of all, as the lines and sectors that
 * were used last. What a cache really holds is decided by gcache, which serves the requests in the order that comes of this. */
#ifndef GT_SCHEDULE_MEMORY_H
#define GT_SCHEDULE_MEMORY_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/kept.h"
#include "schedule/schedule.h"

/* The lines that were used last, as many as a cache holds: what an order of issue by time takes the cache for. */

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

struct memory {
	const struct gt_issue_times *times;
	struct recent *l2;
};

/* L1 has room for `l1_bytes`; 0: there is none. It may be NULL. */
int gt_memory_open(struct memory *memory, const struct gt_issue_times *times, struct gt_error *error);
void gt_memory_close(struct memory *memory);

/* When a request of an SM that begins now has its data; of a store, now. */
uint64_t gt_memory_request(struct memory *memory, struct recent *l1, uint32_t sm, const struct shape *shape, uint64_t address,
			   uint64_t now);

#endif
