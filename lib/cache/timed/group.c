/* SPDX-License-Identifier: MIT */
/* [000] 4.4: the accesses that issue together use the ports of their banks, warps of smaller index first. A miss that finds
 * no MSHR entry is retried in the next step. The next accesses wait until all of these are served. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "cache/timed/engine.h"

/* ---- lookups that wait for the ports of their banks ---- */

void gt_queues_close(struct gt_queues *queues)
{
	if (!queues)
		return;
	free(queues->ends);
	free(queues->next);
	free(queues->chosen);
	free(queues);
}

/* Room for n items. */
static int make_room(struct gt_timed *timed, size_t n, struct gt_error *error)
{
	struct gt_queues *queues = timed->queues ? timed->queues : calloc(1, sizeof *queues);

	if (!queues)
		return gt_fail_memory(error, "lookups that wait for a port");
	timed->queues = queues;
	uint32_t *next = gt_grown_to(queues->next, n, &queues->next_capacity, sizeof *next);
	queues->next = next ? next : queues->next;
	uint32_t *chosen = gt_grown_to(queues->chosen, n, &queues->chosen_capacity, sizeof *chosen);
	queues->chosen = chosen ? chosen : queues->chosen;
	if (!queues->ends)
		queues->ends = malloc(timed->banks * sizeof *queues->ends);
	return next && chosen && queues->ends ? 0 : gt_fail_memory(error, "lookups that wait for a port");
}

/* Queues all n items, in their order. Returns 0, or -1 when memory is short. */
static int queues_fill(struct gt_timed *timed, const struct gt_item *items, size_t n, struct gt_error *error)
{
	if (make_room(timed, n, error) != 0)
		return -1;
	struct gt_queues *queues = timed->queues;
	memset(queues->ends, 0, timed->banks * sizeof *queues->ends);
	for (size_t i = 0; i < n; i++) {
		struct gt_ends *ends = &queues->ends[items[i].bank];
		*(ends->last ? &queues->next[ends->last - 1] : &ends->first) = (uint32_t)i + 1;
		ends->last = (uint32_t)i + 1;
		queues->next[i] = 0;
	}
	return 0;
}

