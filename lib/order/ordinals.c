/* SPDX-License-Identifier: MIT */
#include "order/ordinals.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

int gt_ordinals_open(struct gt_ordinals *ordinals, struct gt_error *error)
{
	*ordinals = (struct gt_ordinals){.last = GT_MAP_EMPTY};
	return gt_map_open(&ordinals->pages, 0, error);
}

void gt_ordinals_close(struct gt_ordinals *ordinals)
{
	gt_map_close(&ordinals->pages);
	free(ordinals->counters);
	*ordinals = (struct gt_ordinals){0};
}

static int add_page(struct gt_ordinals *ordinals, struct gt_error *error)
{
	if (ordinals->n == ordinals->capacity) {
		size_t capacity = ordinals->capacity ? ordinals->capacity + ordinals->capacity / 2 : 64;
		void *counters = gt_resized(ordinals->counters, capacity, sizeof *ordinals->counters);
		if (!counters)
			return gt_fail_memory(error, "the ordinals of threads");
		ordinals->counters = counters;
		ordinals->capacity = capacity;
	}
	memset(ordinals->counters[ordinals->n++], 0, sizeof *ordinals->counters);
	return 0;
}

static int count(struct gt_ordinals *ordinals, uint64_t what, unsigned which, uint32_t *ordinal,
		 struct gt_error *error)
{
	int fresh;

	if (what != ordinals->last) {
		uint64_t *page = gt_map_put(&ordinals->pages, what, ordinals->n, &fresh);
		if (!page)
			return gt_fail_memory(error, "the ordinals of threads");
		if (fresh && add_page(ordinals, error) != 0)
			return -1;
		ordinals->last = what;
		ordinals->last_page = (size_t)*page;
	}
	*ordinal = ordinals->counters[ordinals->last_page][which];
	if (*ordinal == UINT32_MAX)
		return gt_fail(error, "expected at most 2^32 - 1 accesses of a thread or warp");
	ordinals->counters[ordinals->last_page][which]++;
	return 0;
}

int gt_ordinal_of_warp(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
		       uint32_t *ordinal, struct gt_error *error)
{
	return count(ordinals, (uint64_t)kernel << 38 | block, warp, ordinal, error);
}

int gt_ordinal_of_thread(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
			 unsigned lane, uint32_t *ordinal, struct gt_error *error)
{
	uint64_t what = (uint64_t)kernel << 38 | UINT64_C(1) << 37 | (uint64_t)block << 5 | warp;

	return count(ordinals, what, lane, ordinal, error);
}
