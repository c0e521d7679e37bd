/* SPDX-License-Identifier: MIT */
/* Static re-reference interval prediction with two bits and hit priority (Jaleel, Theobald, Steely,
 * Emer, ISCA 2010): a line is filled with a long interval, and a hit makes it near-immediate. The victim is the lowest way
 * with a distant interval; all are aged until there is one. */
#include "cache/replace/replace.h"

enum { NEAR = 0, LONG = 2, DISTANT = 3 };

static void hit(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint8_t *interval = tags->policy;

	(void)set;
	interval[slot] = NEAR;
}

static void fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint8_t *interval = tags->policy;

	(void)set;
	interval[slot] = LONG;
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint8_t *interval = (uint8_t *)tags->policy + first;
	uint32_t chosen = 0;

	(void)replacement;
	for (uint32_t way = 1; way < ways; way++)
		if (interval[way] > interval[chosen])
			chosen = way;
	uint8_t years = (uint8_t)(DISTANT - interval[chosen]);
	for (uint32_t way = 0; way < ways; way++)
		interval[way] = (uint8_t)(interval[way] + years);
	return first + chosen;
}

const struct gt_policy gt_policy_srrip = {.name = "srrip", .by_set = true, .counts_uses = true, .slot_bytes = 1, .hit = hit, .fill = fill, .victim = victim};
