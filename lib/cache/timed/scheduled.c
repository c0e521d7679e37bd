/* SPDX-License-Identifier: MIT */
/* [000] 4.4: with --on-full stall, what the schedule issues in one step is served before the next issues. Most loads are served in
 * their first step: they hit where their line was found last, or join a miss of a line that the cache does not have. With one
 * bank and ports for all, these need no item. */
#include "cache/timed/engine.h"
#include "cache/timed/group.h"

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
	if (recent->tag != line + 1 || engine->tags->tag[recent->slot] != line + 1 ||
	    (used & ~engine->tags->valid[recent->slot]) != 0)
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

int gt_engine_scheduled(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
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
