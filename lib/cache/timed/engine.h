/* SPDX-License-Identifier: MIT */
/* The state of a timed level: one engine with its own clock for each instance. Each file calls only later ones:
 *
 *	timed.c     takes requests, which are gathered by instance, or ends a kernel
 *	wave.c, pool.c, turns.c  the requests of resident warps, and which warp issues, if the level decides it
 *	stall.c, requeue.c  serve the requests of one instance, step by step
 *	group.c, queues.c, waiting.c  those that issue together with stall, which wait for ports and MSHR entries
 *	lookup.c    one lookup of requeue, and whether an access is admitted
 *	engine.c    a miss that takes an MSHR entry, an arrival, counts
 *	flight.c    misses in flight
 *	outbox.c    sent requests, put into the order of (step, SM) */
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
	uint32_t place;		     /* among the lookups of its warp, while they are sorted */
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

/* Requests that an instance has sent, or has still to serve, by step. */
struct gt_outbox {
	struct gt_outgoing *rows;
	size_t first, n, capacity;
};

struct gt_engine {
	struct gt_tags *tags;
	size_t number; /* of the instance */
	uint64_t begun; /* its clock at the first request of this kernel */
	uint64_t clock; /* no request is served before this step */
	uint64_t floor; /* no request will be sent before this step */
	bool active;	/* it had a request in this kernel */
	struct gt_outbox queued; /* requests received, by step; none if the level decides which warps issue */
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
	bool limited; /* ports */
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

/* Serve the requests gathered for an instance, items or a wave, with stall and with requeue. */
int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_stall_wave(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);

/* The step at which the waiting requests can begin. */
static inline uint64_t gt_engine_start(const struct gt_engine *engine)
{
	return engine->group_step > engine->clock ? engine->group_step : engine->clock;
}

/* Splits a request into lookups: a load by lines; any other is one. Returns their number. */
unsigned gt_engine_cut(const struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal,
		       struct gt_item items[GT_PIECES_MAX]);
/* Room for `more` items. */
int gt_items_reserve(struct gt_items *items, size_t more, struct gt_error *error);

/* Whether a lookup waits for missing sectors: a load, or an atomic that is executed here. */
static inline bool gt_engine_waits(const struct gt_timed *timed, const struct gt_item *item)
{
	return item->class == GT_CLASS_READ || (item->class == GT_CLASS_ATOMIC && timed->config.write == GT_WRITE_BACK);
}

/* Looks up a request of the queue of warps, whose effect comes later; `event` gets the outcome, which may be that it fails. */
int gt_engine_look_up(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		      struct gt_timed_event *event, struct gt_error *error);

/* The lookup of engine->items, an access, that keeps it from being served as a whole in this step; NULL: there is none.
 * `promises` has room for all of them. */
struct gt_promise {
	uint64_t line, sectors; /* that a lookup before requests */
	uint32_t set;		/* of its MSHR entry */
};
const struct gt_item *gt_engine_obstacle(const struct gt_timed *timed, struct gt_engine *engine, uint64_t step,
					 struct gt_promise *promises);

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

/* The recency position of an item's line in its set, or UINT32_MAX. */
uint32_t gt_engine_position(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item,
			    uint32_t slot);

/* Begins a step: all ports are free, earlier arrivals change the cache, and the entries of this step's arrivals are free. */
int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error);

/* Serves one lookup at once by the functional model, as a request of the event's step, and records the result in the
 * event. */
int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_timed_event *event, struct gt_error *error);

/* Reserves an entry for the sectors that a lookup misses and requests them; or joins a flight; or fails. `event` gets the
 * outcome and the latency. */
int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		   uint64_t missing, struct gt_timed_event *event, struct gt_error *error);

/* MSHR entries that the warp of a request holds. */
uint32_t gt_engine_held_by(const struct gt_engine *engine, const struct gt_request *request);

/* Counts a miss that is sent on. */
void gt_engine_count_miss(struct gt_timed *timed, const struct gt_timed_event *event);

/* Draws the latency of a miss. */
uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine);

int gt_outbox_add(struct gt_outbox *outbox, const struct gt_outgoing *row, struct gt_error *error);
/* Puts a row into the outbox. */
int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error);
/* Counts a lookup and, if all are emitted, puts it there with the event's status. */
int gt_engine_tell(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_timed_event *event, struct gt_error *error);

/* The flush of `collected`: moves requests of the functional model to the sender's outbox. */
int gt_timed_collect(void *timed, struct gt_rows *rows, struct gt_error *error);

/* Gives the sink the rows that no instance can precede any more; or all. */
int gt_timed_release(struct gt_timed *timed, bool all, struct gt_sink *sent, struct gt_error *error);

static inline unsigned gt_timed_bin(uint64_t value)
{
	unsigned bin = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	return bin < GT_TIMED_BINS ? bin : GT_TIMED_BINS - 1;
}

/* An event for an item, without a status yet. */
struct gt_timed_event gt_event_of(const struct gt_timed *timed, const struct gt_engine *engine,
				  const struct gt_item *item, uint64_t step);

#endif
