/* SPDX-License-Identifier: MIT */
/* Takes requests round-robin from the SMs, whatever their step, as [004] merges the output of its L1s (figure 3). All
 * requests of a kernel are kept in memory. */
#ifndef GT_CACHE_ARRIVAL_H
#define GT_CACHE_ARRIVAL_H

#include <stdbool.h>

#include "stream/request.h"

struct gt_queue {
	struct gt_request *requests;
	size_t n, capacity, taken;
	uint16_t sm;
};

struct gt_arrivals {
	struct gt_queue *queues; /* in the order in which SMs were first seen; by SM while requests are taken */
	size_t n, capacity;
	uint32_t *queue_of; /* of each SM: place in queues + 1 */
	/* While requests are taken. */
	struct gt_rows *rows; /* the batch returned last; else NULL */
	size_t at, waiting;   /* the current queue; requests of all queues */
	uint64_t turn;
	bool has_hints; /* a batch had them */
};

void gt_arrival_close(struct gt_arrivals *arrival);

/* Puts a batch of scheduled requests at the ends of their SMs' queues. */
int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *requests, struct gt_error *error);

/* The next batch, in rounds of ascending SM; the step of a request is its round, from 0. `rows` is valid until the next
 * call. Returns 1; 0 when no request is left, and requests can be added again; or -1. */
int gt_arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error);

#endif
