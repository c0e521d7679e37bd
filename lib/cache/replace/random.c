/* SPDX-License-Identifier: MIT */
/* Each way with the same probability. */
#include "base/options.h"
#include "base/random.h"
#include "cache/replace/replace.h"

static int parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	return argument ? gt_parse_count(argument, 0, UINT64_MAX, &replacement->seed, error) : 0;
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint64_t ways = gt_ways_of(tags->geometry, set);

	(void)replacement;
	return gt_first_slot(tags->geometry, set) + (uint32_t)((gt_random(&tags->random) >> 32) * ways >> 32);
}

const struct gt_policy gt_policy_random = {.name = "random", .parse = parse, .victim = victim};