static int by_index(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Takes the items that get a port in a step out of their queues and sets `chosen`. Returns their number. */
static size_t queues_choose(const struct gt_timed *timed)
{
	struct gt_queues *queues = timed->queues;
	size_t n = 0;

	for (uint32_t bank = 0; bank < timed->banks; bank++) {
		struct gt_ends *ends = &queues->ends[bank];
		for (uint32_t port = 0; port < timed->config.timed.ports && ends->first; port++) {
			queues->chosen[n++] = ends->first - 1;
			ends->first = queues->next[ends->first - 1];
		}
		if (!ends->first)
			ends->last = 0;
	}
	if (n > 1)
		qsort(queues->chosen, n, sizeof *queues->chosen, by_index);
	return n;
}

/* Puts n of the items chosen last back before the others of their banks; their indices ascend. */
static void queues_return(const struct gt_timed *timed, const struct gt_item *items, const uint32_t *indices, size_t n)
{
	struct gt_queues *queues = timed->queues;

	for (size_t k = n; k-- > 0;) {
		struct gt_ends *ends = &queues->ends[items[indices[k]].bank];
		queues->next[indices[k]] = ends->first;
		ends->first = indices[k] + 1;
		if (!ends->last)
			ends->last = ends->first;
	}
}

/* ---- lookups that wait for MSHR entries ----
 *
 * A step tries those only whose line has changed since they failed, and in each MSHR set
 * with free entries the first of the others: any other would fail again. */

/* Indices of items, the lowest first: a binary heap. */
struct gt_heap {
	uint32_t *items;
	size_t n;
};

struct gt_waiting {
	const struct gt_item *items;
	size_t n;
	struct gt_lookup_state {
		uint32_t next;	/* index + 1 of a later one in the same chain; 0: none */
		uint32_t woken, tried; /* the last turn in which it was */
		bool served;
		bool queued; /* in the heap of its MSHR set */
		bool asleep; /* in the list of that name */
	} *states;
	uint32_t *chains; /* by line: index + 1 of the first */
	unsigned chain_bits;
	uint32_t turn;
	struct gt_heap woken; /* to be tried in this turn */
	struct gt_heap *sets; /* of each MSHR set: those that found no entry */
	uint32_t *memory;     /* of all heaps */
	uint32_t *asleep;     /* those that found no merge, though there was an entry */
	size_t n_asleep;
	uint64_t *lines; /* that have changed since the last turn */
	size_t n_lines, lines_capacity;
};

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

/* All of the n items wait, and are tried in the first turn. Returns 0, or -1; to be closed in either case. */
static int waiting_open(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_item *items, size_t n,
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

static void waiting_close(struct gt_waiting *waiting)
{
	free(waiting->states);
	free(waiting->chains);
	free(waiting->sets);
	free(waiting->memory);
	free(waiting->asleep);
	free(waiting->lines);
}

/* ---- changes ---- */

/* A line that has changed, or will at the end of the last step. Returns 0, or -1. */
static int waiting_change(struct gt_waiting *waiting, uint64_t line, struct gt_error *error)
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

/* Begins a turn. */
static void waiting_begin(struct gt_waiting *waiting)
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
static void waiting_evict(struct gt_waiting *waiting, uint32_t set)
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

/* The next lookup to try, or NULL. */
static const struct gt_item *waiting_next(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine)
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

/* What came of it: it was served, and its line has been requested if `sent`; or it failed. Returns 0, or -1. */
static int waiting_served(struct gt_waiting *waiting, const struct gt_item *item, bool sent, struct gt_error *error)
{
	uint32_t number = (uint32_t)(item - waiting->items);

	waiting->states[number].served = true;
	if (!sent)
		return 0;
	wake_line(waiting, item->piece.line, number + 1);
	return waiting_change(waiting, item->piece.line, error);
}

static void waiting_failed(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine,
			   const struct gt_item *item)
{
	uint32_t number = (uint32_t)(item - waiting->items);

	if (engine->busy[item->mshr] >= timed->config.timed.mshr_entries)
		queue(waiting, number);
	else if (!waiting->states[number].queued)
		lay_down(waiting, number);
}

#define MANY 64 /* lookups */

static int by_bank(const void *left, const void *right)
{
	const struct gt_item *a = left, *b = right;

	return a->bank != b->bank ? (a->bank > b->bank) - (a->bank < b->bank) : (a->place > b->place) - (a->place < b->place);
}

/* Within a warp, by bank: [000] table 3. */
static void sort_by_bank(struct gt_item *items, size_t n)
{
	for (size_t first = 0, end; first < n; first = end) {
		bool sorted = true;
		for (end = first; end < n && items[end].ordinal == items[first].ordinal; end++) {
			items[end].place = (uint32_t)(end - first);
			sorted = sorted && (end == first || items[end - 1].bank <= items[end].bank);
		}
		if (!sorted)
			qsort(items + first, end - first, sizeof *items, by_bank);
	}
}

/* The flights are looked at first: the line of one may be known to be absent. */
static struct gt_view view_of(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item)
{
	uint64_t line = item->piece.line, used = item->piece.used;
	struct gt_view view = {GT_NO_SLOT, used, gt_flights_to(&engine->flights, line, used)};

	if (view.away.entry && view.away.entry->absent)
		return view;
	view.slot = gt_recent_find(timed->recent, item->recent, engine->tags, item->set, line);
	if (view.slot == GT_NO_SLOT)
		return view;
	view.missing &= ~*gt_slot_valid(engine->tags, view.slot);
	if (view.away.entry && view.missing != used)
		view.away = gt_flights_to(&engine->flights, line, view.missing);
	return view;
}

/* A load, or an atomic that is executed here. */
GT_INLINE int look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_view view = view_of(timed, engine, item);
	uint64_t missing = view.missing;
	uint32_t slot = view.slot;

	if (missing == 0 || timed->instant) {
		outcome->status = missing ? GT_TIMED_MISS : GT_TIMED_HIT;
		outcome->latency = missing ? 0 : timed->config.timed.hit_latency;
		if (missing)
			gt_engine_count_miss(timed, outcome);
		outcome->effect += outcome->latency > 0 ? outcome->latency - 1 : 0;
		if (timed->watch && slot != GT_NO_SLOT)
			outcome->position = gt_tags_position(engine->tags, item->set, slot);
		if (missing == 0 && gt_engine_plain(timed, item->request)) {
			gt_engine_hit(timed, engine, item->set, slot, item->piece.used);
			return 0;
		}
		return gt_engine_serve(timed, engine, item, outcome, error);
	}
	if (gt_engine_miss(timed, engine, item, &view, outcome, error) != 0)
		return -1;
	if (outcome->status != GT_TIMED_FAIL && slot != GT_NO_SLOT)
		gt_level_touch(timed->level, engine->tags, item->set, slot, item->piece.used & ~missing,
			       item->piece.used, item->class == GT_CLASS_READ ? timed->level->counters.mru : NULL);
	return 0;
}

GT_INLINE int serve_item(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		      struct gt_outcome *outcome, struct gt_error *error)
{
	if (gt_engine_waits(timed, item))
		return look_up(timed, engine, item, outcome, error);
	outcome->status = GT_TIMED_PASSED;
	return gt_engine_serve(timed, engine, item, outcome, error);
}

int gt_group_attempt(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step,
		     struct gt_last *last, struct gt_group_step *result, struct gt_error *error)
{
	struct gt_outcome outcome = gt_outcome_of(engine, item, step);

	outcome.status = GT_TIMED_FAIL;
	if (!gt_engine_port(timed, engine, item, &outcome)) {
		result->conflicts++;
		return 0;
	}
	if (serve_item(timed, engine, item, &outcome, error) != 0 || gt_engine_tell(timed, engine, item, &outcome, error) != 0)
		return -1;
	if (outcome.status == GT_TIMED_FAIL) {
		result->fails++;
		return 0;
	}
	if (last) {
		last[item->ordinal].served = step;
		if (outcome.effect > last[item->ordinal].effect)
			last[item->ordinal].effect = outcome.effect;
	}
	result->served++;
	return 1;
}

/* One step: removes the served lookups from the list of `n`. */
static int run_step(struct gt_timed *timed, struct gt_engine *engine, size_t *n, uint64_t step, struct gt_last *last,
		    struct gt_group_step *result, struct gt_error *error)
{
	struct gt_item *items = engine->items.items;
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		int served = gt_group_attempt(timed, engine, &items[i], step, last, result, error);
		if (served < 0)
			return -1;
		if (!served)
			items[kept++] = items[i];
	}
	*n = kept;
	return 0;
}

