/* SPDX-License-Identifier: MIT */
/* [002] 4.2 to 4.5: the warps of a wave wait in a pool. Each scheduler serves the next access of one of them, one request a
 * step, and the warp returns after a delay proportional to the latency. A warp that finds no MSHR entry returns to the pool
 * and retries that request. */
#include <stdlib.h>
#include <string.h>

#include "cache/timed/engine.h"
#include "cache/timed/pool.h"

/* The state of a scheduler: a request of a warp, split into lookups. */
struct running {
	uint32_t warp; /* or GT_NO_WARP */
	uint8_t n, next;
	struct gt_item items[GT_PIECES_MAX];
};

struct run {
	struct gt_pool pool;
	struct running *running; /* of each scheduler */
	uint32_t running_n;
};

/* The sectors of a line that arrive in this step. They can be used already, although the order of the lines changes later;
 * this agrees with tables 3 to 5 of [002]. */
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
	event->position = slot == GT_NO_SLOT ? 0 : gt_engine_position(timed, engine, item, slot);
	if (!timed->level->geometry.depths || !read)
		return;
	if (slot != GT_NO_SLOT)
		gt_note_depths(engine->tags, slot, event->position, used, used, counters->mru);
	else
		counters->mru[0] += n;
}

/* Counts the sectors that hit in a lookup whose other sectors miss. */
static void count_part(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		       uint64_t missing)
{
	uint64_t *mru = timed->level->counters.mru, hits = item->piece.used & ~missing;

	if (!timed->level->geometry.depths || item->class != GT_CLASS_READ || hits == 0)
		return;
	if (slot != GT_NO_SLOT)
		gt_note_depths(engine->tags, slot, gt_engine_position(timed, engine, item, slot), hits, hits, mru);
	else
		mru[0] += (uint64_t)__builtin_popcountll(hits);
}

/* Whether a hit can take effect at once: nothing else changes or reads the cache before the end of the step, and no watcher
 * needs the effect as an event of its own. */
static bool is_alone(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_timed_event *event)
{
	const struct gt_flights *flights = &engine->flights;

	return event->effect == event->step && timed->config.timed.schedulers == 1 && !timed->watch &&
	       (flights->head == flights->tail || gt_flight_at(flights, flights->head)->arrival > event->step);
}

/* Adds a use that takes effect later, without an entry. */
static int add_effect(struct gt_engine *engine, const struct gt_item *item, const struct gt_timed_event *event,
		      bool changes, struct gt_error *error)
{
	struct gt_flight flight = {.arrival = event->effect, .line = item->piece.line, .uses = item->piece.used,
				   .dirty = changes ? item->piece.used : 0,
				   .request = item->request};

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
		if (is_alone(timed, engine, event) && !changes) {
			gt_level_use(timed->level, engine->tags, item->set, slot, item->request.op);
			return 0;
		}
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

/* Splits the running warp's next request into lookups. */
static void cut_request(const struct gt_timed *timed, const struct gt_engine *engine, struct running *running)
{
	const struct gt_warp *warp = &engine->wave.warps[running->warp];

	running->n = (uint8_t)gt_engine_cut(timed, &engine->wave.requests[warp->next].request, 0, running->items);
}

/* Continues after a request was served: with the next one of the access or, after the last, with a delay of the warp in
 * proportion to the time until the whole access has taken effect. */
static void go_on(const struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
		  uint64_t step)
{
	const struct gt_wave_request *requests = engine->wave.requests;
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	uint32_t an = requests[warp->next].request.an;

	warp->next = requests[warp->next].next;
	warp->piece = 0;
	if (warp->next != GT_NO_REQUEST && requests[warp->next].request.an == an) {
		cut_request(timed, engine, running);
		return;
	}
	if (warp->next != GT_NO_REQUEST) {
		double wait = timed->config.timed.delay * (double)(warp->effect - step);
		gt_pool_delay(&run->pool, running->warp, step + 1 + (uint64_t)(wait + 0.5));
	}
	warp->effect = 0;
	running->warp = GT_NO_WARP;
	run->running_n--;
}

/* One lookup of a scheduler's warp. Without a port it is tried again in the next step. */
static int serve(struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
		 uint64_t step, struct gt_error *error)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	const struct gt_item *item = &running->items[warp->piece];
	struct gt_timed_event event = gt_event_of(timed, engine, item, step);

	if (!gt_engine_port(timed, engine, item, &event)) {
		timed->counters.port_conflicts++;
		return 0;
	}
	event.status = GT_TIMED_PASSED;
	if ((gt_engine_waits(timed, item) ? look_up(timed, engine, item, &event, error)
					  : gt_engine_serve(timed, engine, item, &event, error)) != 0 ||
	    gt_engine_tell(timed, engine, item, &event, error) != 0)
		return -1;
	if (event.status == GT_TIMED_FAIL) {
		gt_pool_fail(&run->pool, running->warp);
		running->warp = GT_NO_WARP;
		run->running_n--;
		return 0;
	}
	warp->effect = event.effect > warp->effect ? event.effect : warp->effect;
	if (++warp->piece == running->n)
		go_on(timed, engine, run, running, step);
	return 0;
}

/* Every scheduler without a warp takes one. */
static void take_warps(const struct gt_timed *timed, const struct gt_engine *engine, struct run *run)
{
	for (uint32_t s = 0; s < run->pool.schedulers && run->pool.ready_n > 0; s++) {
		struct running *running = &run->running[s];
		if (running->warp != GT_NO_WARP || (running->warp = gt_pool_take(&run->pool, s)) == GT_NO_WARP)
			continue;
		run->running_n++;
		cut_request(timed, engine, running);
	}
}

static int run_pool(struct gt_timed *timed, struct gt_engine *engine, struct run *run, uint64_t step,
		    struct gt_error *error)
{
	struct gt_pool *pool = &run->pool;

	for (; run->running_n + pool->ready_n + pool->delayed_n > 0; step++) {
		if (run->running_n + pool->ready_n == 0 && gt_pool_next(pool) > step) {
			timed->counters.stalls += gt_pool_next(pool) - step;
			step = gt_pool_next(pool);
		}
		gt_pool_wake(pool, step);
		take_warps(timed, engine, run);
		if (gt_engine_advance(timed, engine, step, error) != 0)
			return -1;
		for (uint32_t s = 0; s < pool->schedulers; s++)
			if (run->running[s].warp != GT_NO_WARP &&
			    serve(timed, engine, run, &run->running[s], step, error) != 0)
				return -1;
		engine->floor = step;
	}
	engine->clock = step;
	return 0;
}

int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct run run = {0};

	gt_wave_order(&engine->wave);
	if (gt_pool_open(&run.pool, &engine->wave, config->issue, config->schedulers, error) != 0)
		return -1;
	run.running = malloc(run.pool.schedulers * sizeof *run.running);
	for (uint32_t s = 0; run.running && s < run.pool.schedulers; s++)
		run.running[s].warp = GT_NO_WARP;
	int result = run.running ? run_pool(timed, engine, &run, gt_engine_start(engine), error)
				 : gt_fail_memory(error, "the warps of a wave");
	free(run.running);
	gt_pool_close(&run.pool);
	return result;
}
