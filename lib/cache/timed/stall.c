/* SPDX-License-Identifier: MIT */
/* [000] 4.4: the accesses that issue together use the ports of their banks, warps of smaller index first. A miss that finds
 * no MSHR entry is retried in the next step. The next accesses wait until all of these are served. */
#include <stdlib.h>

#include "cache/timed/engine.h"
#include "cache/timed/pool.h"
#include "cache/timed/queues.h"
#include "cache/timed/turns.h"
#include "stream/op.h"

/* What lookups wait for, in a step that served none. */
struct step_result {
	size_t served;
	uint64_t fails, conflicts;
};

/* For a warp in a group: the step at which its last lookup was served, and that at which the latest takes effect. */
struct last {
	uint64_t served, effect;
};

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

/* A load, or an atomic that is executed here. */
static int look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   struct gt_timed_event *event, struct gt_error *error)
{
	uint32_t slot = gt_tags_find(engine->tags, item->set, item->piece.line);
	uint64_t missing = item->piece.used & ~(slot == GT_NO_SLOT ? 0 : engine->tags->valid[slot]);

	if (missing == 0 || timed->instant) {
		event->status = missing ? GT_TIMED_MISS : GT_TIMED_HIT;
		event->latency = missing ? 0 : timed->config.timed.hit_latency;
		if (missing)
			gt_engine_count_miss(timed, event);
		event->effect += event->latency > 0 ? event->latency - 1 : 0;
		if (timed->watch && slot != GT_NO_SLOT)
			event->position = gt_engine_position(timed, engine, item, slot);
		return gt_engine_serve(timed, engine, item, event, error);
	}
	if (gt_engine_miss(timed, engine, item, slot, missing, event, error) != 0)
		return -1;
	if (event->status != GT_TIMED_FAIL && slot != GT_NO_SLOT)
		gt_level_touch(timed->level, engine->tags, item->set, slot, item->piece.used & ~missing,
			       item->piece.used, item->class == GT_CLASS_READ ? timed->level->counters.mru : NULL);
	return 0;
}

static int serve_item(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		      struct gt_timed_event *event, struct gt_error *error)
{
	if (gt_engine_waits(timed, item))
		return look_up(timed, engine, item, event, error);
	event->status = GT_TIMED_PASSED;
	return gt_engine_serve(timed, engine, item, event, error);
}

/* Tries one lookup. `last`, if not NULL, gets for each warp when its last lookup was served and takes effect. Returns whether it
 * was served, or -1 with the error. */
static int attempt(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step,
		   struct last *last, struct step_result *result, struct gt_error *error)
{
	struct gt_timed_event event = gt_event_of(timed, engine, item, step);

	event.status = GT_TIMED_FAIL;
	if (!gt_engine_port(timed, engine, item, &event)) {
		result->conflicts++;
		return 0;
	}
	if (serve_item(timed, engine, item, &event, error) != 0 || gt_engine_tell(timed, engine, item, &event, error) != 0)
		return -1;
	if (event.status == GT_TIMED_FAIL) {
		result->fails++;
		return 0;
	}
	if (last) {
		last[item->ordinal].served = step;
		if (event.effect > last[item->ordinal].effect)
			last[item->ordinal].effect = event.effect;
	}
	result->served++;
	return 1;
}

/* One step: removes the served lookups from the list of `n`. */
static int run_step(struct gt_timed *timed, struct gt_engine *engine, size_t *n, uint64_t step, struct last *last,
		    struct step_result *result, struct gt_error *error)
{
	struct gt_item *items = engine->items.items;
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		int served = attempt(timed, engine, &items[i], step, last, result, error);
		if (served < 0)
			return -1;
		if (!served)
			items[kept++] = items[i];
	}
	*n = kept;
	return 0;
}

/* The same for lookups that are queued by bank, of which n are left: only those that get a port are tried. */
static int run_queued_step(struct gt_timed *timed, struct gt_engine *engine, size_t *n, uint64_t step, struct last *last,
			   struct step_result *result, struct gt_error *error)
{
	size_t tried = gt_queues_choose(timed), kept = 0;
	uint32_t *chosen = timed->queues->chosen;

