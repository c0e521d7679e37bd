/* SPDX-License-Identifier: MIT */
/* Instances have clocks of their own; the requests that they send are put into the order of (step, SM) here. */
#include <stdlib.h>

#include "base/grown.h"

#include "cache/timed/engine.h"

int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error)
{
	struct gt_outbox *outbox = &engine->outbox;
	struct gt_outgoing *rows = gt_grown(outbox->rows, outbox->n, &outbox->capacity, sizeof *rows);

	if (!rows)
		return gt_fail_memory(error, "requests of SMs that are ahead of others");
	outbox->rows = rows;
	outbox->rows[outbox->n++] = *row;
	timed->waiting++;
	return 0;
}

int gt_timed_collect(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_timed *timed = context;

	for (size_t i = 0; i < rows->n && timed->config.emit == GT_EMIT_MISSES; i++) {
		const struct gt_outgoing sent = {.request = gt_request_of(rows, i)};
		if (gt_engine_send(timed, timed->sender, &sent, error) != 0)
			return -1;
	}
	rows->n = 0;
	return 0;
}

/* An instance whose outbox is not empty, and the step of its first row. */
struct sender {
	uint64_t step;
	uint32_t number;
};

static bool before(const struct sender *left, const struct sender *right)
{
	return left->step != right->step ? left->step < right->step : left->number < right->number;
}

/* Restores the order of a heap of senders from position `at` down. */
static void sink_down(struct sender *heap, size_t n, size_t at)
{
	const struct sender moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && before(&heap[child + 1], &heap[child]);
		if (!before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

static int pass(const struct gt_outgoing *sent, struct gt_sink *sink, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (gt_sink_room(sink, error) != 0)
		return -1;
	rows->status[rows->n] = sent->status;
	gt_request_append(rows, &sent->request);
	return 0;
}

/* Removes the consumed rows at the front if they are the larger part. */
static void settle(struct gt_outbox *outbox)
{
	if (outbox->n == 0 || outbox->first < outbox->n - outbox->first)
		return;
	memcpy(outbox->rows, outbox->rows + outbox->first, (outbox->n - outbox->first) * sizeof *outbox->rows);
	outbox->n -= outbox->first;
	outbox->first = 0;
}

/* Makes a heap of the instances that have sent anything, and returns their number. */
static size_t gather(const struct gt_timed *timed, struct sender *heap)
{
	size_t n = 0;

	for (size_t i = 0; i < timed->active; i++) {
		const struct gt_outbox *outbox = &timed->engines[timed->active_list[i]]->outbox;
		if (outbox->n > outbox->first)
			heap[n++] = (struct sender){outbox->rows[outbox->first].request.step, timed->active_list[i]};
	}
	for (size_t at = n; at-- > 0;)
		sink_down(heap, n, at);
	return n;
}

/* Passes on what an instance has sent in the step of its first row. */
static int pass_step(struct gt_timed *timed, struct gt_outbox *outbox, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t step = outbox->rows[outbox->first].request.step;

	do {
		if (pass(&outbox->rows[outbox->first++], sent, error) != 0)
			return -1;
		timed->waiting--;
	} while (outbox->first < outbox->n && outbox->rows[outbox->first].request.step == step);
	return 0;
}

static int release(struct gt_timed *timed, struct sender *heap, uint64_t bound, struct gt_sink *sent, struct gt_error *error)
{
	size_t n = gather(timed, heap);

	while (n > 0 && heap[0].step < bound) {
		struct gt_outbox *outbox = &timed->engines[heap[0].number]->outbox;
		if (pass_step(timed, outbox, sent, error) != 0)
			return -1;
		if (outbox->first == outbox->n)
			heap[0] = heap[--n];
		else
			heap[0].step = outbox->rows[outbox->first].request.step;
		sink_down(heap, n, 0);
	}
	for (size_t i = 0; i < timed->active; i++)
		settle(&timed->engines[timed->active_list[i]]->outbox);
	return 0;
}

int gt_timed_release(struct gt_timed *timed, bool all, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t bound = UINT64_MAX;

	if (timed->waiting == 0)
		return 0;
	for (size_t i = 0; !all && i < timed->active; i++)
		if (timed->engines[timed->active_list[i]]->floor < bound)
			bound = timed->engines[timed->active_list[i]]->floor;
	if (!all && bound > timed->released)
		timed->released = bound;
	struct sender *heap = malloc(timed->active * sizeof *heap);
	if (!heap)
		return gt_fail_memory(error, "an order of SMs");
	int result = release(timed, heap, bound, sent, error);
	free(heap);
	return result;
}
