/* SPDX-License-Identifier: MIT */
/* Requests that wait to be taken one from each SM in turn, whatever their step, as [004] mixes
 * what its L1s send (figure 3). Exact, so it keeps a kernel's requests in memory, 32 bytes each. */
#ifndef GT_CACHE_ARRIVAL_H
#define GT_CACHE_ARRIVAL_H

#include "stream/rows.h"

struct gt_waiting {
	uint64_t address;
	uint32_t block, an, pc;
	uint16_t warp;
	uint8_t op, sectors, full, threads;
};

struct gt_queue {
	struct gt_waiting *items;
	size_t n, capacity, taken;
	uint16_t sm;
};

struct gt_arrivals {
	struct gt_queue *queues; /* in the order in which SMs were first seen */
	size_t n, capacity;
	uint32_t *queue_of; /* of each SM: place in queues + 1 */
};

void gt_arrival_close(struct gt_arrivals *arrival);

/* Puts a batch of scheduled requests at the ends of their SMs' queues. */
int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *requests, struct gt_error *error);

/* Gives everything to `take`, batch by batch, in turns of ascending SM; the step of a request is
 * its turn, from 0. Then nothing waits. */
int gt_arrival_drain(struct gt_arrivals *arrival,
		     int (*take)(void *context, const struct gt_rows *requests, struct gt_error *error),
		     void *context, struct gt_error *error);

#endif
