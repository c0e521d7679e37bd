/* SPDX-License-Identifier: MIT */
/* A timed level: parallel banks with ports, MSHRs and latencies. If the MSHRs are full it stalls ([000] 4.4, --on-full stall), or the warp
 * goes to the end of the queue ([002] 4.2 to 4.5, requeue). Tags, index and replacement are those of the functional level. There is one
 * engine with its own clock for each instance. Each file calls only later ones:
 *
 *	timed.c    takes requests, which are gathered by instance, or ends a kernel
 *	stall.c, requeue.c  serve the requests of one instance, step by step
 *	group.c    those that issue together with stall, which wait for ports and MSHR entries
 *	warps.c    which of the resident warps issues, if the level decides it
 *	engine.c   lookups, misses in flight, what is sent and counted */
#ifndef GT_CACHE_TIMED_ENGINE_H
#define GT_CACHE_TIMED_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "cache/state.h"
#include "cache/timed/warps.h"

/* ---- what comes of a lookup ---- */

enum gt_timed_status {
	GT_TIMED_HIT,
	GT_TIMED_MISS,	 /* took an entry, if there are MSHRs, and was sent on */
	GT_TIMED_MERGED, /* joined a miss in flight: the latency miss of [002] */
	GT_TIMED_FAIL,	 /* no MSHR entry, or no merge: tried again later */
	GT_TIMED_PASSED, /* a store, or a request that bypasses: no waiting */
	GT_TIMED_EFFECT, /* a block arrives, or a hit takes effect */
	GT_TIMED_STATUSES
};

/* The event of one lookup, for the watching callback. */
struct gt_timed_event {
	enum gt_timed_status status;
	uint64_t step;
	uint64_t line;
	uint64_t latency; /* of a miss or a hit */
	uint64_t effect;  /* the step at whose end it takes effect */
	uint64_t busy;	  /* entries of its MSHR set that are taken, before and after */
	uint64_t busy_after;
	uint32_t block, an, bank, port;
	uint32_t position; /* of a hit: recency in its set; else UINT32_MAX */
	uint16_t warp, sm;
	uint8_t found; /* enum gt_status: what GT_TIMED_PASSED does not say */
};

/* ---- misses in flight ---- */

/* The flights into one cache: blocks that misses wait for, with their MSHR entries, and hits that have not taken effect
 * yet. In the order of arrival; of one step, hits that come first, then in the order of sending. */

#define GT_FLIGHT_CHAINS 256
#define GT_NO_FLIGHT UINT32_MAX

struct gt_flight {
	uint64_t arrival; /* the step at whose end it changes the cache */
	uint64_t line;
	uint64_t sectors; /* that come; of a hit, none */
	uint64_t uses;	  /* of a hit: filled again if the line has been evicted meanwhile */
	uint64_t dirty;	  /* sectors that an atomic will have changed */
	uint32_t merges;
	uint32_t mshr_set;
	uint32_t next; /* in the chain of its line, newest first; or GT_NO_FLIGHT */
	bool holds;    /* an MSHR entry */
	bool first;    /* before all others of its step that are not: a hit, with --fill next */
	bool used;     /* its lookup has used the line, which was there: with stall a use takes effect at once */
	bool absent;   /* the cache does not have the line, nor has had it since this flight was sent */
	struct gt_request request; /* that caused it */
};

struct gt_flights {
	struct gt_flight *pool;
	uint32_t *order; /* a ring: indices in the pool, from head to tail */
	uint64_t head, released, tail; /* those before `released` no longer hold their entry */
	uint32_t capacity; /* of both, a power of two */
	uint32_t vacant;   /* a chain of unused places */
	uint32_t chains[GT_FLIGHT_CHAINS];
};

void gt_flights_open(struct gt_flights *flights);
void gt_flights_close(struct gt_flights *flights);

/* Adds a flight; without sectors it is not added to the chain of its line yet. */
int gt_flights_add(struct gt_flights *flights, const struct gt_flight *flight, struct gt_error *error);

static inline struct gt_flight *gt_flight_at(const struct gt_flights *flights, uint64_t place)
{
	return &flights->pool[flights->order[place & (flights->capacity - 1)]];
}

