/* SPDX-License-Identifier: MIT */
/* The state of a timed level: one engine with its own clock for each instance. Each file calls only later ones:
 *
 *	timed.c, instance.c  take requests, which are gathered by instance, or end a kernel
 *	wave.c, pool.c, turns.c  the requests of resident warps, and which warp issues, if the level decides it
 *	scheduled.c, stall.c, requeue.c  serve the requests of one instance, step by step
 *	group.c, queues.c, waiting.c  those that issue together with stall, which wait for ports and MSHR entries
 *	lookup.c    one lookup of requeue, and whether an access is admitted
 *	cut.c       splits requests into lookups
 *	engine.c    a miss that takes an MSHR entry, an arrival, counts
 *	flight.c    misses in flight
 *	outbox.c    sent requests, put into the order of (step, SM) */
#ifndef GT_CACHE_TIMED_ENGINE_H
#define GT_CACHE_TIMED_ENGINE_H

#include "cache/timed/flight.h"
#include "cache/timed/recent.h"
#include "cache/timed/timed.h"
#include "cache/timed/wave.h"

#define GT_TIMED_BINS 22 /* bin 0: 0; bin k: 2^(k-1) to 2^k - 1 */

struct gt_timed_counters {
	GT_TIMED_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_TIMED_BINS
	GT_TIMED_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* One lookup of a request: of the line of a load or atomic, or of a store as a whole. */
struct gt_item {
	const struct gt_request *request; /* in the instance's queue or wave */
	struct gt_piece piece;
	uint32_t set, bank, mshr; /* mshr: its MSHR set */
	uint32_t ordinal; /* of its warp among those that issue together */
	uint32_t place;	  /* among the lookups of its warp, while they are sorted */
	uint8_t class;
	uint8_t recent; /* the place of its line in gt_timed.recent */
};

/* What comes of a lookup in a step. */
struct gt_outcome {
	uint64_t step;
	uint64_t latency; /* of a miss or a hit */
	uint64_t effect;  /* the step at whose end it takes effect */
	uint32_t busy, busy_after; /* entries of its MSHR set that are taken */
	uint32_t port;
	uint32_t position; /* of a hit, if that is watched: recency in its set; else UINT32_MAX */
	enum gt_timed_status status;
	uint8_t found; /* enum gt_status: what GT_TIMED_PASSED does not say */
};

struct gt_items {
	struct gt_item *items;
	size_t n, capacity;
};

struct gt_outgoing {
	struct gt_request request;
	uint8_t status; /* of a lookup that is passed on under --emit all */
};

/* Requests that an instance has sent, by step. */
struct gt_outbox {
	struct gt_outgoing *rows;
	size_t first, n, capacity;
};

/* Those that it has received, by step. */
struct gt_queued {
	struct gt_request *requests;
	size_t n, capacity;
};

struct gt_engine {
	struct gt_queued queued; /* none if the level decides which warps issue */
	bool active;		 /* it had a request in this kernel */
	struct gt_tags *tags;
	size_t number;	/* of the instance */
	uint64_t begun; /* its clock at the first request of this kernel */
	uint64_t clock; /* no request is served before this step */
	uint64_t floor; /* no request will be sent before this step */
	uint64_t group_step;	 /* step of the first waiting item or wave */
	struct gt_items items;	 /* that issue together */
	struct gt_wave wave;   /* the resident warps, if the level decides which warps issue */
	uint64_t random;
	struct gt_flights flights;
	uint32_t *busy; /* entries taken, of each MSHR set */
	uint64_t held;	/* of all sets */
	bool admitted;	/* the access that is served: its misses take entries whether any is free or not */
	uint32_t *ports; /* taken in this step, of each bank */
	struct gt_outbox outbox;
};

struct gt_timed {
	struct gt_level_config config;
	struct gt_level *level; /* tags, index, replacement and counters */
	struct gt_engine **engines; /* of each instance, NULL until first used */
	size_t engines_n, active;
	uint32_t *active_list; /* numbers of those in use, ascending order of first use */
	uint32_t banks;
	uint32_t *mshr_of; /* the MSHR set of each bank */
	struct gt_recent recent[GT_RECENT_LINES];
	bool limited; /* ports */
	bool plain_reads; /* see gt_engine_plain */
	bool direct; /* unless there is a watcher: plain loads may be served without an item */
	struct gt_queues *queues; /* of lookups that wait for a port, while a group is served; NULL before the first need */
	bool instant; /* latency fixed:0 and stall: misses take effect at once, as in the functional model */
	struct gt_timed_counters counters;
	struct gt_sink collected; /* requests that the functional model sends, before they are put into an outbox */
	struct gt_engine *sender; /* whose outbox that is */
	uint64_t last_step;	  /* of the requests received */
	uint64_t released;	  /* rows before this step have been passed on */
	size_t waiting, retry;	  /* rows in outboxes; the number at which a release is tried */
	void (*watch)(void *context, const struct gt_timed_event *event);
	void *watch_context;
};

/* Makes the engine of instance `number`, which stays in timed->engines even on error; NULL on error. */
struct gt_engine *gt_engine_open(struct gt_timed *timed, size_t number, struct gt_error *error);
void gt_engine_close(struct gt_engine *engine);

/* Serve the requests gathered for an instance, those queued or a wave, with stall and with requeue. */
int gt_engine_scheduled(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_stall_wave(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);

/* The step at which the waiting requests can begin. */
static inline uint64_t gt_engine_start(const struct gt_engine *engine)
{
	return engine->group_step > engine->clock ? engine->group_step : engine->clock;
}

/* Splits a request into lookups: a load by lines; any other is one. Returns their number. */
unsigned gt_engine_cut(struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal,
		       struct gt_item items[GT_PIECES_MAX]);
/* Room for `more` items. */
int gt_items_reserve(struct gt_items *items, size_t more, struct gt_error *error);

/* Whether a lookup waits for missing sectors: a load, or an atomic that is executed here. */
static inline bool gt_engine_waits(const struct gt_timed *timed, const struct gt_item *item)
{
	return item->class == GT_CLASS_READ || (item->class == GT_CLASS_ATOMIC && timed->config.write == GT_WRITE_BACK);
}

/* Whether a load of a line that is present is served by its counts and the use of the line alone. */
static inline bool gt_engine_plain(const struct gt_timed *timed, const struct gt_request *request)
{
	return timed->plain_reads && timed->level->class_of[request->op] == GT_CLASS_READ && request->hint == 0;
}

/* Serves such a load. */
static inline void gt_engine_hit(const struct gt_timed *timed, const struct gt_engine *engine, uint32_t set, uint32_t slot,
				 uint64_t used)
{
	struct gt_level_counters *counters = &timed->level->counters;

	counters->reads += gt_bits_of_4[used];
	counters->read_hits += gt_bits_of_4[used];
	gt_level_touch(timed->level, engine->tags, set, slot, used, used, counters->mru);
}

/* The request of a lookup, with its sectors only. */
static inline struct gt_request gt_engine_request(const struct gt_timed *timed, const struct gt_item *item)
{
	struct gt_request request = *item->request;

	if (gt_engine_waits(timed, item)) {
		request.sectors = item->piece.stream_sectors;
		request.full = item->piece.stream_full;
	}
	return request;
}

/* Looks up a request of the queue of warps, whose effect comes later. The outcome may be that it fails. */
int gt_engine_look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		      struct gt_outcome *outcome, struct gt_error *error);

/* The lookup of engine->items, an access, that keeps it from being served as a whole in this step; NULL: there is none.
 * `promises` has room for all of them. */
struct gt_promise {
	uint64_t line, sectors; /* that a lookup before requests */
	uint32_t set;		/* of its MSHR entry */
};
const struct gt_item *gt_engine_obstacle(const struct gt_timed *timed, struct gt_engine *engine, uint64_t step,
					 struct gt_promise *promises);

/* Takes a port of the item's bank, whose number goes to the outcome. False if there is none. */
static inline bool gt_engine_port(const struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
				  struct gt_outcome *outcome)
{
	if (!timed->limited || item->class == GT_CLASS_BYPASS)
		return true;
	outcome->port = engine->ports[item->bank];
	if (outcome->port == timed->config.timed.ports)
		return false;
	engine->ports[item->bank]++;
	return true;
}

/* The recency position of an item's line in its set, or UINT32_MAX. */
uint32_t gt_engine_position(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot);

/* Begins a step: all ports are free, earlier arrivals change the cache, and the entries of this step's arrivals are free,
 * or with --fill next those of earlier ones. */
int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error);

