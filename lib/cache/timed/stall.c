/* SPDX-License-Identifier: MIT */
/* [000] 4.4: with --on-full stall, the accesses that issue together are served before the next ones issue. The level decides
 * which warps issue. */
#include <stdlib.h>

#include "cache/timed/engine.h"
#include "cache/timed/group.h"
#include "cache/timed/pool.h"
#include "cache/timed/turns.h"

/* A group: the warps that the schedulers take, and when each is done. */
struct group {
	uint32_t *warps;
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
	const struct gt_wave_request *requests = engine->wave.requests;

	for (uint32_t i = 0; i < group->n; i++) {
		struct gt_warp *warp = &engine->wave.warps[group->warps[i]];
		uint32_t an = requests[warp->next].request.an;
		group->last[i] = (struct gt_last){0};
		for (; warp->next != GT_NO_REQUEST && requests[warp->next].request.an == an; warp->next = requests[warp->next].next) {
			if (gt_items_reserve(&engine->items, GT_PIECES_MAX, error) != 0)
				return -1;
			engine->items.n += gt_engine_cut(timed, &requests[warp->next].request, i,
							 &engine->items.items[engine->items.n]);
		}
	}
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
