/* SPDX-License-Identifier: MIT */
/* [002] 4.2 to 4.5: the warps of a wave wait in a pool. Each scheduler serves the next access of one of them, in one step or
 * a line a step, and the warp returns after a delay proportional to the latency. A warp that finds no MSHR entry returns to
 * the pool, and retries that access or line. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cache/timed/engine.h"
#include "cache/timed/pool.h"

/* The state of a scheduler: its warp, and if it serves by lines, the warp's request, split into lookups. */
struct running {
	uint32_t warp; /* or GT_NO_WARP */
	uint8_t n, next;
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

	running->n = (uint8_t)gt_engine_cut(timed, &engine->wave.requests[warp->next].request, 0, running->items);
}

/* After the last line of an access: the warp is delayed in proportion to the time until all of it has taken effect. With --fill
 * next what arrives comes last in a step, so a warp that waits for nothing returns before those whose data arrive. */
static void finish_access(const struct gt_timed *timed, const struct gt_engine *engine, struct run *run,
			  struct running *running, uint64_t step)
{
	struct gt_warp *warp = &engine->wave.warps[running->warp];

	if (warp->next != GT_NO_REQUEST) {
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
	if ((gt_engine_waits(timed, item) ? gt_engine_look_up : gt_engine_serve)(timed, engine, item, outcome, error) != 0 ||
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
	const struct gt_wave_request *requests = engine->wave.requests;
	struct gt_warp *warp = &engine->wave.warps[running->warp];
	uint32_t an = requests[warp->next].request.an;

	warp->next = requests[warp->next].next;
	warp->piece = 0;
	if (warp->next != GT_NO_REQUEST && requests[warp->next].request.an == an)
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

/* Splits the warp's next access into lookups, in engine->items. `next` gets its first request after it. */
static int cut_access(struct gt_timed *timed, struct gt_engine *engine, struct run *run, const struct gt_warp *warp,
		      uint32_t *next, struct gt_error *error)
{
	const struct gt_wave_request *requests = engine->wave.requests;
	uint32_t an = requests[warp->next].request.an;
	struct gt_items *items = &engine->items;

	items->n = 0;
	for (*next = warp->next; *next != GT_NO_REQUEST && requests[*next].request.an == an; *next = requests[*next].next) {
		if (gt_items_reserve(items, GT_PIECES_MAX, error) != 0)
			return -1;
		items->n += gt_engine_cut(timed, &requests[*next].request, 0, &items->items[items->n]);
	}
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
	uint32_t next;

	if (cut_access(timed, engine, run, warp, &next, error) != 0)
		return -1;
	const struct gt_item *obstacle = gt_engine_obstacle(timed, engine, step, run->promises);
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

	gt_wave_order(&engine->wave);
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
