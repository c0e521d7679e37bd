/* SPDX-License-Identifier: MIT */
/* [002] 4.2 to 4.4: a lookup of a warp of the queue, whose effect comes later; and whether an access may be served at all:
 * "before a warp modifies the reuse stack" there must be MSHRs for what it misses. */
#include "cache/timed/engine.h"

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
	outcome->position = slot == GT_NO_SLOT ? 0 : gt_engine_position(timed, engine, item, slot);
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
		gt_note_depths(engine->tags, slot, gt_engine_position(timed, engine, item, slot), hits, hits, mru);
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
	here |= *slot == GT_NO_SLOT ? 0 : engine->tags->valid[*slot];
	return item->piece.used & ~here;
}

int gt_engine_look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
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
			gt_level_use(timed->level, engine->tags, item->set, slot, item->request->op);
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
		outcome->latency = gt_engine_latency(timed, engine);
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

const struct gt_item *gt_engine_obstacle(const struct gt_timed *timed, struct gt_engine *engine, uint64_t step,
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
