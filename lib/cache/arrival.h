/* SPDX-License-Identifier: MIT */
/* Requests that wait to be taken one from each SM in turn, whatever their step, as [004] mixes
 * what its L1s send (figure 3). Exact, so it keeps a kernel's requests in memory. */
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
	struct gt_queue *queues; /* in the order in which SMs were first seen; while they empty, by SM */
	size_t n, capacity;
	uint32_t *queue_of; /* of each SM: place in queues + 1 */
	/* While they empty. */
	struct gt_rows *rows; /* the batch that was given last; else NULL */
	size_t at, waiting;   /* the queue whose turn it is; requests of all queues */
	uint64_t turn;
	bool has_hints; /* a batch had them */
};

void gt_arrival_close(struct gt_arrivals *arrival);

/* Puts a batch of scheduled requests at the ends of their SMs' queues. */
int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *requests, struct gt_error *error);

/* The next batch, in turns of ascending SM; the step of a request is its turn, from 0. `rows` is
 * valid until the next call. Returns 1; 0 when nothing waits any more, and requests can be added
 * again; or -1. */
int gt_arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error);

#endif
