/* SPDX-License-Identifier: MIT */
/* Tree pseudo-LRU: a binary tree over the ways; each node points away from the half used last.
 * Node n has the children 2n and 2n+1, node 1 is the root; its direction is in the byte of slot
 * n of the set, 0 for left. */
#include "cache/replace/replace.h"

static int check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	(void)replacement;
	return (ways & (ways - 1)) == 0 ? 0 : gt_fail(error, "plru needs a power of two of ways, not %u", ways);
}

static void touch(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint8_t *right = (uint8_t *)tags->policy + first;

	/* The leaf of a way is node ways + way. */
	for (uint32_t node = ways + slot - first; node > 1; node /= 2)
		right[node / 2] = (node & 1) == 0;
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	const uint8_t *right = (const uint8_t *)tags->policy + first;
	uint32_t node = 1;

	(void)replacement;
	while (node < ways)
		node = 2 * node + right[node];
	return first + node - ways;
}

const struct gt_policy gt_policy_plru = {.name = "plru", .by_set = true, .check = check, .slot_bytes = 1, .hit = touch,
	.fill = touch, .victim = victim};
