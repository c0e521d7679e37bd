/* SPDX-License-Identifier: MIT */
/* Inside a timed level: one engine for each instance, which has its own clock. Each file calls those
 * after it:
 *
 *	timed.c     requests come, or a kernel ends: they gather by instance
 *	wave.c, pool.c  the requests of resident warps, and which warp issues, under an issue of the level's own
 *	stall.c, requeue.c  what waits at one instance is served, step by step
 *	engine.c    one lookup: a hit, a miss that takes an MSHR entry, an arrival
 *	flight.c    what is on its way
 *	outbox.c    what is sent, put into the order of (step, SM) */
#ifndef GT_CACHE_TIMED_ENGINE_H
#define GT_CACHE_TIMED_ENGINE_H

#include "cache/timed/flight.h"
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
	struct gt_request request; /* with the sectors of this lookup only */
	struct gt_piece piece;
	uint32_t set, bank, ordinal; /* ordinal: of its warp among those that issue together */
	uint8_t class;
};

struct gt_items {
	struct gt_item *items;
	size_t n, capacity;
};

struct gt_outgoing {
	struct gt_request request;
	uint8_t status; /* of a lookup that is passed on under --emit all */
};

/* What an instance has sent, or has still to serve, by step. */
struct gt_outbox {
	struct gt_outgoing *rows;
	size_t first, n, capacity;
};

struct gt_engine {
	struct gt_tags *tags;
	size_t number; /* of the instance */
	uint64_t begun; /* its clock at the first request of this kernel */
	uint64_t clock; /* nothing that comes is served before */
	uint64_t floor; /* nothing will be sent before */
	bool active;	/* it had a request in this kernel */
	struct gt_outbox queued; /* requests that came, by step; none under an issue of its own */
	uint64_t group_step;	 /* of the items or of the wave that wait: the first's */
	struct gt_items items;	 /* that issue together */
	struct gt_wave wave;   /* of its own issue: what is resident together */
	uint64_t random;
	struct gt_flights flights;
	uint32_t *busy; /* entries taken, of each MSHR set */
	uint64_t held;	/* of all sets */
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
	bool limited; /* ports */
	bool instant; /* latency fixed:0 and stall: misses are hits to come, as in the functional model */
	struct gt_timed_counters counters;
	struct gt_sink collected; /* what the functional model sends, on its way to an outbox */
	struct gt_engine *sender; /* whose outbox that is */
	uint64_t last_step;	  /* of the requests that came */
	uint64_t released;	  /* what is before this step has been passed on */
	size_t waiting, retry;	  /* rows in outboxes; how many make a release worth a try */
	void (*watch)(void *context, const struct gt_timed_event *event);
	void *watch_context;
};

/* Serves what an instance has gathered: the items, or the wave, under stall and under requeue. */
int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_stall_wave(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);

/* The step at which what waits can begin. */
static inline uint64_t gt_engine_start(const struct gt_engine *engine)
{
	return engine->group_step > engine->clock ? engine->group_step : engine->clock;
}

/* Cuts a request into lookups: a load by line, all else is one. Returns how many. */
unsigned gt_engine_cut(const struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal,
		       struct gt_item items[GT_PIECES_MAX]);
/* Room for `more` items. */
int gt_items_reserve(struct gt_items *items, size_t more, struct gt_error *error);

/* Whether a lookup waits for what it misses: a load, or an atomic that is done here. */
static inline bool gt_engine_waits(const struct gt_timed *timed, const struct gt_item *item)
{
	return item->class == GT_CLASS_READ || (item->class == GT_CLASS_ATOMIC && timed->config.write == GT_WRITE_BACK);
}

/* Takes a port of the item's bank, whose number goes to the event. False if there is none. */
static inline bool gt_engine_port(const struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
				  struct gt_timed_event *event)
{
	if (!timed->limited || item->class == GT_CLASS_BYPASS)
		return true;
	event->port = engine->ports[item->bank];
	if (event->port == timed->config.timed.ports)
		return false;
	engine->ports[item->bank]++;
	return true;
}

/* Where the recency of an item's line stands in its set, or UINT32_MAX. */
uint32_t gt_engine_position(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot);

/* A step begins: no port is taken; what arrives before it changes the cache, and the entries of what arrives
 * in it are free. */
int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error);

/* Serves one lookup by the functional model, at once, as a request of the event's step, and says in
 * the event what it found. */
int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_timed_event *event, struct gt_error *error);

/* Reserves an entry for the sectors that a lookup misses, and sends for them; or joins what is on
 * its way; or fails. `event` says what and how long. */
int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		   uint64_t missing, struct gt_timed_event *event, struct gt_error *error);

/* Counts a miss that is sent on. */
void gt_engine_count_miss(struct gt_timed *timed, const struct gt_timed_event *event);

/* Draws the latency of a miss. */
uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine);

int gt_outbox_add(struct gt_outbox *outbox, const struct gt_outgoing *row, struct gt_error *error);
/* Puts a row into the outbox. */
int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error);
/* Counts a lookup, and puts it there if all are emitted, with what the event says of it. */
int gt_engine_tell(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_timed_event *event, struct gt_error *error);

/* The flush of `collected`: what the functional model sent goes to the sender's outbox. */
int gt_timed_collect(void *timed, struct gt_rows *rows, struct gt_error *error);

/* Gives the sink what no instance can come before any more; or all. */
int gt_timed_release(struct gt_timed *timed, bool all, struct gt_sink *sent, struct gt_error *error);

static inline unsigned gt_timed_bin(uint64_t value)
{
	unsigned bin = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	return bin < GT_TIMED_BINS ? bin : GT_TIMED_BINS - 1;
}

/* An event of an item, yet without a status. */
struct gt_timed_event gt_event_of(const struct gt_timed *timed, const struct gt_engine *engine,
				  const struct gt_item *item, uint64_t step);

#endif