	result->conflicts = *n - tried;
	for (size_t k = 0; k < tried; k++) {
		int served = attempt(timed, engine, &engine->items.items[chosen[k]], step, last, result, error);
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

/* Serves the items, from `step` on. */
static int run_group(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct last *last,
		     struct gt_error *error)
{
	size_t n = engine->items.n;
	uint64_t start = step;
	bool queued = false; /* after the first step, if the ports of all banks do not serve the rest in the next */

	if (timed->banks > 1)
		sort_by_bank(engine->items.items, n);
	while (n > 0) {
		struct step_result result = {0};
		if (gt_engine_advance(timed, engine, step, error) != 0 ||
		    (queued ? run_queued_step : run_step)(timed, engine, &n, step, last, &result, error) != 0)
			return -1;
		if (!queued && timed->limited && n / timed->banks > timed->config.timed.ports) {
			if (gt_queues_fill(timed, engine->items.items, n, error) != 0)
				return -1;
			queued = true;
		}
		uint64_t next = result.served ? step + 1 : next_change(timed, engine, step);
		timed->counters.port_conflicts += result.conflicts * (next - step);
		timed->counters.reservation_fails += result.fails * (next - step - 1);
		engine->floor = step;
		step = next;
	}
	timed->counters.stalls += step - start - 1;
	engine->clock = step;
	engine->items.n = 0;
	return 0;
}

int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	return run_group(timed, engine, gt_engine_start(engine), NULL, error);
}

/* ---- the level decides which warps issue ---- */

/* A group: the warps that the schedulers take, and when each is done. */
struct group {
	uint32_t *warps;
	struct last *last;
	uint32_t n;
};

static int by_place(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Takes a warp of each scheduler. Warps of smaller index go first ([000] 4.4). */
static void take_warps(struct gt_pool *pool, struct group *group)
{
	group->n = 0;
	for (uint32_t s = 0; s < pool->schedulers; s++) {
		uint32_t warp = gt_pool_take(pool, s);
		if (warp != GT_NO_WARP)
			group->warps[group->n++] = warp;
	}
	qsort(group->warps, group->n, sizeof *group->warps, by_place);
}

/* Serves the next access of each warp of a group. */
static int run_warps(struct gt_timed *timed, struct gt_engine *engine, struct group *group, struct gt_error *error)
{
	const struct gt_wave_request *requests = engine->wave.requests;

	for (uint32_t i = 0; i < group->n; i++) {
		struct gt_warp *warp = &engine->wave.warps[group->warps[i]];
		uint32_t an = requests[warp->next].request.an;
		group->last[i] = (struct last){0};
		for (; warp->next != GT_NO_REQUEST && requests[warp->next].request.an == an; warp->next = requests[warp->next].next) {
			if (gt_items_reserve(&engine->items, GT_PIECES_MAX, error) != 0)
				return -1;
			engine->items.n += gt_engine_cut(timed, &requests[warp->next].request, i,
							 &engine->items.items[engine->items.n]);
		}
	}
	return run_group(timed, engine, engine->clock, group->last, error);
}

/* The step at which a warp continues: when its data has arrived. */
static uint64_t ready_at(const struct gt_timed *timed, const struct gt_engine *engine, const struct last *last)
{
	double wait = timed->config.timed.delay * (double)(last->effect - last->served);
	uint64_t ready = last->served + 1 + (uint64_t)(wait + 0.5);

	return ready > engine->clock ? ready : engine->clock;
}

/* Waits until a step at which a warp can continue. */
static void wait_until(struct gt_timed *timed, struct gt_engine *engine, uint64_t step)
{
	if (step <= engine->clock)
		return;
	timed->counters.stalls += step - engine->clock;
	engine->clock = step;
}

/* By algorithm 2 of [000]. */
static int run_turns(struct gt_timed *timed, struct gt_engine *engine, struct group *group, struct gt_error *error)
{
	struct gt_turns turns = gt_turns_begin(&engine->wave, timed->config.timed.schedulers);

	for (uint64_t next; (next = gt_turns_next(&turns)) != UINT64_MAX;) {
		wait_until(timed, engine, next);
		while ((group->n = gt_turns_take(&turns, engine->clock, group->warps)) > 0) {
			if (run_warps(timed, engine, group, error) != 0)
				return -1;
			for (uint32_t i = 0; i < group->n; i++)
				engine->wave.warps[group->warps[i]].ready = ready_at(timed, engine, &group->last[i]);
		}
	}
	return 0;
}

/* Each scheduler by itself. */
static int run_pool(struct gt_timed *timed, struct gt_engine *engine, struct gt_pool *pool, struct group *group,
		    struct gt_error *error)
{
	while (pool->ready_n + pool->delayed_n > 0) {
		if (pool->ready_n == 0)
			wait_until(timed, engine, gt_pool_next(pool));
		gt_pool_wake(pool, engine->clock);
		take_warps(pool, group);
		if (run_warps(timed, engine, group, error) != 0)
			return -1;
		for (uint32_t i = 0; i < group->n; i++)
			if (engine->wave.warps[group->warps[i]].next != GT_NO_REQUEST)
				gt_pool_delay(pool, group->warps[i], ready_at(timed, engine, &group->last[i]));
	}
	return 0;
}

int gt_engine_stall_wave(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct group group;
	struct gt_pool pool;

	gt_wave_order(&engine->wave);
	engine->clock = gt_engine_start(engine);
	if (gt_pool_open(&pool, &engine->wave, config->issue, config->schedulers, error) != 0)
		return -1;
	group.warps = malloc(pool.schedulers * sizeof *group.warps);
	group.last = malloc(pool.schedulers * sizeof *group.last);
	int result = !group.warps || !group.last ? gt_fail_memory(error, "the warps of a wave")
		     : config->issue == GT_OWN_RR ? run_turns(timed, engine, &group, error)
						  : run_pool(timed, engine, &pool, &group, error);
	free(group.warps);
	free(group.last);
	gt_pool_close(&pool);
	return result;
}