/* Serves one lookup at once by the functional model, as a request of the outcome's step, and records there what it found. */
int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_outcome *outcome, struct gt_error *error);

/* What a lookup finds: the slot of its line, the sectors that are not valid there, and those of them on their way. */
struct gt_view {
	uint32_t slot;
	uint64_t missing;
	struct gt_coming away;
};

/* Reserves an entry for the sectors that a lookup misses and requests them; or joins a flight; or fails. */
int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, const struct gt_view *view,
		   struct gt_outcome *outcome, struct gt_error *error);

/* MSHR entries that the warp of a request holds. */
uint32_t gt_engine_held_by(const struct gt_engine *engine, const struct gt_request *request);

/* Counts a miss that is sent on. */
void gt_engine_count_miss(struct gt_timed *timed, const struct gt_outcome *outcome);

/* Draws the latency of a miss. */
uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine);

/* Puts a row into the outbox. */
int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error);
/* Tells the watcher of a lookup and, if all are emitted, puts it there with its status. */
int gt_engine_show(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_outcome *outcome, struct gt_error *error);

/* The flush of `collected`: moves requests of the functional model to the sender's outbox. */
int gt_timed_collect(void *timed, struct gt_rows *rows, struct gt_error *error);

/* Gives the sink the rows that no instance can precede any more; or all. */
int gt_timed_release(struct gt_timed *timed, bool all, struct gt_sink *sent, struct gt_error *error);

static inline unsigned gt_timed_bin(uint64_t value)
{
	unsigned bin = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	return bin < GT_TIMED_BINS ? bin : GT_TIMED_BINS - 1;
}

/* An outcome without a status yet. */
static inline struct gt_outcome gt_outcome_of(const struct gt_engine *engine, const struct gt_item *item, uint64_t step)
{
	uint32_t busy = engine->busy[item->mshr];

	return (struct gt_outcome){.step = step, .effect = step, .busy = busy, .busy_after = busy, .position = UINT32_MAX};
}

/* Counts a lookup, and shows it to those who look on. */
static inline int gt_engine_tell(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
				 const struct gt_outcome *outcome, struct gt_error *error)
{
	struct gt_timed_counters *counters = &timed->counters;

	if (outcome->status != GT_TIMED_FAIL) {
		bool passed = outcome->status == GT_TIMED_PASSED;
		counters->lookups++;
		counters->passed_lookups += passed;
		counters->hit_lookups += outcome->status == GT_TIMED_HIT;
		counters->load_steps += passed ? 0 : outcome->latency;
		counters->load_latency[gt_timed_bin(outcome->latency)] += !passed;
	}
	return timed->watch || timed->config.emit == GT_EMIT_ALL ? gt_engine_show(timed, engine, item, outcome, error) : 0;
}

#endif
