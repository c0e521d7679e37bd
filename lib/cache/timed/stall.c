/* SPDX-License-Identifier: MIT */
/* [000] 4.4: with --on-full stall, the accesses that issue together are served before the next ones issue. The level decides
 * which warps issue. */
#include <stdlib.h>

#include "cache/timed/engine.h"

/* ---- turns ---- */

/* Whose turn it is among the warps of a wave by algorithm 2 of [000], if the level decides which warps issue: in rounds by
 * access number, and in each by block, and by as many warps of it as there are schedulers. The scheduler of a warp without an
 * access of that number, or that still waits for its data, is idle. Warps that waited catch up in a later round. */

struct turns {
	const struct gt_wave *wave;
	uint32_t schedulers;
	uint32_t at;	/* the first warp whose turn in this round is to come */
	uint32_t round; /* access numbers up to this may issue */
};

/* The turns of an ordered wave. */
static struct turns turns_begin(const struct gt_wave *wave, uint32_t schedulers)
{
	return (struct turns){.wave = wave, .schedulers = schedulers, .at = wave->warps_n};
}

static bool is_ready(const struct gt_warp *warp, uint64_t step)
{
	return warp->next.left > 0 && warp->ready <= step;
}

static uint32_t access_of(const struct gt_warp *warp)
{
	return gt_wave_next(&warp->next)->an;
}

/* Begins the next round. False if no warp is ready. */
static bool next_round(struct turns *turns, uint64_t step)
{
	const struct gt_wave *wave = turns->wave;
	bool any = false;

	for (uint32_t i = 0; i < wave->warps_n; i++) {
		const struct gt_warp *warp = &wave->warps[i];
		if (is_ready(warp, step) && (!any || access_of(warp) < turns->round)) {
			turns->round = access_of(warp);
			any = true;
		}
	}
	turns->at = any ? 0 : wave->warps_n;
	return any;
}

static bool has_turn(const struct turns *turns, const struct gt_warp *warp, uint64_t step)
{
	return is_ready(warp, step) && access_of(warp) <= turns->round;
}

/* Puts the warps that issue together into `warps`, which has room for one a scheduler, and returns their number; 0: none is
 * ready at `step`. */
static uint32_t turns_take(struct turns *turns, uint64_t step, uint32_t *warps)
{
	const struct gt_warp *all = turns->wave->warps;
	uint32_t n = turns->wave->warps_n, taken = 0;

	while (turns->at < n && !has_turn(turns, &all[turns->at], step))
		turns->at++;
	if (turns->at == n) {
		if (!next_round(turns, step))
			return 0;
		while (!has_turn(turns, &all[turns->at], step))
			turns->at++;
	}
	const struct gt_warp *first = &all[turns->at];
	for (; turns->at < n && all[turns->at].block == first->block &&
	       all[turns->at].warp / turns->schedulers == first->warp / turns->schedulers; turns->at++)
		if (has_turn(turns, &all[turns->at], step))
			warps[taken++] = turns->at;
	return taken;
}

/* The first step at which a warp is ready; UINT64_MAX: all are done. */
static uint64_t turns_next(const struct turns *turns)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < turns->wave->warps_n; i++) {
		const struct gt_warp *warp = &turns->wave->warps[i];
		if (warp->next.left > 0 && warp->ready < next)
			next = warp->ready;
	}
	return next;
}

/* ---- the level decides which warps issue ---- */

/* A group: the warps that the schedulers take, and when each is done. */
struct group {
	uint32_t *warps;
	size_t *end; /* of the requests of each, in the engine's queue */
	struct gt_last *last;
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
	struct gt_items *items = &engine->items;
	struct gt_queued *queued = &engine->queued;

	queued->n = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		struct gt_warp *warp = &engine->wave.warps[group->warps[i]];
		group->last[i] = (struct gt_last){0};
		if (gt_engine_take_access(engine, warp, &warp->next, error) != 0)
			return -1;
		group->end[i] = queued->n;
	}
	if (gt_items_reserve(items, GT_PIECES_MAX * queued->n, error) != 0)
		return -1;
	for (uint32_t i = 0, at = 0; i < group->n; i++)
		for (; at < group->end[i]; at++)
			items->n += gt_engine_cut(timed, &queued->requests[at], i, &items->items[items->n]);
	queued->n = 0;
	return gt_group_run(timed, engine, engine->clock, group->last, error);
}

/* The step at which a warp continues: when its data has arrived. */
static uint64_t ready_at(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_last *last)
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
	struct turns turns = turns_begin(&engine->wave, timed->config.timed.schedulers);

	for (uint64_t next; (next = turns_next(&turns)) != UINT64_MAX;) {
		wait_until(timed, engine, next);
		while ((group->n = turns_take(&turns, engine->clock, group->warps)) > 0) {
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
			if (engine->wave.warps[group->warps[i]].next.left > 0)
				gt_pool_delay(pool, group->warps[i], ready_at(timed, engine, &group->last[i]));
	}
	return 0;
}

