/* SPDX-License-Identifier: MIT */
#ifndef GT_CACHE_REPLACE_FINDER_H
#define GT_CACHE_REPLACE_FINDER_H

#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"

/* Finds lines in a cache of many ways without a scan of the set: a chained hash from line numbers to slots. Each slot is in
 * at most one chain. */
struct gt_finder {
	uint32_t *heads; /* slot + 1 that begins each chain, 0 for none */
	uint32_t *next;	 /* slot + 1 that follows each slot */
	unsigned shift;	 /* 64 - log2(chains) */
	uint32_t slots;
};

/* No lines yet. Freed by close also after a failure. */
int gt_finder_open(struct gt_finder *finder, uint32_t slots, struct gt_error *error);
void gt_finder_close(struct gt_finder *finder);
void gt_finder_clear(struct gt_finder *finder);
void gt_finder_add(struct gt_finder *finder, uint64_t line, uint32_t slot);
void gt_finder_remove(struct gt_finder *finder, uint64_t line, uint32_t slot);

static inline uint32_t *gt_finder_chain(const struct gt_finder *finder, uint64_t line)
{
	return &finder->heads[gt_fibonacci(line) >> finder->shift];
}

/* `tags` are line + 1 for each slot. */
static inline uint32_t gt_finder_find(const struct gt_finder *finder, const uint64_t *tags, uint64_t line)
{
	uint32_t at = *gt_finder_chain(finder, line);

	while (at != 0 && tags[at - 1] != line + 1)
		at = finder->next[at - 1];
	return at - 1; /* 0 becomes GT_NO_SLOT */
}

#endif
