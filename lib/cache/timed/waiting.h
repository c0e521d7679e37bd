/* SPDX-License-Identifier: MIT */
/* Lookups that wait for MSHR entries. A step tries those only whose line has changed since they failed, and in each MSHR set
 * with free entries the first of the others: any other would fail again. */
#ifndef GT_CACHE_TIMED_WAITING_H
#define GT_CACHE_TIMED_WAITING_H

#include "cache/timed/engine.h"

/* Indices of items, the lowest first: a binary heap. */
struct gt_heap {
	uint32_t *items;
	size_t n;
};

struct gt_waiting {
	const struct gt_item *items;
	size_t n;
	struct gt_lookup_state {
		uint32_t next;	/* index + 1 of a later one in the same chain; 0: none */
		uint32_t woken, tried; /* the last turn in which it was */
		bool served;
		bool queued; /* in the heap of its MSHR set */
		bool asleep; /* in the list of that name */
	} *states;
	uint32_t *chains; /* by line: index + 1 of the first */
	unsigned chain_bits;
	uint32_t turn;
	struct gt_heap woken; /* to be tried in this turn */
	struct gt_heap *sets; /* of each MSHR set: those that found no entry */
	uint32_t *memory;     /* of all heaps */
	uint32_t *asleep;     /* those that found no merge, though there was an entry */
	size_t n_asleep;
	uint64_t *lines; /* that have changed since the last turn */
	size_t n_lines, lines_capacity;
};

/* All of the n items wait, and are tried in the first turn. Returns 0, or -1; to be closed in either case. */
int gt_waiting_open(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_item *items, size_t n,
		    struct gt_error *error);
void gt_waiting_close(struct gt_waiting *waiting);

/* A line that has changed, or will at the end of the last step. Returns 0, or -1. */
int gt_waiting_change(struct gt_waiting *waiting, uint64_t line, struct gt_error *error);
/* A set of the cache in which a line may have been evicted. */
void gt_waiting_evict(struct gt_waiting *waiting, uint32_t set);

/* Begins a turn. */
void gt_waiting_begin(struct gt_waiting *waiting);
/* The next lookup to try, or NULL. */
const struct gt_item *gt_waiting_next(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine);
/* What came of it: it was served, and its line has been requested if `sent`; or it failed. Returns 0, or -1. */
int gt_waiting_served(struct gt_waiting *waiting, const struct gt_item *item, bool sent, struct gt_error *error);
void gt_waiting_failed(struct gt_waiting *waiting, const struct gt_timed *timed, const struct gt_engine *engine,
		       const struct gt_item *item);

#endif
