/* SPDX-License-Identifier: MIT */
/* [000] 4.4: the accesses that issue together go through the ports of their banks, warps of smaller
 * index first; a miss that finds no MSHR entry tries again in the next step; what comes next waits
 * until all of them are served. */
#include <stdlib.h>

#include "cache/timed_engine.h"
#include "stream/op.h"

/* What a lookup waits for, in a step that served none. */
struct step_result {
	size_t served;
	uint64_t fails, conflicts;
};

/* Within a warp, by bank: [000] table 3. Runs of a warp are short, and mostly in order. */
static void sort_by_bank(struct gt_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct gt_item item = items[i];
		size_t at = i;
		for (; at > 0 && items[at - 1].ordinal == item.ordinal && items[at - 1].bank > item.bank; at--)
			items[at] = items[at - 1];
		if (at != i)
			items[at] = item;
	}
}

/* Where a line's recency stands, for those who watch. */
static uint32_t position_of(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot)
{
	uint32_t n = gt_tags_by_recency(engine->tags, item->set, timed->level->slots);

	for (uint32_t at = 0; at < n; at++)
		if (timed->level->slots[at] == slot)
			return at;
	return UINT32_MAX;
}

/* A load, or an atomic that is done here. */
static int look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   struct gt_timed_event *event, struct gt_error *error)
{
	uint32_t slot = gt_tags_find(engine->tags, item->set, item->piece.line);
	uint64_t missing = item->piece.used & ~(slot == GT_NO_SLOT ? 0 : engine->tags->valid[slot]);

	if (missing == 0 || timed->instant) {
		event->status = missing ? GT_TIMED_MISS : GT_TIMED_HIT;
		event->latency = missing ? 0 : timed->config.timed.hit_latency;
		if (timed->watch && slot != GT_NO_SLOT)
			event->position = position_of(timed, engine, item, slot);
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
	bool back = timed->config.write == GT_WRITE_BACK;

	if (item->class == GT_CLASS_READ || (item->class == GT_CLASS_ATOMIC && back))
		return look_up(timed, engine, item, event, error);
	event->status = GT_TIMED_PASSED;
	return gt_engine_serve(timed, engine, item, event, error);
}

/* One step: what is served leaves the list, in which `n` lookups wait. */
static int run_step(struct gt_timed *timed, struct gt_engine *engine, size_t *n, uint64_t step,
		    struct step_result *result, struct gt_error *error)
{
	struct gt_item *items = engine->items.items;
	size_t kept = 0;

	*result = (struct step_result){0};
	if (timed->limited)
		memset(engine->ports, 0, timed->banks * sizeof *engine->ports);
	for (size_t i = 0; i < *n; i++) {
		struct gt_item *item = &items[i];
		struct gt_timed_event event = gt_event_of(timed, engine, item, step);
		event.status = GT_TIMED_FAIL;
		if (timed->limited && item->class != GT_CLASS_BYPASS) {
			event.port = engine->ports[item->bank];
			if (event.port == timed->config.timed.ports) {
				result->conflicts++;
				items[kept++] = *item;
				continue;
			}
			engine->ports[item->bank]++;
		}
		if (serve_item(timed, engine, item, &event, error) != 0 ||
		    gt_engine_tell(timed, engine, item, &event, error) != 0)
			return -1;
		if (event.status == GT_TIMED_FAIL) {
			result->fails++;
			items[kept++] = *item;
		}
	}
	result->served = *n - kept;
	*n = kept;
	return 0;
}

/* Nothing was served, so nothing will be before the next arrival: its step. Who watches sees all,
 * and so does who takes every attempt. */
static uint64_t next_change(const struct gt_timed *timed, const struct gt_engine *engine, uint64_t step)
{
	const struct gt_flights *flights = &engine->flights;
	uint64_t next = step + 1;

	if (timed->watch || timed->config.emit == GT_EMIT_ALL || flights->head == flights->tail)
		return next;
	/* A block that came in this step is seen in the next. */
	uint64_t first = gt_flight_at(flights, flights->head)->arrival;
	return first > next ? first : next;
}

int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	size_t n = engine->items.n;
	uint64_t step = engine->group_step > engine->clock ? engine->group_step : engine->clock, start = step;
	struct step_result result;

	timed->sender = engine;
	timed->counters.lookups += n;
	if (timed->banks > 1)
		sort_by_bank(engine->items.items, n);
	while (n > 0) {
		if (gt_engine_advance(timed, engine, step, error) != 0 ||
		    run_step(timed, engine, &n, step, &result, error) != 0)
			return -1;
		uint64_t next = result.served ? step + 1 : next_change(timed, engine, step);
		timed->counters.port_conflicts += result.conflicts * (next - step);
		timed->counters.reservation_fails += result.fails * (next - step - 1);
		engine->floor = step;
		step = next;
	}
	timed->counters.stalls += step - start - 1;
	engine->clock = step;
	engine->items.n = 0;
	return timed->collected.flush(timed->collected.context, timed->collected.rows, error);
}
