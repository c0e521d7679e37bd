/* SPDX-License-Identifier: MIT */
/* The common part of stall and requeue: misses, arrivals, counts. */
#include "cache/timed/engine.h"

#include <stdlib.h>
#include <string.h>

#include "stream/op.h"
#include "stream/status.h"

static uint64_t count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

uint32_t gt_engine_position(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot)
{
	uint32_t n = gt_tags_by_recency(engine->tags, item->set, timed->level->slots);

	for (uint32_t at = 0; at < n; at++)
		if (timed->level->slots[at] == slot)
			return at;
	return UINT32_MAX;
}

/* [002] has a separate class for the merges of [000]. */
static uint8_t status_of(const struct gt_timed *timed, const struct gt_outcome *outcome)
{
	switch (outcome->status) {
	case GT_TIMED_HIT: return GT_STATUS_HIT;
	case GT_TIMED_MISS: return GT_STATUS_MISS;
	case GT_TIMED_FAIL: return GT_STATUS_RESERVATION_FAIL;
	case GT_TIMED_MERGED:
		return timed->config.timed.on_full == GT_FULL_STALL ? GT_STATUS_MERGED : GT_STATUS_LATENCY_MISS;
	default: return outcome->found;
	}
}

static void watch_lookup(const struct gt_timed *timed, const struct gt_item *item, const struct gt_outcome *outcome)
{
	const struct gt_request *request = item->request;

	timed->watch(timed->watch_context,
		     &(struct gt_timed_event){.status = outcome->status, .step = outcome->step, .line = item->piece.line,
					      .latency = outcome->latency, .effect = outcome->effect, .busy = outcome->busy,
					      .busy_after = outcome->busy_after, .block = request->block, .an = request->an,
					      .bank = item->bank, .port = outcome->port, .position = outcome->position,
					      .warp = request->warp, .sm = request->sm, .found = outcome->found});
}

int gt_engine_show(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_outcome *outcome, struct gt_error *error)
{
	if (timed->watch)
		watch_lookup(timed, item, outcome);
	if (timed->config.emit != GT_EMIT_ALL)
		return 0;
	struct gt_outgoing row = {gt_engine_request(timed, item), status_of(timed, outcome)};
	row.request.step = outcome->step;
	return gt_engine_send(timed, engine, &row, error);
}

static void watch_effect(const struct gt_timed *timed, const struct gt_flight *flight)
{
	timed->watch(timed->watch_context,
		     &(struct gt_timed_event){.status = GT_TIMED_EFFECT, .step = flight->arrival, .line = flight->line,
					      .effect = flight->arrival, .block = flight->request.block,
					      .an = flight->request.an, .position = UINT32_MAX, .warp = flight->request.warp,
					      .sm = flight->request.sm});
}

/* Applies the first flight to the cache. */
static int take_effect(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	struct gt_flight flight = *gt_flight_at(&engine->flights, engine->flights.head);
	uint32_t slot;

	gt_flights_drop_first(&engine->flights);
	flight.request.step = flight.arrival;
	const struct gt_serving serving = {timed->level, engine->tags, flight.request, &timed->collected, error};
	if (gt_level_arrive(&serving, flight.line, flight.sectors | flight.uses, flight.used, &slot) != 0)
		return -1;
	engine->tags->dirty[slot] |= flight.dirty;
	gt_flights_present(&engine->flights, flight.line);
	if (timed->watch)
		watch_effect(timed, &flight);
	return 0;
}

int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error)
{
	struct gt_flights *flights = &engine->flights;

	if (timed->limited)
		memset(engine->ports, 0, timed->banks * sizeof *engine->ports);
	for (; flights->released < flights->tail; flights->released++) {
		const struct gt_flight *flight = gt_flight_at(flights, flights->released);
		if (flight->arrival + timed->config.timed.fill_next > step)
			break;
		engine->busy[flight->mshr_set] -= flight->holds;
		engine->held -= flight->holds;
	}
	while (flights->head < flights->tail && gt_flight_at(flights, flights->head)->arrival < step)
		if (take_effect(timed, engine, error) != 0)
			return -1;
	return 0;
}

int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_outcome *outcome, struct gt_error *error)
{
	struct gt_serving serving = {timed->level, engine->tags, gt_engine_request(timed, item), &timed->collected, error};

	serving.request.step = outcome->step;
	uint64_t first = serving.request.address, last = first + GT_LINE - 1;
	unsigned shift = timed->level->line_shift;
	for (uint64_t line = first >> shift; line <= last >> shift; line++)
		gt_flights_present(&engine->flights, line);
	return gt_level_find(&serving, &outcome->found);
}

uint32_t gt_engine_held_by(const struct gt_engine *engine, const struct gt_request *request)
{
	const struct gt_flights *flights = &engine->flights;
	uint32_t held = 0;

	for (uint64_t at = flights->released; at < flights->tail; at++) {
		const struct gt_flight *flight = gt_flight_at(flights, at);
		held += flight->holds && flight->request.block == request->block && flight->request.warp == request->warp &&
			flight->request.sm == request->sm;
	}
	return held;
}

