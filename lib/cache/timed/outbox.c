/* SPDX-License-Identifier: MIT */
/* Instances have clocks of their own; the requests that they send are put into the order of (step, SM) here. */
#include <stdlib.h>

#include "base/grown.h"

#include "cache/timed/engine.h"

int gt_outbox_add(struct gt_outbox *outbox, const struct gt_outgoing *row, struct gt_error *error)
{
	struct gt_outgoing *rows = gt_grown(outbox->rows, outbox->n, &outbox->capacity, sizeof *rows);

	if (!rows)
		return gt_fail_memory(error, "requests of SMs that wait, or are ahead of others");
	outbox->rows = rows;
	outbox->rows[outbox->n++] = *row;
	return 0;
}

int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error)
{
	timed->waiting++;
	return gt_outbox_add(&engine->outbox, row, error);
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

static const struct gt_outgoing *head_of(const struct gt_timed *timed, uint32_t number)
{
	const struct gt_outbox *outbox = &timed->engines[number]->outbox;

	return &outbox->rows[outbox->first];
}

static bool before(const struct gt_timed *timed, uint32_t left, uint32_t right)
{
	uint64_t a = head_of(timed, left)->request.step, b = head_of(timed, right)->request.step;

	return a != b ? a < b : left < right;
}

/* Restores the order of a heap of instances from position `at` down. */
static void sink_down(const struct gt_timed *timed, uint32_t *heap, size_t n, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
			if (before(timed, heap[child], heap[least]))
				least = child;
		if (least == at)
			return;
		uint32_t kept = heap[at];
		heap[at] = heap[least];
		heap[least] = kept;
		at = least;
	}
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

static int release(struct gt_timed *timed, uint32_t *heap, uint64_t bound, struct gt_sink *sent,
		   struct gt_error *error)
{
	size_t n = 0;

	for (size_t i = 0; i < timed->active; i++)
		if (timed->engines[timed->active_list[i]]->outbox.n > timed->engines[timed->active_list[i]]->outbox.first)
			heap[n++] = timed->active_list[i];
	for (size_t at = n; at-- > 0;)
		sink_down(timed, heap, n, at);
	while (n > 0 && head_of(timed, heap[0])->request.step < bound) {
		struct gt_outbox *outbox = &timed->engines[heap[0]]->outbox;
		if (pass(&outbox->rows[outbox->first++], sent, error) != 0)
			return -1;
		timed->waiting--;
		if (outbox->first == outbox->n)
			heap[0] = heap[--n];
		sink_down(timed, heap, n, 0);
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
	uint32_t *heap = malloc(timed->active * sizeof *heap);
	if (!heap)
		return gt_fail_memory(error, "an order of SMs");
	int result = release(timed, heap, bound, sent, error);
	free(heap);
	return result;
}
