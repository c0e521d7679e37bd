/* SPDX-License-Identifier: MIT */
/* Least recently used. */
#include "cache/replace/replace.h"

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	(void)replacement;
	return gt_tags_oldest(tags, set);
}

const struct gt_policy gt_policy_lru = {.name = "lru", .by_set = true, .victim = victim};