/* Whether there is an entry for a miss: in its set, and for its warp. */
static bool has_entry(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item, uint32_t busy)
{
	const struct gt_timed_config *config = &timed->config.timed;

	return engine->admitted ||
	       (busy < config->mshr_entries &&
		(config->per_warp == GT_UNLIMITED || gt_engine_held_by(engine, item->request) < config->per_warp));
}

static void count_miss(struct gt_timed *timed, const struct gt_item *item, uint32_t slot, uint64_t missing,
		       uint64_t covered)
{
	struct gt_level_counters *counters = &timed->level->counters;
	bool read = item->class == GT_CLASS_READ;

	*(read ? &counters->reads : &counters->atomics) += count_bits(item->piece.used);
	*(read ? &counters->read_hits : &counters->atomic_hits) += count_bits(item->piece.used & ~missing);
	*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += count_bits(missing);
	timed->counters.latency_misses += count_bits(missing & covered);
	timed->counters.merged_reads += read ? count_bits(missing & covered) : 0;
}

uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine)
{
	const struct gt_level_config *config = &timed->config;
	struct gt_traffic traffic = {engine->held, config->shared ? 1 : timed->active, config->timed.below};
	uint64_t steps = gt_latency_steps(&config->timed.latency, &traffic, &engine->random);

	return steps == 0 && config->timed.on_full == GT_FULL_STALL ? 1 : steps;
}

void gt_engine_count_miss(struct gt_timed *timed, const struct gt_outcome *outcome)
{
	struct gt_timed_counters *counters = &timed->counters;

	counters->reservations++;
	counters->latency_steps += outcome->latency;
	counters->busy_entries += outcome->busy_after;
	counters->latency[gt_timed_bin(outcome->latency)]++;
	counters->mshr[gt_timed_bin(outcome->busy_after)]++;
}

/* Sends the request for sectors of a lookup's line. */
static int send_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step, uint64_t sectors,
		     struct gt_error *error)
{
	struct gt_serving serving = {timed->level, engine->tags, gt_engine_request(timed, item), &timed->collected, error};
	struct gt_outgoing row = {.request = serving.request};

	row.request.step = serving.request.step = step;
	if (!timed->direct || item->class != GT_CLASS_READ || timed->config.emit != GT_EMIT_MISSES)
		return gt_send_fill(&serving, item->piece.line, sectors);
	row.request.sectors = (uint8_t)sectors;
	row.request.full = 0;
	timed->level->counters.sent_requests++;
	timed->level->counters.sent_reads += count_bits(sectors);
	return gt_timed_collect(timed, timed->collected.rows, error) != 0 ? -1 : gt_engine_send(timed, engine, &row, error);
}

/* Sends a request for the missing sectors that are not in flight. An entry is free. */
static int reserve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, const struct gt_view *view,
		   struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	bool absent = view->slot == GT_NO_SLOT;
	uint64_t here = view->away.sectors | (absent ? 0 : engine->tags->valid[view->slot]);
	uint64_t asked = view->missing & ~view->away.sectors, brought = gt_level_groups(timed->level, asked) & ~here;
	uint64_t latency = gt_engine_latency(timed, engine);

	outcome->status = GT_TIMED_MISS;
	outcome->latency = latency;
	outcome->effect = outcome->step + latency - (config->on_full == GT_FULL_STALL);
	outcome->busy_after = ++engine->busy[item->mshr];
	engine->held++;
	gt_engine_count_miss(timed, outcome);
	timed->level->fetch.neighbours += count_bits(brought & ~asked);
	if (send_miss(timed, engine, item, outcome->step, brought, error) != 0)
		return -1;
	return gt_flights_add(&engine->flights,
			      &(struct gt_flight){.arrival = outcome->effect, .line = item->piece.line, .sectors = brought,
						  .dirty = item->class == GT_CLASS_ATOMIC ? item->piece.used : 0,
						  .mshr_set = item->mshr, .holds = true, .absent = absent,
						  .used = !absent && config->on_full == GT_FULL_STALL,
						  .request = gt_engine_request(timed, item)},
			      error);
}

int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, const struct gt_view *view,
		   struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	const struct gt_coming away = view->away;
	uint64_t missing = view->missing;

	outcome->status = GT_TIMED_FAIL;
	if ((missing & ~away.sectors) == 0) {
		if (away.entry->merges >= config->merges) {
			timed->counters.reservation_fails++;
			return 0;
		}
		away.entry->merges++;
		if (item->class == GT_CLASS_ATOMIC)
			away.entry->dirty |= item->piece.used;
		outcome->status = GT_TIMED_MERGED;
		outcome->effect = away.latest;
		outcome->latency = away.latest - outcome->step;
		timed->counters.merges++;
		count_miss(timed, item, view->slot, missing, missing);
		return 0;
	}
	if (!has_entry(timed, engine, item, outcome->busy)) {
		timed->counters.reservation_fails++;
		return 0;
	}
	count_miss(timed, item, view->slot, missing, away.sectors);
	return reserve(timed, engine, item, view, outcome, error);
}
