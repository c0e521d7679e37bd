/* SPDX-License-Identifier: MIT */
/* Where a line is in a cache of many ways: a chained hash from line numbers to slots, so that a
 * lookup does not scan the set. Each slot is in at most one chain. */
#ifndef GT_CACHE_FINDER_H
#define GT_CACHE_FINDER_H

#include <stdint.h>

#include "base/error.h"

#define GT_NO_SLOT UINT32_MAX

struct gt_finder {
	uint32_t *heads; /* slot + 1 that begins each chain, 0 for none */
	uint32_t *next;	 /* slot + 1 that follows each slot */
	unsigned shift;	 /* 64 - log2(chains) */
	uint32_t slots;
};

int gt_finder_open(struct gt_finder *finder, uint32_t slots, struct gt_error *error);
void gt_finder_close(struct gt_finder *finder);
void gt_finder_clear(struct gt_finder *finder);

static inline uint32_t *gt_finder_chain(const struct gt_finder *finder, uint64_t line)
{
	/* Fibonacci hashing: the high bits of a product with 2^64 / golden ratio are well mixed. */
	return &finder->heads[line * UINT64_C(0x9e3779b97f4a7c15) >> finder->shift];
}

/* `tags` are line + 1 for each slot. */
static inline uint32_t gt_finder_find(const struct gt_finder *finder, const uint64_t *tags, uint64_t line)
{
	uint32_t at = *gt_finder_chain(finder, line);

	while (at != 0 && tags[at - 1] != line + 1)
		at = finder->next[at - 1];
	return at - 1; /* 0 becomes GT_NO_SLOT */
}

void gt_finder_add(struct gt_finder *finder, uint64_t line, uint32_t slot);
void gt_finder_remove(struct gt_finder *finder, uint64_t line, uint32_t slot);

#endif
