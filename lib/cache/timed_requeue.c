/* SPDX-License-Identifier: MIT */
/* [002] 4.2 to 4.5: the warps of a wave wait in a queue, the first serves its next access, one request
 * a step, and comes back after a time that grows with the latency; a warp that finds no MSHR entry
 * goes to the end of the queue and tries that request again. */
#include <stdlib.h>
#include <string.h>

#include "cache/timed_engine.h"

struct warp {
	size_t next, end; /* of its requests in the engine's items */
	uint64_t effect;  /* the latest of the requests of its access so far */
	uint64_t ready;	  /* the step from which it stands in the queue, while it is delayed */
	uint64_t order;	  /* in which warps were delayed */
};

/* The warps of a wave. Each stands in the queue, among the delayed, or is done. */
struct pool {
	struct warp *warps;
	size_t n;
	size_t *queue; /* a ring of n */
	size_t first, queued;
	size_t *delayed; /* a heap by (ready, order) */
	size_t delayed_n;
	uint64_t delays;
};

static bool sooner(const struct pool *pool, size_t left, size_t right)
{
	const struct warp *a = &pool->warps[pool->delayed[left]], *b = &pool->warps[pool->delayed[right]];

	return a->ready != b->ready ? a->ready < b->ready : a->order < b->order;
}

static void swap(size_t *left, size_t *right)
{
	size_t kept = *left;

	*left = *right;
	*right = kept;
}

static void delay(struct pool *pool, size_t warp, uint64_t ready)
{
	size_t at = pool->delayed_n++;

	pool->warps[warp].ready = ready;
	pool->warps[warp].order = pool->delays++;
	pool->delayed[at] = warp;
	for (; at > 0 && sooner(pool, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(&pool->delayed[at], &pool->delayed[(at - 1) / 2]);
}

static size_t first_delayed(struct pool *pool)
{
	size_t warp = pool->delayed[0], at = 0;

	pool->delayed[0] = pool->delayed[--pool->delayed_n];
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < pool->delayed_n; child++)
			if (sooner(pool, child, least))
				least = child;
		if (least == at)
			return warp;
		swap(&pool->delayed[at], &pool->delayed[least]);
		at = least;
	}
}

static void enqueue(struct pool *pool, size_t warp)
{
	pool->queue[(pool->first + pool->queued++) % pool->n] = warp;
}

static int by_warp(const void *left, const void *right)
{
	const struct gt_item *a = left, *b = right;

	if (a->row.block != b->row.block)
		return a->row.block < b->row.block ? -1 : 1;
	if (a->row.warp != b->row.warp)
		return a->row.warp < b->row.warp ? -1 : 1;
	return a->ordinal < b->ordinal ? -1 : 1;
}

static bool same_warp(const struct gt_item *a, const struct gt_item *b)
{
	return a->row.block == b->row.block && a->row.warp == b->row.warp;
}

/* The wave's warps, in order of block and index, each with its requests as they came. */
static int gather(struct gt_engine *engine, struct pool *pool, struct gt_error *error)
{
	struct gt_item *items = engine->items.items;
	size_t n = engine->items.n, warps = 0;

	for (size_t i = 0; i < n; i++)
		items[i].ordinal = (uint32_t)i;
	qsort(items, n, sizeof *items, by_warp);
	for (size_t i = 0; i < n; i++)
		warps += i == 0 || !same_warp(&items[i], &items[i - 1]);
	*pool = (struct pool){.warps = calloc(warps, sizeof *pool->warps), .n = warps,
			      .queue = malloc(warps * sizeof *pool->queue),
			      .delayed = malloc(warps * sizeof *pool->delayed)};
	if (!pool->warps || !pool->queue || !pool->delayed)
		return gt_fail_memory(error, "the warps of a wave");
	warps = 0;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !same_warp(&items[i], &items[i - 1])) {
			pool->warps[warps] = (struct warp){.next = i};
			enqueue(pool, warps++);
		}
		pool->warps[warps - 1].end = i + 1;
	}
	return 0;
}

static uint32_t position_of(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot)
{
	uint32_t n = gt_tags_by_recency(engine->tags, item->set, timed->level->slots), at = 0;

	while (at < n && timed->level->slots[at] != slot)
		at++;
	return at;
}

/* The sectors of a line that come in this step: they can be used, though the order of the lines
 * changes after. That is how tables 3 to 5 of [002] agree. */
static uint64_t coming_now(struct gt_engine *engine, uint64_t line, uint64_t step)
{
	const struct gt_flights *flights = &engine->flights;
	uint64_t sectors = 0;

	for (uint64_t at = flights->head; at < flights->released; at++) {
		const struct gt_flight *flight = gt_flight_at(flights, at);
		if (flight->line == line && flight->arrival == step)
			sectors |= flight->sectors;
	}
	return sectors;
}

static void count_hit(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		      struct gt_timed_event *event)
{
	struct gt_level_counters *counters = &timed->level->counters;
	bool read = item->class == GT_CLASS_READ;
	uint64_t used = item->piece.used, n = (uint64_t)__builtin_popcountll(used);

	*(read ? &counters->reads : &counters->atomics) += n;
	*(read ? &counters->read_hits : &counters->atomic_hits) += n;
	event->position = slot == GT_NO_SLOT ? 0 : position_of(timed, engine, item, slot);
	if (!timed->level->geometry.depths || !read)
		return;
	if (slot != GT_NO_SLOT)
		gt_note_depths(engine->tags, slot, event->position, used, used, counters->mru);
	else
		counters->mru[0] += n;
}

