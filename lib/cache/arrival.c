/* SPDX-License-Identifier: MIT */
#include "cache/arrival.h"

#include <stdlib.h>

#include "base/grown.h"

#define SMS 65536 /* values of the column sm */

void gt_arrival_close(struct gt_arrivals *arrival)
{
	for (size_t i = 0; i < arrival->n; i++)
		free(arrival->queues[i].requests);
	free(arrival->queues);
	free(arrival->queue_of);
	gt_rows_free(arrival->rows);
	*arrival = (struct gt_arrivals){0};
}

static struct gt_queue *queue_for(struct gt_arrivals *arrival, uint16_t sm)
{
	if (!arrival->queue_of && !(arrival->queue_of = calloc(SMS, sizeof *arrival->queue_of)))
		return NULL;
	if (arrival->queue_of[sm] == 0) {
		struct gt_queue *queues =
			gt_grown(arrival->queues, arrival->n, &arrival->capacity, sizeof *arrival->queues);
		if (!queues)
			return NULL;
		arrival->queues = queues;
		arrival->queues[arrival->n++] = (struct gt_queue){.sm = sm};
		arrival->queue_of[sm] = (uint32_t)arrival->n;
	}
	return &arrival->queues[arrival->queue_of[sm] - 1];
}

int gt_arrival_add(struct gt_arrivals *arrival, const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_queue *queue = queue_for(arrival, rows->sm[i]);
		struct gt_request *requests =
			queue ? gt_grown(queue->requests, queue->n, &queue->capacity, sizeof *requests) : NULL;
		if (!requests)
			return gt_fail_memory(error, "requests that wait their SM's turn (--arrival rr)");
		queue->requests = requests;
		requests[queue->n++] = gt_request_of(rows, i);
	}
	arrival->waiting += rows->n;
	arrival->has_hints |= rows->has_hints;
	return 0;
}

static int by_sm(const void *left, const void *right)
{
	return (int)((const struct gt_queue *)left)->sm - (int)((const struct gt_queue *)right)->sm;
}

static int begin_turns(struct gt_arrivals *arrival, struct gt_error *error)
{
	arrival->rows = gt_rows_new(GT_ROWS_BATCH, error);
	if (!arrival->rows)
		return -1;
	arrival->rows->kind = GT_REQUESTS;
	arrival->rows->scheduled = true;
	arrival->rows->has_hints = arrival->has_hints;
	qsort(arrival->queues, arrival->n, sizeof *arrival->queues, by_sm);
	return 0;
}

/* Takes a request from the current queue, if it has one. */
static void take_turn(struct gt_arrivals *arrival)
{
	struct gt_queue *queue = &arrival->queues[arrival->at];

	if (queue->taken < queue->n) {
		struct gt_request *request = &queue->requests[queue->taken++];
		request->step = arrival->turn;
		gt_request_append(arrival->rows, request);
		arrival->waiting--;
	}
	if (++arrival->at == arrival->n) {
		arrival->at = 0;
		arrival->turn++;
	}
}

int gt_arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error)
{
	if (arrival->waiting == 0) {
		gt_arrival_close(arrival);
		return 0;
	}
	if (!arrival->rows && begin_turns(arrival, error) != 0)
		return -1;
	arrival->rows->n = 0;
	while (arrival->waiting > 0 && arrival->rows->n < arrival->rows->capacity)
		take_turn(arrival);
	*rows = arrival->rows;
	return 1;
}
