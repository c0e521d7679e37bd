/* SPDX-License-Identifier: MIT */
/* Hash tables: from numbers to numbers, and of names; and a hash for tables of other kinds. */
#ifndef GT_BASE_MAP_H
#define GT_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* From 64-bit keys to 64-bit values: open addressing, XXH3 of the key, at most 3/4 full. Memory is 16 bytes a slot; it grows by
 * doubling. Iteration order is not defined. */
#define GT_MAP_EMPTY UINT64_MAX /* this key cannot be stored */

struct gt_map_slot {
	uint64_t key, value;
};

struct gt_map {
	struct gt_map_slot *slots;
	size_t mask; /* slots - 1, slots a power of two */
	size_t used;
};

/* An empty table. Returns 0, or -1 when memory is short. */
int gt_map_open(struct gt_map *map, size_t expected, struct gt_error *error);
void gt_map_close(struct gt_map *map);

/* The value's place for a key, or NULL if the key is absent. Valid until the next put. */
uint64_t *gt_map_get(const struct gt_map *map, uint64_t key);

/* The value's place for a key; a new one holds `initial` and sets *fresh. NULL when memory is short. */
uint64_t *gt_map_put(struct gt_map *map, uint64_t key, uint64_t initial, int *fresh);

/* Prefetches the place where a search for the key begins. */
void gt_map_prefetch(const struct gt_map *map, uint64_t key);

void gt_map_clear(struct gt_map *map);

/* Names, numbered in the order in which they are first seen. */

struct gt_names {
	char **names; /* n of them, owned */
	size_t n, capacity;
	struct gt_map index; /* hash of a name, to its number */
};

/* Begins without names. A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_names_open(struct gt_names *names, struct gt_error *error);
void gt_names_close(struct gt_names *names);

/* Sets *number to that of a name, which is added if it is new. */
int gt_names_number(struct gt_names *names, const char *name, uint64_t *number, struct gt_error *error);

/* A hash of numbers that costs one product: Fibonacci hashing, the upper bits of the product with 2^64 / golden ratio are well
 * mixed. Whoever knows it can choose numbers that collide. */
static inline uint64_t gt_fibonacci(uint64_t number)
{
	return number * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