/* The same for lookups that are queued by bank, of which n are left: only those that get a port are tried. */
static int run_queued_step(struct gt_timed *timed, struct gt_engine *engine, size_t *n, uint64_t step, struct gt_last *last,
			   struct gt_group_step *result, struct gt_error *error)
{
	size_t tried = queues_choose(timed), kept = 0;
	uint32_t *chosen = timed->queues->chosen;

	result->conflicts = *n - tried;
	for (size_t k = 0; k < tried; k++) {
		int served = gt_group_attempt(timed, engine, &engine->items.items[chosen[k]], step, last, result, error);
		if (served < 0)
			return -1;
		if (!served)
			chosen[kept++] = chosen[k];
	}
	queues_return(timed, engine->items.items, chosen, kept);
	*n -= tried - kept;
	return 0;
}

/* If nothing was served, nothing will be before the next arrival: returns its step. With a watcher, or if every attempt is
 * emitted, no step is skipped. */
static uint64_t next_change(const struct gt_timed *timed, const struct gt_engine *engine, uint64_t step)
{
	const struct gt_flights *flights = &engine->flights;
	uint64_t next = step + 1;

	if (timed->watch || timed->config.emit == GT_EMIT_ALL || flights->head == flights->tail)
		return next;
	/* A block that arrives in this step is visible in the next. */
	uint64_t first = gt_flight_at(flights, flights->head)->arrival;
	return first > next ? first : next;
}

/* Tells those that wait for MSHR entries which lines arrive before this step. */
static int tell_arrivals(const struct gt_timed *timed, const struct gt_engine *engine, struct gt_waiting *waiting, uint64_t step,
			 struct gt_error *error)
{
	const struct gt_flights *flights = &engine->flights;

	for (uint64_t at = flights->head; at < flights->tail && gt_flight_at(flights, at)->arrival < step; at++) {
		uint64_t line = gt_flight_at(flights, at)->line;
		waiting_evict(waiting, gt_level_set_of(timed->level, line));
		if (waiting_change(waiting, line, error) != 0)
			return -1;
	}
	return 0;
}

/* One step of those that wait for entries: the others fail as they would if they were tried. */
static int run_waiting_step(struct gt_timed *timed, struct gt_engine *engine, struct gt_waiting *waiting, size_t *n, uint64_t step,
			    struct gt_last *last, struct gt_group_step *result, struct gt_error *error)
{
	const struct gt_item *item;

