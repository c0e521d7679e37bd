/* SPDX-License-Identifier: MIT */
/* Inside a timed level: one engine for each instance, which has its own clock. */
#ifndef GT_CACHE_TIMED_ENGINE_H
#define GT_CACHE_TIMED_ENGINE_H

#include "base/map.h"
#include "cache/flight.h"
#include "cache/timed.h"

#define GT_TIMED_BINS 22 /* bin 0: 0; bin k: 2^(k-1) to 2^k - 1 */

struct gt_timed_counters {
	uint64_t steps, stalls, port_conflicts, lookups, merges, latency_misses, reservation_fails;
	uint64_t reservations, latency_steps, busy_entries;
	uint64_t latency[GT_TIMED_BINS], mshr[GT_TIMED_BINS];
};

/* One lookup of a request: of the line of a load or atomic, or of a store as a whole. */
struct gt_item {
	struct gt_waiting row; /* with the sectors of this lookup only */
	struct gt_piece piece;
	uint32_t set, bank, ordinal; /* ordinal: of its warp among those that issue together */
	uint8_t class;
	uint16_t sm;
};

struct gt_items {
	struct gt_item *items;
	size_t n, capacity;
};

struct gt_sent {
	struct gt_waiting row;
	uint64_t step;
	uint16_t sm;
	uint8_t status; /* of a lookup that is passed on under --emit all */
};

/* What an instance has sent, by step. */
struct gt_outbox {
	struct gt_sent *rows;
	size_t first, n, capacity;
};

struct gt_engine {
	struct gt_tags *tags;
	size_t number; /* of the instance */
	uint64_t clock; /* nothing that comes is served before */
	uint64_t floor; /* nothing will be sent before */
	bool active;	/* it had a request in this kernel */
	uint64_t last_step;  /* of the requests that came */
	uint64_t group_step; /* of the items that wait; of a wave, the first's */
	struct gt_map wave;  /* requeue: the blocks of the items that wait */
	uint64_t random;
	struct gt_items items;
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
	struct gt_rows *scratch; /* one row: a lookup for the functional model */
	struct gt_sink collected; /* what the functional model sends, on its way to an outbox */
	struct gt_engine *sender; /* whose outbox that is */
	uint64_t released;	  /* what is before this step has been passed on */
	size_t waiting, retry;	  /* rows in outboxes; how many make a release worth a try */
	void (*watch)(void *context, const struct gt_timed_event *event);
	void *watch_context;
};

/* Serves what an instance has gathered: the lookups that issue together, or the warps that are
 * resident together. */
int gt_engine_stall(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);
int gt_engine_requeue(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error);

/* Lets what arrives before `step` change the cache, and frees the entries of what arrives in it. */
int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error);

/* Serves one lookup by the functional model, at once, as a request of the event's step, and says in
 * the event what it found. */
int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_timed_event *event, struct gt_error *error);

/* Reserves an entry for the sectors that a lookup misses, and sends for them; or joins what is on
 * its way; or fails. `event` says what and how long. */
int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint32_t slot,
		   uint64_t missing, struct gt_timed_event *event, struct gt_error *error);

/* Draws the latency of a miss. */
uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine);

/* Puts a row into the outbox. */
int gt_engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_sent *row, struct gt_error *error);
/* Puts a lookup there, if all are emitted, with what the event says of it. */
int gt_engine_tell(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_timed_event *event, struct gt_error *error);

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
