/* SPDX-License-Identifier: MIT */
#include "cache/arrival.h"

#include <stdlib.h>

#include "base/grown.h"

#define SMS 65536 /* values of the column sm */

void gt_arrival_close(struct gt_arrivals *arrival)
{
	for (size_t i = 0; i < arrival->n; i++)
		free(arrival->queues[i].items);
	free(arrival->queues);
	free(arrival->queue_of);
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
		struct gt_waiting *items =
			queue ? gt_grown(queue->items, queue->n, &queue->capacity, sizeof *queue->items) : NULL;
		if (!items)
			return gt_fail_memory(error, "requests that wait their SM's turn (--arrival rr)");
		queue->items = items;
		items[queue->n++] = gt_waiting_of(rows, i);
	}
	return 0;
}

static int by_sm(const void *left, const void *right)
{
	return (int)((const struct gt_queue *)left)->sm - (int)((const struct gt_queue *)right)->sm;
}

int gt_arrival_drain(struct gt_arrivals *arrival,
		     int (*take)(void *context, const struct gt_rows *requests, struct gt_error *error),
		     void *context, struct gt_error *error)
{
	struct gt_rows *rows = gt_rows_new(GT_ROWS_BATCH, error);
	size_t waiting = arrival->n;
	int result = rows ? 0 : -1;

	if (waiting > 0)
		qsort(arrival->queues, waiting, sizeof *arrival->queues, by_sm);
	if (rows) {
		rows->kind = GT_REQUESTS;
		rows->scheduled = true;
	}
	for (uint64_t turn = 0; result == 0 && waiting > 0; turn++) {
		waiting = 0;
		for (size_t i = 0; result == 0 && i < arrival->n; i++) {
			struct gt_queue *queue = &arrival->queues[i];
			if (queue->taken == queue->n)
				continue;
			gt_waiting_append(rows, &queue->items[queue->taken++], turn, queue->sm);
			waiting += queue->taken < queue->n;
			if (rows->n == rows->capacity) {
				result = take(context, rows, error);
				rows->n = 0;
			}
		}
	}
	if (result == 0 && rows->n > 0)
		result = take(context, rows, error);
	gt_rows_free(rows);
	gt_arrival_close(arrival);
	return result;
}
