/* SPDX-License-Identifier: MIT */
/* [002] 4.2 to 4.5: the warps of a wave wait in a pool. Each scheduler serves the next access of one of them, in one step or
 * a line a step, and the warp returns after a delay proportional to the latency. A warp that finds no MSHR entry returns to
 * the pool, and retries that access or line. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cache/timed/engine.h"

/* [002] 4.2 to 4.4: a lookup of a warp of the queue, whose effect comes later; and whether an access may be served at all:
 * "before a warp modifies the reuse stack" there must be MSHRs for what it misses. */

/* The sectors of a line that arrive in this step. They can be used already, although the order of the lines changes later;
 * this agrees with tables 3 to 5 of [002]. With --fill next there are none: only earlier arrivals have been released. */
static uint64_t coming_now(const struct gt_engine *engine, uint64_t line, uint64_t step)
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
		      struct gt_outcome *outcome)
{
	struct gt_level_counters *counters = &timed->level->counters;
	bool read = item->class == GT_CLASS_READ;
	uint64_t used = item->piece.used, n = (uint64_t)__builtin_popcountll(used);

	*(read ? &counters->reads : &counters->atomics) += n;
	*(read ? &counters->read_hits : &counters->atomic_hits) += n;
	if (!timed->watch && (!timed->level->geometry.depths || !read))
		return;
	outcome->position = slot == GT_NO_SLOT ? 0 : gt_tags_position(engine->tags, item->set, slot);
	if (!timed->level->geometry.depths || !read)
		return;
	if (slot != GT_NO_SLOT)
		gt_note_depths(engine->tags, slot, outcome->position, used, used, counters->mru);
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
		gt_note_depths(engine->tags, slot, gt_tags_position(engine->tags, item->set, slot), hits, hits, mru);
	else
		mru[0] += (uint64_t)__builtin_popcountll(hits);
}

/* Whether a hit can take effect at once: nothing else changes or reads the cache before the end of the step, and no watcher
 * needs the effect as an event of its own. */
static bool is_alone(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_outcome *outcome)
{
	const struct gt_flights *flights = &engine->flights;

	return outcome->effect == outcome->step && timed->config.timed.schedulers == 1 &&
	       timed->config.timed.unit == GT_UNIT_LINE && !timed->watch &&
	       (flights->head == flights->tail || gt_flight_at(flights, flights->head)->arrival > outcome->step);
}

/* Adds a use that takes effect later, without an entry. */
static int add_effect(const struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		      const struct gt_outcome *outcome, bool changes, struct gt_error *error)
{
	struct gt_flight flight = {.arrival = outcome->effect, .line = item->piece.line, .uses = item->piece.used,
				   .dirty = changes ? item->piece.used : 0,
				   .first = timed->config.timed.fill_next && outcome->status == GT_TIMED_HIT,
				   .request = gt_engine_request(timed, item)};

	return gt_flights_add(&engine->flights, &flight, error);
}

/* The sectors of a lookup that cannot be used in this step. `slot` gets that of its line. */
static uint64_t absent(const struct gt_engine *engine, const struct gt_item *item, uint64_t step, uint32_t *slot)
{
	uint64_t here = coming_now(engine, item->piece.line, step);

	*slot = gt_tags_find(engine->tags, item->set, item->piece.line);
	here |= *slot == GT_NO_SLOT ? 0 : *gt_slot_valid(engine->tags, *slot);
	return item->piece.used & ~here;
}

/* Records the use of a line that is present by a request of that op, which has been counted. */
static void use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op)
{
	slot = gt_level_touch(level, tags, set, slot, 0, 0, NULL);
	if (level->class_of[op] == GT_CLASS_STREAM)
		gt_tags_demote(tags, set, slot);
}

/* Looks up a request of the queue of warps, whose effect comes later. The outcome may be that it fails. */
static int engine_look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
			  struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	uint32_t slot;
	uint64_t missing = absent(engine, item, outcome->step, &slot);
	bool changes = item->class == GT_CLASS_ATOMIC;

	if (missing == 0) {
		outcome->status = GT_TIMED_HIT;
		outcome->latency = config->hit_latency;
		outcome->effect = outcome->step + config->hit_latency;
		count_hit(timed, engine, item, slot, outcome);
		if (is_alone(timed, engine, outcome) && !changes) {
			use(timed->level, engine->tags, item->set, slot, item->request->op);
			return 0;
		}
		return add_effect(timed, engine, item, outcome, changes, error);
	}
	const struct gt_view view = {slot, missing, gt_flights_to(&engine->flights, item->piece.line, missing)};
	if (gt_engine_miss(timed, engine, item, &view, outcome, error) != 0)
		return -1;
	if (outcome->status != GT_TIMED_FAIL)
		count_part(timed, engine, item, slot, missing);
	if (outcome->status != GT_TIMED_MERGED)
		return 0;
	if (!config->clip) {
		outcome->latency = gt_engine_latency(timed, engine, item->piece.line);
		outcome->effect = outcome->step + outcome->latency;
	}
	return add_effect(timed, engine, item, outcome, changes, error);
}

