/* SPDX-License-Identifier: MIT */
/* Belady (IBM Systems Journal 5, 1966): the line whose next use is farthest away leaves. The state is
 * the next use of each slot's line, as it was known when the line was used last. */
#include "cache/replace.h"

static void note(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint64_t *next = tags->policy;

	(void)set;
	next[slot] = tags->next_use[(tags->tag[slot] - 1) & tags->next_mask];
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	const uint64_t *next = tags->policy;
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t farthest = first;

	(void)replacement;
	for (uint32_t slot = first + 1; slot < first + ways; slot++)
		if (next[slot] > next[farthest])
			farthest = slot;
	return farthest;
}

const struct gt_policy gt_policy_opt = {.name = "opt", .summary = "used again last (Belady): a bound",
					.looks_ahead = true, .slot_bytes = sizeof(uint64_t),
					.hit = note, .fill = note, .victim = victim};