/* A part of a line hits where another misses. */
static void count_part(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		       uint64_t missing)
{
	uint64_t *mru = timed->level->counters.mru, hits = item->piece.used & ~missing;

	if (!timed->level->geometry.depths || item->class != GT_CLASS_READ || hits == 0)
		return;
	if (slot != GT_NO_SLOT)
		gt_note_depths(engine->tags, slot, position_of(timed, engine, item, slot), hits, hits, mru);
	else
		mru[0] += (uint64_t)__builtin_popcountll(hits);
}

/* A use that is still to take effect, without an entry. */
static int add_effect(struct gt_engine *engine, const struct gt_item *item, const struct gt_timed_event *event,
		      bool changes, struct gt_error *error)
{
	struct gt_flight flight = {.arrival = event->effect, .line = item->piece.line, .uses = item->piece.used,
				   .dirty = changes ? item->piece.used : 0,
				   .cause = {.block = item->row.block, .an = item->row.an, .pc = item->row.pc,
					     .warp = item->row.warp, .sm = item->sm, .op = item->row.op}};

	return gt_flights_add(&engine->flights, &flight, error);
}

static int look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   struct gt_timed_event *event, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	uint32_t slot = gt_tags_find(engine->tags, item->set, item->piece.line);
	uint64_t here = coming_now(engine, item->piece.line, event->step);
	bool changes = item->class == GT_CLASS_ATOMIC;

	here |= slot == GT_NO_SLOT ? 0 : engine->tags->valid[slot];
	uint64_t missing = item->piece.used & ~here;
	if (missing == 0) {
		event->status = GT_TIMED_HIT;
		event->latency = config->hit_latency;
		event->effect = event->step + config->hit_latency;
		count_hit(timed, engine, item, slot, event);
		return add_effect(engine, item, event, changes, error);
	}
	if (gt_engine_miss(timed, engine, item, slot, missing, event, error) != 0)
		return -1;
	if (event->status != GT_TIMED_FAIL)
		count_part(timed, engine, item, slot, missing);
	if (event->status != GT_TIMED_MERGED)
		return 0;
	if (!config->clip) {
		event->latency = gt_engine_latency(timed, engine);
		event->effect = event->step + event->latency;
	}
	return add_effect(engine, item, event, changes, error);
}

/* The warp at the head serves its next request. Done with the access, it is delayed in proportion
 * to the time until all of it has taken effect. */
static int serve_warp(struct gt_timed *timed, struct gt_engine *engine, struct pool *pool, size_t *running,
		      uint64_t step, struct gt_error *error)
{
	size_t number = *running;
	struct warp *warp = &pool->warps[number];
	const struct gt_item *item = &engine->items.items[warp->next];
	struct gt_timed_event event = gt_event_of(timed, engine, item, step);
	bool back = timed->config.write == GT_WRITE_BACK;
	bool waits = item->class == GT_CLASS_READ || (item->class == GT_CLASS_ATOMIC && back);

	event.status = GT_TIMED_PASSED;
	if ((waits ? look_up(timed, engine, item, &event, error) : gt_engine_serve(timed, engine, item, &event, error)) != 0 ||
	    gt_engine_tell(timed, engine, item, &event, error) != 0)
		return -1;
	if (event.status == GT_TIMED_FAIL) {
		*running = SIZE_MAX;
		enqueue(pool, number);
		return 0;
	}
	warp->effect = event.effect > warp->effect ? event.effect : warp->effect;
	warp->next++;
	if (warp->next < warp->end && item[1].row.an == item->row.an)
		return 0;
	*running = SIZE_MAX;
	if (warp->next == warp->end)
		return 0;
	double wait = timed->config.timed.delay * (double)(warp->effect - step);
	delay(pool, number, step + 1 + (uint64_t)(wait + 0.5));
	warp->effect = 0;
	return 0;
}

static int run_pool(struct gt_timed *timed, struct gt_engine *engine, struct pool *pool, uint64_t *clock,
		    struct gt_error *error)
{
	size_t running = SIZE_MAX;

	for (uint64_t step = *clock;; step++) {
		if (running == SIZE_MAX && pool->queued == 0 && pool->delayed_n > 0 &&
		    pool->warps[pool->delayed[0]].ready > step) {
			uint64_t ready = pool->warps[pool->delayed[0]].ready;
			timed->counters.stalls += ready - step;
			step = ready;
		}
		while (pool->delayed_n > 0 && pool->warps[pool->delayed[0]].ready <= step)
			enqueue(pool, first_delayed(pool));
		if (running == SIZE_MAX && pool->queued == 0) {
			*clock = step;
			return 0;
		}
		if (running == SIZE_MAX) {
			running = pool->queue[pool->first];
			pool->first = (pool->first + 1) % pool->n;
			pool->queued--;
		}
		if (gt_engine_advance(timed, engine, step, error) != 0 ||
		    serve_warp(timed, engine, pool, &running, step, error) != 0)
			return -1;
		engine->floor = step;
	}
}

int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	struct pool pool;
	uint64_t start = engine->group_step > engine->clock ? engine->group_step : engine->clock;

	timed->sender = engine;
	timed->counters.lookups += engine->items.n;
	int result = gather(engine, &pool, error);
	if (result == 0)
		result = run_pool(timed, engine, &pool, &start, error);
	engine->clock = start;
	engine->items.n = 0;
	free(pool.warps);
	free(pool.queue);
	free(pool.delayed);
	return result == 0 ? timed->collected.flush(timed->collected.context, timed->collected.rows, error) : -1;
}
