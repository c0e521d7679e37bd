/* SPDX-License-Identifier: MIT */
#include "cache/timed/flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

void gt_flights_open(struct gt_flights *flights)
{
	*flights = (struct gt_flights){.vacant = GT_NO_FLIGHT};
	memset(flights->chains, 0xff, sizeof flights->chains);
}

void gt_flights_close(struct gt_flights *flights)
{
	free(flights->pool);
	free(flights->order);
}

static int grow(struct gt_flights *flights, struct gt_error *error)
{
	uint32_t capacity = flights->capacity ? 2 * flights->capacity : 64;
	struct gt_flight *pool = capacity < UINT32_MAX / 2 ? gt_resized(flights->pool, capacity, sizeof *pool) : NULL;
	uint32_t *order = pool ? malloc(capacity * sizeof *order) : NULL;

	if (pool)
		flights->pool = pool;
	if (!order)
		return gt_fail_memory(error, "misses in flight");
	for (uint64_t at = flights->head; at < flights->tail; at++)
		order[at & (capacity - 1)] = flights->order[at & (flights->capacity - 1)];
	free(flights->order);
	flights->order = order;
	for (uint32_t at = capacity; at-- > flights->capacity;) {
		pool[at].next = flights->vacant;
		flights->vacant = at;
	}
	flights->capacity = capacity;
	return 0;
}

static bool goes_before(const struct gt_flight *flight, const struct gt_flight *other)
{
	return flight->arrival != other->arrival ? flight->arrival < other->arrival : flight->first && !other->first;
}

int gt_flights_add(struct gt_flights *flights, const struct gt_flight *flight, struct gt_error *error)
{
	if (flights->vacant == GT_NO_FLIGHT && grow(flights, error) != 0)
		return -1;
	uint32_t at = flights->vacant, mask = flights->capacity - 1;
	struct gt_flight *new = &flights->pool[at];

	flights->vacant = new->next;
	*new = *flight;
	if (flight->sectors) {
		uint32_t *chain = gt_flight_chain(flights, flight->line);
		new->next = *chain;
		*chain = at;
	}
	uint64_t place = flights->tail++;
	for (; place > flights->released && goes_before(flight, gt_flight_at(flights, place - 1)); place--)
		flights->order[place & mask] = flights->order[(place - 1) & mask];
	flights->order[place & mask] = at;
	return 0;
}

void gt_flights_drop_first(struct gt_flights *flights)
{
	uint32_t at = flights->order[flights->head++ & (flights->capacity - 1)];
	struct gt_flight *flight = &flights->pool[at];

	if (flight->sectors) {
		uint32_t *link = gt_flight_chain(flights, flight->line);
		while (*link != at)
			link = &flights->pool[*link].next;
		*link = flight->next;
	}
	flight->next = flights->vacant;
	flights->vacant = at;
}