static int stall_wave(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct group group;
	struct gt_pool pool;

	engine->clock = gt_engine_start(engine);
	if (gt_pool_open(&pool, &engine->wave, config->issue, config->schedulers, error) != 0)
		return -1;
	group.warps = malloc(pool.schedulers * sizeof *group.warps);
	group.end = malloc(pool.schedulers * sizeof *group.end);
	group.last = malloc(pool.schedulers * sizeof *group.last);
	int result = !group.warps || !group.end || !group.last ? gt_fail_memory(error, "the warps of a wave")
		     : config->issue == GT_OWN_RR ? run_turns(timed, engine, &group, error)
						  : run_pool(timed, engine, &pool, &group, error);
	free(group.warps);
	free(group.end);
	free(group.last);
	gt_pool_close(&pool);
	return result;
}

/* ---- the schedule decides it ---- */

/* [000] 4.4: with --on-full stall, what the schedule issues in one step is served before the next issues. Most loads are served in
 * their first step: they hit where their line was found last, or join a miss of a line that the cache does not have. With one
 * bank and ports for all, these need no item. */

static void count_load(struct gt_timed *timed, uint64_t latency)
{
	timed->counters.lookups++;
	timed->counters.load_steps += latency;
	timed->counters.load_latency[gt_timed_bin(latency)]++;
}

/* Joins the miss in flight, if it has all sectors and takes one more. */
static bool join(struct gt_timed *timed, const struct gt_coming *away, uint64_t used, uint64_t step)
{
	struct gt_level_counters *counters = &timed->level->counters;
	uint64_t n = gt_bits_of_4[used];

	if (!away->entry->absent || (used & ~away->sectors) != 0 || away->entry->merges >= timed->config.timed.merges)
		return false;
	away->entry->merges++;
	counters->reads += n;
	counters->line_misses += n;
	timed->counters.merges++;
	timed->counters.latency_misses += n;
	timed->counters.merged_reads += n;
	count_load(timed, away->latest - step);
	return true;
}

/* Serves a plain load if that is simple. */
static bool serve_load(struct gt_timed *timed, struct gt_engine *engine, const struct gt_request *request, uint64_t step)
{
	uint64_t line = request->address / GT_LINE, used = request->sectors & 15;
	const struct gt_coming away = gt_flights_to(&engine->flights, line, used);

	if (away.entry)
		return join(timed, &away, used, step);
	const struct gt_recent *recent = &timed->recent[gt_recent_place(line)];
	if (recent->tag != line + 1 || *gt_slot_tag(engine->tags, recent->slot) != line + 1 ||
	    (used & ~*gt_slot_valid(engine->tags, recent->slot)) != 0)
		return false;
	gt_engine_hit(timed, engine, recent->set, recent->slot, used);
	timed->counters.hit_lookups++;
	count_load(timed, timed->config.timed.hit_latency);
	return true;
}

/* Tries the lookups of a request in their first step; those that are not served become items. */
static int try_first(struct gt_timed *timed, struct gt_engine *engine, const struct gt_request *request, uint64_t step,
		     struct gt_group_step *result, struct gt_error *error)
{
	struct gt_items *items = &engine->items;

	if (gt_engine_plain(timed, request) && serve_load(timed, engine, request, step)) {
		result->served++;
		return 0;
	}
	if (gt_items_reserve(items, GT_PIECES_MAX, error) != 0)
		return -1;
	gt_engine_cut(timed, request, 0, &items->items[items->n]);
	int served = gt_group_attempt(timed, engine, &items->items[items->n], step, NULL, result, error);
	items->n += served == 0;
	return served < 0 ? -1 : 0;
}

/* Serves n requests that issue together, without items where it can. */
static int serve_direct(struct gt_timed *timed, struct gt_engine *engine, const struct gt_request *requests, size_t n,
			struct gt_error *error)
{
	uint64_t step = gt_engine_start(engine);
	struct gt_group_step result = {0};

	if (gt_engine_advance(timed, engine, step, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (try_first(timed, engine, &requests[i], step, &result, error) != 0)
			return -1;
	return gt_group_continue(timed, engine, step, &result, error);
}

static bool same_warp(const struct gt_request *request, const struct gt_request *other)
{
	return request->block == other->block && request->warp == other->warp && request->sm == other->sm;
}

/* Serves n requests that issue together. */
static int serve_group(struct gt_timed *timed, struct gt_engine *engine, const struct gt_request *requests, size_t n,
		       struct gt_error *error)
{
	struct gt_items *items = &engine->items;
	uint32_t ordinal = 0;

	for (size_t i = 0; i < n; i++) {
		ordinal += i > 0 && !same_warp(&requests[i], &requests[i - 1]);
		if (gt_items_reserve(items, GT_PIECES_MAX, error) != 0)
			return -1;
		items->n += gt_engine_cut(timed, &requests[i], ordinal, &items->items[items->n]);
	}
	return gt_group_run(timed, engine, gt_engine_start(engine), NULL, error);
}

static int stall_scheduled(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	const struct gt_request *requests = engine->queued.requests;
	bool direct = timed->direct && !timed->watch;

	for (size_t first = 0, end = 0; first < engine->queued.n; first = end) {
		while (end < engine->queued.n && requests[end].step == requests[first].step)
			end++;
		engine->group_step = requests[first].step;
		if ((direct ? serve_direct : serve_group)(timed, engine, requests + first, end - first, error) != 0)
			return -1;
	}
	engine->queued.n = 0;
	return 0;
}

int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	if (engine->queued.n > 0 && stall_scheduled(timed, engine, error) != 0)
		return -1;
	return engine->wave.n > 0 ? stall_wave(timed, engine, error) : 0;
}