/* The sectors that a lookup has to request: neither valid, nor on their way, nor promised to one before it in its access. */
static uint64_t wanted(struct gt_engine *engine, const struct gt_item *item, uint64_t step, const struct gt_promise *promises,
		       size_t n)
{
	uint32_t slot;
	uint64_t missing = absent(engine, item, step, &slot);

	if (missing)
		missing &= ~gt_flights_to(&engine->flights, item->piece.line, missing).sectors;
	for (size_t i = 0; missing && i < n; i++)
		if (promises[i].line == item->piece.line)
			missing &= ~promises[i].sectors;
	return missing;
}

static const struct gt_item *engine_obstacle(const struct gt_timed *timed, struct gt_engine *engine, uint64_t step,
					     struct gt_promise *promises)
{
	const struct gt_timed_config *config = &timed->config.timed;
	const struct gt_item *items = engine->items.items, *obstacle = NULL;
	size_t looks = config->unit == GT_UNIT_FIRST_LANE ? 1 : engine->items.n, n = 0;
	uint32_t held = config->per_warp == GT_UNLIMITED ? 0 : gt_engine_held_by(engine, items[0].request);

	for (size_t i = 0; i < looks && !obstacle; i++) {
		uint64_t sectors = gt_engine_waits(timed, &items[i]) ? wanted(engine, &items[i], step, promises, n) : 0;
		if (sectors == 0)
			continue;
		uint32_t set = items[i].mshr;
		promises[n++] = (struct gt_promise){items[i].piece.line, gt_level_groups(timed->level, sectors), set};
		if (++engine->busy[set] > config->mshr_entries || held + n > config->per_warp)
			obstacle = &items[i];
	}
	for (size_t i = 0; i < n; i++)
		engine->busy[promises[i].set]--;
	return obstacle;
}

/* The state of a scheduler: its warp, and if it serves by lines, the warp's request, split into lookups. */
struct running {
	uint32_t warp; /* or GT_NO_WARP */
	uint8_t n;
	struct gt_request request;
	struct gt_item items[GT_PIECES_MAX];
};

struct run {
	struct gt_pool pool;
	struct running *running; /* of each scheduler */
	uint32_t running_n;
	struct gt_promise *promises; /* of an access */
	size_t promises_capacity;
};

/* Splits the running warp's next request into lookups. */
static void cut_request(struct gt_timed *timed, const struct gt_engine *engine, struct running *running)
{
	const struct gt_warp *warp = &engine->wave.warps[running->warp];

	gt_wave_unpack(warp, &warp->next, &running->request);
	running->n = (uint8_t)gt_engine_cut(timed, &running->request, 0, running->items);
}

/* After the last line of an access: the warp is delayed in proportion to the time until all of it has taken effect. With --fill
 * next what arrives comes last in a step, so a warp that waits for nothing returns before those whose data arrive. */
static void finish_access(const struct gt_timed *timed, const struct gt_engine *engine, struct run *run,
			  struct running *running, uint64_t step)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];

	if (warp->next.left > 0) {
		double wait = timed->config.timed.delay * (double)(warp->effect - step);
		bool at_once = timed->config.timed.fill_next && warp->effect == step;
		gt_pool_delay(&run->pool, running->warp, step + !at_once + (uint64_t)(wait + 0.5));
	}
	warp->effect = 0;
	running->warp = GT_NO_WARP;
	run->running_n--;
}

/* The warp found no MSHR entry. */
static void requeue(struct run *run, struct running *running)
{
	gt_pool_fail(&run->pool, running->warp);
	running->warp = GT_NO_WARP;
	run->running_n--;
}

/* One lookup of a warp, and what comes of it. */
static int serve_item(struct gt_timed *timed, struct gt_engine *engine, struct gt_warp *warp, const struct gt_item *item,
		      struct gt_outcome *outcome, struct gt_error *error)
{
	outcome->status = GT_TIMED_PASSED;
	if ((gt_engine_waits(timed, item) ? engine_look_up : gt_engine_serve)(timed, engine, item, outcome, error) != 0 ||
	    gt_engine_tell(timed, engine, item, outcome, error) != 0)
		return -1;
	if (outcome->status != GT_TIMED_FAIL && outcome->effect > warp->effect)
		warp->effect = outcome->effect;
	return 0;
}

/* Continues after a request was served: with the next one of the access, or after the last with another warp. */
static void go_on(struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
		  uint64_t step)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	const uint32_t an = running->request.an;

	gt_wave_go_on(&warp->next);
	warp->piece = 0;
	if (warp->next.left > 0 && gt_wave_next(&warp->next)->an == an)
		cut_request(timed, engine, running);
	else
		finish_access(timed, engine, run, running, step);
}

