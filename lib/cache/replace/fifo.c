/* SPDX-License-Identifier: MIT */
/* First in, first out. The state is the time at which each slot was filled. */
#include "cache/replace/replace.h"

static void fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint64_t *filled = tags->policy;

	(void)set;
	filled[slot] = tags->clock++;
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	const uint64_t *filled = tags->policy;
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t oldest = first;

	(void)replacement;
	for (uint32_t slot = first; slot < first + ways; slot++)
		if (filled[slot] < filled[oldest])
			oldest = slot;
	return oldest;
}

const struct gt_policy gt_policy_fifo = {.name = "fifo", .slot_bytes = sizeof(uint64_t), .fill = fill,
	.victim = victim};
