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

static inline struct gt_waiting gt_waiting_of(const struct gt_rows *rows, size_t i)
{
	return (struct gt_waiting){.address = rows->address[i], .block = rows->block[i], .an = rows->an[i],
				   .pc = rows->pc[i], .warp = rows->warp[i], .op = rows->op[i],
				   .sectors = rows->sectors[i], .full = rows->full[i], .threads = rows->threads[i]};
}

/* Appends one to a batch that has room for it; step and SM only where that is scheduled. */
static inline void gt_waiting_append(struct gt_rows *rows, const struct gt_waiting *item, uint64_t step, uint16_t sm)
{
	size_t at = rows->n++;

	rows->address[at] = item->address;
	rows->block[at] = item->block;
	rows->an[at] = item->an;
	rows->pc[at] = item->pc;
	rows->warp[at] = item->warp;
	rows->op[at] = item->op;
	rows->sectors[at] = item->sectors;
	rows->full[at] = item->full;
	rows->threads[at] = item->threads;
	if (rows->scheduled) {
		rows->step[at] = step;
		rows->sm[at] = sm;
	}
}

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