	waiting_begin(waiting);
	while ((item = waiting_next(waiting, timed, engine))) {
		uint64_t flights = engine->flights.tail;
		int served = gt_group_attempt(timed, engine, item, step, last, result, error);
		if (served < 0 || (served && waiting_served(waiting, item, engine->flights.tail > flights, error) != 0))
			return -1;
		if (!served)
			waiting_failed(waiting, timed, engine, item);
	}
	*n -= result->served;
	timed->counters.reservation_fails += *n - result->fails;
	result->fails = *n;
	return 0;
}

/* Serves n items that wait for MSHR entries only, from `step` on. Returns the step after the last, or UINT64_MAX with the error. */
static uint64_t run_waiting(struct gt_timed *timed, struct gt_engine *engine, size_t n, uint64_t step, struct gt_last *last,
			    struct gt_error *error)
{
	struct gt_waiting waiting;
	int result = waiting_open(&waiting, timed, engine->items.items, n, error);

	while (n > 0 && result == 0) {
		struct gt_group_step done = {0};
		result = tell_arrivals(timed, engine, &waiting, step, error) != 0 || gt_engine_advance(timed, engine, step, error) != 0
				 ? -1
				 : run_waiting_step(timed, engine, &waiting, &n, step, last, &done, error);
		uint64_t next = done.served ? step + 1 : next_change(timed, engine, step);
		timed->counters.reservation_fails += done.fails * (next - step - 1);
		engine->floor = step;
		step = next;
	}
	waiting_close(&waiting);
	return result == 0 ? step : UINT64_MAX;
}

/* Whether lookups that are left wait for nothing but entries, and so many that trying all of them in each step takes long. */
static bool wait_for_entries(const struct gt_timed *timed, size_t n)
{
	return n > MANY && !timed->limited && timed->config.timed.per_warp == GT_UNLIMITED && !timed->watch &&
	       timed->config.emit != GT_EMIT_ALL;
}

/* Ends a step, and returns the next in which anything can be served. */
static uint64_t end_step(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, const struct gt_group_step *result)
{
	uint64_t next = result->served ? step + 1 : next_change(timed, engine, step);

	timed->counters.port_conflicts += result->conflicts * (next - step);
	timed->counters.reservation_fails += result->fails * (next - step - 1);
	engine->floor = step;
	return next;
}

/* Serves the items from `step` on. Returns the step after the last, or UINT64_MAX with the error. */
static uint64_t run(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_last *last, struct gt_error *error)
{
	size_t n = engine->items.n;
	bool queued = false; /* after the first step, if the ports of all banks do not serve the rest in the next */

	while (n > 0) {
		struct gt_group_step result = {0};
		if (gt_engine_advance(timed, engine, step, error) != 0 ||
		    (queued ? run_queued_step : run_step)(timed, engine, &n, step, last, &result, error) != 0)
			return UINT64_MAX;
		if (!queued && timed->limited && n / timed->banks > timed->config.timed.ports) {
			if (queues_fill(timed, engine->items.items, n, error) != 0)
				return UINT64_MAX;
			queued = true;
		}
		step = end_step(timed, engine, step, &result);
		if (wait_for_entries(timed, n))
			return run_waiting(timed, engine, n, step, last, error);
	}
	return step;
}

/* Ends a group that began in `start`, if `next` is no error. */
static int finish(struct gt_timed *timed, struct gt_engine *engine, uint64_t start, uint64_t next)
{
	engine->items.n = 0;
	if (next == UINT64_MAX)
		return -1;
	timed->counters.stalls += next - start - 1;
	engine->clock = next;
	return 0;
}

int gt_group_run(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_last *last,
		 struct gt_error *error)
{
	if (timed->banks > 1)
		sort_by_bank(engine->items.items, engine->items.n);
	return finish(timed, engine, step, run(timed, engine, step, last, error));
}

int gt_group_continue(struct gt_timed *timed, struct gt_engine *engine, uint64_t start, const struct gt_group_step *first,
		      struct gt_error *error)
{
	size_t n = engine->items.n;
	uint64_t step = end_step(timed, engine, start, first);

	return finish(timed, engine, start,
		      wait_for_entries(timed, n) ? run_waiting(timed, engine, n, step, NULL, error)
						 : run(timed, engine, step, NULL, error));
}
