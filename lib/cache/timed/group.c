/* SPDX-License-Identifier: MIT */
/* [000] 4.4: the accesses that issue together use the ports of their banks, warps of smaller index first. A miss that finds
 * no MSHR entry is retried in the next step. The next accesses wait until all of these are served. */
#include <stdlib.h>

#include "cache/timed/engine.h"
#include "cache/timed/group.h"
#include "cache/timed/queues.h"
#include "cache/timed/waiting.h"

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
	view.missing &= ~engine->tags->valid[view.slot];
	if (view.away.entry && view.missing != used)
		view.away = gt_flights_to(&engine->flights, line, view.missing);
	return view;
}

/* A load, or an atomic that is executed here. */
static int look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
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
			outcome->position = gt_engine_position(timed, engine, item, slot);
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

static int serve_item(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
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
	size_t tried = gt_queues_choose(timed), kept = 0;
	uint32_t *chosen = timed->queues->chosen;

	result->conflicts = *n - tried;
	for (size_t k = 0; k < tried; k++) {
		int served = gt_group_attempt(timed, engine, &engine->items.items[chosen[k]], step, last, result, error);
		if (served < 0)
			return -1;
		if (!served)
			chosen[kept++] = chosen[k];
	}
	gt_queues_return(timed, engine->items.items, chosen, kept);
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
		gt_waiting_evict(waiting, gt_level_set_of(timed->level, line));
		if (gt_waiting_change(waiting, line, error) != 0)
			return -1;
	}
	return 0;
}

/* One step of those that wait for entries: the others fail as they would if they were tried. */
static int run_waiting_step(struct gt_timed *timed, struct gt_engine *engine, struct gt_waiting *waiting, size_t *n, uint64_t step,
			    struct gt_last *last, struct gt_group_step *result, struct gt_error *error)
{
	const struct gt_item *item;

	gt_waiting_begin(waiting);
	while ((item = gt_waiting_next(waiting, timed, engine))) {
		uint64_t flights = engine->flights.tail;
		int served = gt_group_attempt(timed, engine, item, step, last, result, error);
		if (served < 0 || (served && gt_waiting_served(waiting, item, engine->flights.tail > flights, error) != 0))
			return -1;
		if (!served)
			gt_waiting_failed(waiting, timed, engine, item);
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
	int result = gt_waiting_open(&waiting, timed, engine->items.items, n, error);

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
	gt_waiting_close(&waiting);
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
			if (gt_queues_fill(timed, engine->items.items, n, error) != 0)
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
