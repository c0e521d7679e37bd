/* SPDX-License-Identifier: MIT */
#include "cache/timed/waiting.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/hash.h"

/* ---- heaps ---- */

static void push(struct gt_heap *heap, uint32_t item)
{
	size_t at = heap->n++;

	for (; at > 0 && heap->items[(at - 1) / 2] > item; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static void drop_first(struct gt_heap *heap)
{
	uint32_t moved = heap->items[--heap->n];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
		child += child + 1 < heap->n && heap->items[child + 1] < heap->items[child];
		if (heap->items[child] >= moved)
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = moved;
}

/* ---- opening ---- */

static uint32_t *chain_of(const struct gt_waiting *waiting, uint64_t line)
{
	return &waiting->chains[gt_fibonacci(line) >> (64 - waiting->chain_bits)];
}

/* Room for all items among the woken, and for each in the heap of its set. */
static void share_out(struct gt_waiting *waiting, const struct gt_timed *timed)
{
	uint32_t *next = waiting->memory + waiting->n;

	waiting->woken.items = waiting->memory;
	for (size_t i = 0; i < waiting->n; i++)
		waiting->sets[waiting->items[i].mshr].n++;
	for (uint32_t set = 0; set < timed->config.timed.mshr_sets; set++) {
		waiting->sets[set].items = next;
		next += waiting->sets[set].n;
		waiting->sets[set].n = 0;
	}
}

int gt_waiting_open(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_item *items, size_t n,
		    struct gt_error *error)
{
	*waiting = (struct gt_waiting){.items = items, .n = n, .chain_bits = 4};
	while (n >> waiting->chain_bits > 0)
		waiting->chain_bits++;
	waiting->states = calloc(n, sizeof *waiting->states);
	waiting->chains = calloc((size_t)1 << waiting->chain_bits, sizeof *waiting->chains);
	waiting->sets = calloc(timed->config.timed.mshr_sets, sizeof *waiting->sets);
	waiting->memory = calloc(2 * n, sizeof *waiting->memory);
	waiting->asleep = calloc(n, sizeof *waiting->asleep);
	if (!waiting->states || !waiting->chains || !waiting->sets || !waiting->memory || !waiting->asleep)
		return gt_fail_memory(error, "lookups that wait for an entry");
	for (size_t i = n; i-- > 0;) {
		uint32_t *chain = chain_of(waiting, items[i].piece.line);
		waiting->states[i].next = *chain;
		*chain = (uint32_t)i + 1;
	}
	share_out(waiting, timed);
	for (size_t i = 0; i < n; i++) {
		waiting->states[i].woken = 1; /* the first turn */
		push(&waiting->woken, (uint32_t)i);
	}
	return 0;
}

void gt_waiting_close(struct gt_waiting *waiting)
{
	free(waiting->states);
	free(waiting->chains);
	free(waiting->sets);
	free(waiting->memory);
	free(waiting->asleep);
	free(waiting->lines);
}

/* ---- changes ---- */

int gt_waiting_change(struct gt_waiting *waiting, uint64_t line, struct gt_error *error)
{
	uint64_t *lines = gt_grown(waiting->lines, waiting->n_lines, &waiting->lines_capacity, sizeof *lines);

	if (!lines)
		return gt_fail_memory(error, "lookups that wait for an entry");
	waiting->lines = lines;
	waiting->lines[waiting->n_lines++] = line;
	return 0;
}

static void wake(struct gt_waiting *waiting, uint32_t item)
{
	struct gt_lookup_state *state = &waiting->states[item];

	if (state->served || state->woken == waiting->turn)
		return;
	state->woken = waiting->turn;
	push(&waiting->woken, item);
}

/* Wakes the lookups of a line from index `from` on, and takes those out of its chain that have been served. */
static void wake_line(struct gt_waiting *waiting, uint64_t line, uint32_t from)
{
	for (uint32_t *link = chain_of(waiting, line); *link;) {
		uint32_t item = *link - 1;
		if (waiting->states[item].served) {
			*link = waiting->states[item].next;
			continue;
		}
		if (item >= from && waiting->items[item].piece.line == line)
			wake(waiting, item);
		link = &waiting->states[item].next;
	}
}

void gt_waiting_begin(struct gt_waiting *waiting)
{
	waiting->turn++;
	for (size_t i = 0; i < waiting->n_lines; i++)
		wake_line(waiting, waiting->lines[i], 0);
	waiting->n_lines = 0;
}

static void queue(struct gt_waiting *waiting, uint32_t item)
{
	if (waiting->states[item].queued)
		return;
	waiting->states[item].queued = true;
	push(&waiting->sets[waiting->items[item].mshr], item);
}

static void lay_down(struct gt_waiting *waiting, uint32_t item)
{
	if (waiting->states[item].asleep)
		return;
	waiting->states[item].asleep = true;
	waiting->asleep[waiting->n_asleep++] = item;
}

/* One that found no merge may miss more sectors now, and so need an entry. */
void gt_waiting_evict(struct gt_waiting *waiting, uint32_t set)
{
	size_t kept = 0;

	for (size_t i = 0; i < waiting->n_asleep; i++) {
		uint32_t item = waiting->asleep[i];
		struct gt_lookup_state *state = &waiting->states[item];
		state->asleep = !state->served && !state->queued && waiting->items[item].set != set;
		if (state->asleep)
			waiting->asleep[kept++] = item;
		else if (!state->served)
			queue(waiting, item);
	}
	waiting->n_asleep = kept;
}

/* ---- a turn ---- */

/* Of the first items of sets that have free entries, the lowest; NULL: there is none. */
static struct gt_heap *first_set(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct gt_heap *first = NULL;

	for (uint32_t set = 0; set < config->mshr_sets; set++) {
		struct gt_heap *heap = &waiting->sets[set];
		while (heap->n > 0 && waiting->states[heap->items[0]].served)
			drop_first(heap);
		if (heap->n > 0 && engine->busy[set] < config->mshr_entries && (!first || heap->items[0] < first->items[0]))
			first = heap;
	}
	return first;
}

const struct gt_item *gt_waiting_next(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine)
{
	for (;;) {
		struct gt_heap *heap = first_set(waiting, timed, engine), *woken = &waiting->woken;
		if (woken->n > 0 && (!heap || woken->items[0] <= heap->items[0]))
			heap = woken;
		if (!heap)
			return NULL;
		uint32_t item = heap->items[0];
		struct gt_lookup_state *state = &waiting->states[item];
		drop_first(heap);
		state->queued = heap == woken && state->queued;
		if (!state->served && state->tried == waiting->turn)
			lay_down(waiting, item); /* it was woken, and found no merge */
		if (state->served || state->tried == waiting->turn)
			continue;
		state->tried = waiting->turn;
		return &waiting->items[item];
	}
}

int gt_waiting_served(struct gt_waiting *waiting, const struct gt_item *item, bool sent, struct gt_error *error)
{
	uint32_t number = (uint32_t)(item - waiting->items);

	waiting->states[number].served = true;
	if (!sent)
		return 0;
	wake_line(waiting, item->piece.line, number + 1);
	return gt_waiting_change(waiting, item->piece.line, error);
}

void gt_waiting_failed(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine,
		       const struct gt_item *item)
{
	uint32_t number = (uint32_t)(item - waiting->items);

	if (engine->busy[item->mshr] >= timed->config.timed.mshr_entries)
		queue(waiting, number);
	else if (!waiting->states[number].queued)
		lay_down(waiting, number);
}
