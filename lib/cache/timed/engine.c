/* SPDX-License-Identifier: MIT */
/* The common part of stall and requeue: misses, arrivals, counts. */
#include "cache/timed/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/op.h"
#include "stream/status.h"

static uint64_t count_bits(uint64_t mask)
{
	return (uint64_t)__builtin_popcountll(mask);
}

int gt_items_reserve(struct gt_items *items, size_t more, struct gt_error *error)
{
	struct gt_item *larger = gt_grown_to(items->items, items->n + more, &items->capacity, sizeof *larger);

	if (!larger)
		return gt_fail_memory(error, "requests that wait to issue");
	items->items = larger;
	return 0;
}

unsigned gt_engine_cut(const struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal,
		       struct gt_item items[GT_PIECES_MAX])
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(timed->level, request, pieces);
	struct gt_item item = {.request = *request, .ordinal = ordinal, .class = timed->level->class_of[request->op]};
	if (item.class == GT_CLASS_STREAM)
		item.class = GT_CLASS_READ;
	bool by_line = gt_engine_waits(timed, &item);

	for (unsigned p = 0; p < (by_line ? n : 1); p++) {
		uint32_t set = gt_level_set_of(timed->level, pieces[p].line);
		items[p] = item;
		items[p].piece = pieces[p];
		items[p].set = set;
		items[p].bank = timed->banks > 1 ? set % timed->banks : 0;
		if (by_line) {
			items[p].request.sectors = pieces[p].stream_sectors;
			items[p].request.full = pieces[p].stream_full;
		}
	}
	return by_line ? n : 1;
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

struct gt_timed_event gt_event_of(const struct gt_timed *timed, const struct gt_engine *engine,
				  const struct gt_item *item, uint64_t step)
{
	uint32_t set = gt_mshr_set(&timed->config.timed, item->bank % timed->config.timed.partitions);

	return (struct gt_timed_event){
		.step = step, .line = item->piece.line, .effect = step, .busy = engine->busy[set],
		.busy_after = engine->busy[set], .block = item->request.block, .an = item->request.an, .bank = item->bank,
		.position = UINT32_MAX, .warp = item->request.warp, .sm = item->request.sm};
}

/* [002] has a separate class for the merges of [000]. */
static uint8_t status_of(const struct gt_timed *timed, const struct gt_timed_event *event)
{
	switch (event->status) {
	case GT_TIMED_HIT: return GT_STATUS_HIT;
	case GT_TIMED_MISS: return GT_STATUS_MISS;
	case GT_TIMED_FAIL: return GT_STATUS_RESERVATION_FAIL;
	case GT_TIMED_MERGED:
		return timed->config.timed.on_full == GT_FULL_STALL ? GT_STATUS_MERGED : GT_STATUS_LATENCY_MISS;
	default: return event->found;
	}
}

static void count(struct gt_timed_counters *counters, const struct gt_timed_event *event)
{
	if (event->status == GT_TIMED_FAIL)
		return;
	counters->lookups++;
	if (event->status == GT_TIMED_PASSED) {
		counters->passed_lookups++;
		return;
	}
	counters->hit_lookups += event->status == GT_TIMED_HIT;
	counters->load_steps += event->latency;
	counters->load_latency[gt_timed_bin(event->latency)]++;
}

int gt_engine_tell(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_timed_event *event, struct gt_error *error)
{
	count(&timed->counters, event);
	if (timed->watch)
		timed->watch(timed->watch_context, event);
	if (timed->config.emit != GT_EMIT_ALL)
		return 0;
	struct gt_outgoing row = {item->request, status_of(timed, event)};
	row.request.step = event->step;
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
	if (gt_level_arrive(&serving, flight.line, flight.sectors | flight.uses, &slot) != 0)
		return -1;
	engine->tags->dirty[slot] |= flight.dirty;
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
		if (flight->arrival > step)
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
		    struct gt_timed_event *event, struct gt_error *error)
{
	struct gt_serving serving = {timed->level, engine->tags, item->request, &timed->collected, error};

	serving.request.step = event->step;
	return gt_level_find(&serving, &event->found);
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
static bool has_entry(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item, uint64_t busy)
{
	const struct gt_timed_config *config = &timed->config.timed;

	return engine->admitted ||
	       (busy < config->mshr_entries &&
		(config->per_warp == GT_UNLIMITED || gt_engine_held_by(engine, &item->request) < config->per_warp));
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

void gt_engine_count_miss(struct gt_timed *timed, const struct gt_timed_event *event)
{
	struct gt_timed_counters *counters = &timed->counters;

	counters->reservations++;
	counters->latency_steps += event->latency;
	counters->busy_entries += event->busy_after;
	counters->latency[gt_timed_bin(event->latency)]++;
	counters->mshr[gt_timed_bin(event->busy_after)]++;
}

/* Sends a request for `missing` without the sectors in flight. An entry is free. */
static int reserve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t away,
		   uint64_t here, struct gt_timed_event *event, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct gt_serving serving = {timed->level, engine->tags, item->request, &timed->collected, error};
	uint32_t set = gt_mshr_set(config, item->bank % config->partitions);
	uint64_t latency = gt_engine_latency(timed, engine);

	serving.request.step = event->step;
	event->status = GT_TIMED_MISS;
	event->latency = latency;
	event->effect = event->step + latency - (config->on_full == GT_FULL_STALL);
	event->busy_after = ++engine->busy[set];
	engine->held++;
	gt_engine_count_miss(timed, event);
	uint64_t brought = gt_level_groups(timed->level, away) & ~here;
	timed->level->fetch.neighbours += (uint64_t)__builtin_popcountll(brought & ~away);
	if (gt_send_fill(&serving, item->piece.line, brought) != 0)
		return -1;
	return gt_flights_add(&engine->flights,
			      &(struct gt_flight){.arrival = event->effect, .line = item->piece.line, .sectors = brought,
						  .dirty = item->class == GT_CLASS_ATOMIC ? item->piece.used : 0,
						  .mshr_set = set, .holds = true, .request = serving.request},
			      error);
}

int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		   uint64_t missing, struct gt_timed_event *event, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	struct gt_coming away = gt_flights_to(&engine->flights, item->piece.line, missing);
	uint64_t valid = slot == GT_NO_SLOT ? 0 : engine->tags->valid[slot];

	event->status = GT_TIMED_FAIL;
	if ((missing & ~away.sectors) == 0) {
		if (away.entry->merges >= config->merges) {
			timed->counters.reservation_fails++;
			return 0;
		}
		away.entry->merges++;
		if (item->class == GT_CLASS_ATOMIC)
			away.entry->dirty |= item->piece.used;
		event->status = GT_TIMED_MERGED;
		event->effect = away.latest;
		event->latency = away.latest - event->step;
		timed->counters.merges++;
		count_miss(timed, item, slot, missing, missing);
		return 0;
	}
	if (!has_entry(timed, engine, item, event->busy)) {
		timed->counters.reservation_fails++;
		return 0;
	}
	count_miss(timed, item, slot, missing, away.sectors);
	return reserve(timed, engine, item, missing & ~away.sectors, valid | away.sectors, event, error);
}
