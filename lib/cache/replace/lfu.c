/* SPDX-License-Identifier: MIT */
/* Least frequently used since the fill; among equals, the least recently used, or the lowest way. The state of a slot
 * is the number of its uses, including the fill, and the clock value of the last. */
#include "cache/replace/replace.h"

#include <string.h>

struct use {
	uint64_t count, last;
};

static int parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	replacement->lowest_way = argument && strcmp(argument, "way") == 0;
	return !argument || replacement->lowest_way ? 0 : gt_fail(error, "'lfu:%.100s': expected lfu or lfu:way", argument);
}

static void hit(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct use *use = (struct use *)tags->policy + slot;

	(void)set;
	use->count++;
	use->last = tags->clock++;
}

static void fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct use *use = (struct use *)tags->policy + slot;

	use->count = 0;
	hit(tags, set, slot);
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	const struct use *uses = tags->policy;
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t least = first;

	for (uint32_t slot = first + 1; slot < first + ways; slot++)
		if (uses[slot].count < uses[least].count ||
		    (!replacement->lowest_way && uses[slot].count == uses[least].count && uses[slot].last < uses[least].last))
			least = slot;
	return least;
}

const struct gt_policy gt_policy_lfu = {.name = "lfu", .counts_uses = true, .parse = parse, .slot_bytes = sizeof(struct use), .hit = hit,
	.fill = fill, .victim = victim};
