/* SPDX-License-Identifier: MIT */
/* The flights into one cache: blocks that misses wait for, with their MSHR entries, and hits that have not taken effect
 * yet. In the order of arrival; of one step, hits that come first, then in the order of sending. */
#ifndef GT_CACHE_TIMED_FLIGHT_H
#define GT_CACHE_TIMED_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "cache/serve.h"

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
/* Removes the first. */
void gt_flights_drop_first(struct gt_flights *flights);

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

#endif