/* One lookup of a scheduler's warp. Without a port it is tried again in the next step. */
static int serve_line(struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
		      uint64_t step, struct gt_error *error)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	const struct gt_item *item = &running->items[warp->piece];
	struct gt_outcome outcome = gt_outcome_of(engine, item, step);

	if (!gt_engine_port(timed, engine, item, &outcome)) {
		timed->counters.port_conflicts++;
		return 0;
	}
	if (serve_item(timed, engine, warp, item, &outcome, error) != 0)
		return -1;
	if (outcome.status == GT_TIMED_FAIL)
		requeue(run, running);
	else if (++warp->piece == running->n)
		go_on(timed, engine, run, running, step);
	return 0;
}

/* Splits the warp's next access, from *next on, which goes behind it, into lookups, in engine->items. */
static int cut_access(struct gt_timed *timed, struct gt_engine *engine, struct run *run, const struct gt_warp *warp,
		      struct gt_wave_place *next, struct gt_error *error)
{
	struct gt_queued *queued = &engine->queued;
	struct gt_items *items = &engine->items;

	items->n = queued->n = 0;
	if (gt_engine_take_access(engine, warp, next, error) != 0 || gt_items_reserve(items, GT_PIECES_MAX * queued->n, error) != 0)
		return -1;
	for (size_t i = 0; i < queued->n; i++)
		items->n += gt_engine_cut(timed, &queued->requests[i], 0, &items->items[items->n]);
	queued->n = 0;
	struct gt_promise *promises = gt_grown_to(run->promises, items->n, &run->promises_capacity, sizeof *promises);
	if (!promises)
		return gt_fail_memory(error, "the lines of an access");
	run->promises = promises;
	return 0;
}

/* The warp returns to the pool with its access. */
static int hold_access(struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
		       const struct gt_item *obstacle, uint64_t step, struct gt_error *error)
{
	struct gt_outcome outcome = gt_outcome_of(engine, obstacle, step);

	outcome.status = GT_TIMED_FAIL;
	timed->counters.reservation_fails++;
	requeue(run, running);
	return gt_engine_tell(timed, engine, obstacle, &outcome, error);
}

/* The next access of a scheduler's warp: all its lines, or none. If no entry is taken, it is served even if it misses more lines
 * than there are entries, since it would never be otherwise. */
static int serve_access(struct gt_timed *timed, struct gt_engine *engine, struct run *run, struct running *running,
			uint64_t step, struct gt_error *error)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	struct gt_wave_place next = warp->next;

	if (cut_access(timed, engine, run, warp, &next, error) != 0)
		return -1;
	const struct gt_item *obstacle = engine_obstacle(timed, engine, step, run->promises);
	if (obstacle && engine->held > 0)
		return hold_access(timed, engine, run, running, obstacle, step, error);
	int result = 0;
	engine->admitted = true;
	for (size_t i = 0; i < engine->items.n && result == 0; i++) {
		const struct gt_item *item = &engine->items.items[i];
		struct gt_outcome outcome = gt_outcome_of(engine, item, step);
		result = serve_item(timed, engine, warp, item, &outcome, error);
	}
	engine->admitted = false;
	warp->next = next;
	finish_access(timed, engine, run, running, step);
	return result;
}

/* Every scheduler without a warp takes one. */
static void take_warps(struct gt_timed *timed, const struct gt_engine *engine, struct run *run)
{
	bool by_line = timed->config.timed.unit == GT_UNIT_LINE;

	for (uint32_t s = 0; s < run->pool.schedulers && run->pool.ready_n > 0; s++) {
		struct running *running = &run->running[s];
		if (running->warp != GT_NO_WARP || (running->warp = gt_pool_take(&run->pool, s)) == GT_NO_WARP)
			continue;
		run->running_n++;
		if (by_line)
			cut_request(timed, engine, running);
	}
}

static int run_pool(struct gt_timed *timed, struct gt_engine *engine, struct run *run, uint64_t step,
		    struct gt_error *error)
{
	int (*serve)(struct gt_timed *, struct gt_engine *, struct run *, struct running *, uint64_t, struct gt_error *) =
		timed->config.timed.unit == GT_UNIT_LINE ? serve_line : serve_access;
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

	if (gt_pool_open(&run.pool, &engine->wave, config->issue, config->schedulers, error) != 0)
		return -1;
	run.running = malloc(run.pool.schedulers * sizeof *run.running);
	for (uint32_t s = 0; run.running && s < run.pool.schedulers; s++)
		run.running[s].warp = GT_NO_WARP;
	int result = run.running ? run_pool(timed, engine, &run, gt_engine_start(engine), error)
				 : gt_fail_memory(error, "the warps of a wave");
	engine->items.n = 0;
	free(run.promises);
	free(run.running);
	gt_pool_close(&run.pool);
	return result;
}