static inline uint32_t *gt_flight_chain(struct gt_flights *flights, uint64_t line)
{
	return &flights->chains[gt_fibonacci(line) >> 56];
}

/* The newest of a line from `at` on in its chain, or GT_NO_FLIGHT. */
static inline uint32_t gt_flight_of(const struct gt_flights *flights, uint32_t at, uint64_t line)
{
	while (at != GT_NO_FLIGHT && flights->pool[at].line != line)
		at = flights->pool[at].next;
	return at;
}

/* The cache gets the line. */
static inline void gt_flights_present(struct gt_flights *flights, uint64_t line)
{
	for (uint32_t at = gt_flight_of(flights, *gt_flight_chain(flights, line), line); at != GT_NO_FLIGHT;
	     at = gt_flight_of(flights, flights->pool[at].next, line))
		flights->pool[at].absent = false;
}

/* The flights to a line that have not changed the cache yet. */
struct gt_coming {
	uint64_t sectors;
	uint64_t latest;	 /* arrival of the sectors in question */
	struct gt_flight *entry; /* the newest that carries some of them; NULL: none does */
};

static inline struct gt_coming gt_flights_to(struct gt_flights *flights, uint64_t line, uint64_t missing)
{
	struct gt_coming found = {0, 0, NULL};

	for (uint32_t at = gt_flight_of(flights, *gt_flight_chain(flights, line), line); at != GT_NO_FLIGHT;
	     at = gt_flight_of(flights, flights->pool[at].next, line)) {
		struct gt_flight *flight = &flights->pool[at];
		found.sectors |= flight->sectors;
		if ((flight->sectors & missing) == 0)
			continue;
		if (!found.entry)
			found.entry = flight;
		if (flight->arrival > found.latest)
			found.latest = flight->arrival;
	}
	return found;
}

/* Where lines were looked up last: their set, for which some index functions divide and hash, and the slot that held them, whose
 * search follows links. The instances share the table, since each serves many requests before another does. */

#define GT_RECENT_BITS 8
#define GT_RECENT_LINES (1 << GT_RECENT_BITS)

struct gt_recent {
	uint64_t tag; /* line + 1; 0: none yet */
	uint32_t set;
	uint32_t slot; /* in the instance that looked it up last; any, if it was not found yet */
};

static inline uint8_t gt_recent_place(uint64_t line)
{
	return (uint8_t)(gt_fibonacci(line) >> (64 - GT_RECENT_BITS));
}

/* The set of a line whose place in the table is given. */
static inline uint32_t gt_recent_set(struct gt_recent *table, uint8_t place, const struct gt_level *level, uint64_t line)
{
	struct gt_recent *recent = &table[place];

	if (recent->tag != line + 1)
		*recent = (struct gt_recent){line + 1, gt_level_set_of(level, line), recent->slot};
	return recent->set;
}

/* As gt_tags_find. */
static inline uint32_t gt_recent_find(struct gt_recent *table, uint8_t place, struct gt_tags *tags, uint32_t set,
				      uint64_t line)
{
	uint32_t slot = table[place].slot;

	if (*gt_slot_tag(tags, slot) == line + 1)
		return slot;
	slot = gt_tags_find(tags, set, line);
	if (slot != GT_NO_SLOT)
		table[place].slot = slot;
	return slot;
}

#define GT_TIMED_BINS 22 /* bin 0: 0; bin k: 2^(k-1) to 2^k - 1 */

struct gt_timed_counters {
	GT_TIMED_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_TIMED_BINS
	GT_TIMED_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* One lookup of a request: of the line of a load or atomic, or of a store as a whole. */
struct gt_item {
	const struct gt_request *request; /* in the instance's queue, or its scheduler's */
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
	struct gt_warp_chunk *first, *last; /* NULL: none was sent yet */
	uint32_t at, end; /* the first row, in the first chunk, and the end of the rows in the last */
};

#define GT_OUTBOX_CHUNK_BYTES 4096
#define GT_OUTBOX_CHUNK ((GT_OUTBOX_CHUNK_BYTES - sizeof(struct gt_warp_chunk)) / sizeof(struct gt_outgoing)) /* rows */

/* Those that it has received, by step; or if the level decides which warps issue, those of the accesses that it cuts. */
struct gt_queued {
	struct gt_request *requests;
	size_t n, capacity;
};

/* Lookups that wait for the ports of their banks: a queue for each bank, so that a step looks at those only that get one. */

struct gt_queues {
	struct gt_ends {
		uint32_t first, last; /* index + 1 of items; 0: none waits */
	} *ends;		      /* of each bank */
	uint32_t *next;		      /* of each item: index + 1 of the one behind it, or 0 */
	uint32_t *chosen;	      /* indices of the items that get a port in this step, ascending */
	size_t next_capacity, chosen_capacity;
};

struct gt_engine {
	struct gt_queued queued;
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
	size_t active;
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
	struct gt_warp_chunks chunks, outboxes; /* of the engines' waves and outboxes */
	struct gt_sink collected; /* requests that the functional model sends, before they are put into an outbox */
	struct gt_engine *sender; /* whose outbox that is */
	uint64_t last_step;	  /* of the requests received */
	uint64_t released;	  /* rows before this step have been passed on */
	size_t waiting, retry;	  /* rows in outboxes; the number at which a release is tried */
	void (*watch)(void *context, const struct gt_timed_event *event);
	void *watch_context;
};

/* Calls `watch` for every event from now on. */
void gt_timed_watch(struct gt_timed *timed, void (*watch)(void *context, const struct gt_timed_event *event),
		    void *context);

/* Serve the requests gathered for an instance, queued or a wave, with stall and with requeue. */
int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);

/* The step at which the waiting requests can begin. */
static inline uint64_t gt_engine_start(const struct gt_engine *engine)
{
	return engine->group_step > engine->clock ? engine->group_step : engine->clock;
}

/* Takes the next access of a warp, from *place on, which goes behind it, to the end of the engine's queue. */
int gt_engine_take_access(struct gt_engine *engine, const struct gt_warp *warp, struct gt_wave_place *place, struct gt_error *error);

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

/* The lookup of engine->items, an access, that keeps it from being served as a whole in this step; NULL: there is none.
 * `promises` has room for all of them. */
struct gt_promise {
	uint64_t line, sectors; /* that a lookup before requests */
	uint32_t set;		/* of its MSHR entry */
};

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

/* Draws the latency of a miss. */
uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine, uint64_t line);

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

/* Counts a miss that is sent on. */
static inline void gt_engine_count_miss(struct gt_timed *timed, const struct gt_outcome *outcome)
{
	struct gt_timed_counters *counters = &timed->counters;

	counters->reservations++;
	counters->latency_steps += outcome->latency;
	counters->busy_entries += outcome->busy_after;
	counters->latency[gt_timed_bin(outcome->latency)]++;
	counters->mshr[gt_timed_bin(outcome->busy_after)]++;
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

/* ---- lookups that issue together, with --on-full stall ---- */

void gt_queues_close(struct gt_queues *queues);

/* For a warp in a group: the step at which its last lookup was served, and that at which the latest takes effect. */
struct gt_last {
	uint64_t served, effect;
};

/* What came of the lookups of a step. */
struct gt_group_step {
	size_t served;
	uint64_t fails, conflicts; /* those that wait for an MSHR entry, and for a port */
};

/* Tries one lookup. `last`, if not NULL, gets for each warp when its last lookup was served and takes effect. Returns whether it
 * was served, or -1 with the error. */
int gt_group_attempt(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step,
		     struct gt_last *last, struct gt_group_step *result, struct gt_error *error);

/* Serves the engine's items, from `step` on. `last`, if not NULL, has a place for each warp. Returns 0, or -1. */
int gt_group_run(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_last *last, struct gt_error *error);

/* Serves those that are left after a first step, `start`, with one bank and without a limit of ports. */
int gt_group_continue(struct gt_timed *timed, struct gt_engine *engine, uint64_t start, const struct gt_group_step *first,
		      struct gt_error *error);

#endif
