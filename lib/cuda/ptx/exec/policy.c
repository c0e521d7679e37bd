/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/policy.h"

#include <stddef.h>
#include <string.h>

#define PRIORITY_SHIFT 56

static const struct {
	const char *name; /* in createpolicy */
	unsigned byte;
	enum gt_priority priority;
} policies[] = {
	{"L2::evict_normal", 0x10, GT_EVICT_NORMAL},
	{"L2::evict_first", 0x12, GT_EVICT_FIRST},
	{"L2::evict_last", 0x14, GT_EVICT_LAST},
	{NULL, 0x16, GT_EVICT_NORMAL}, /* cuda::access_property::normal, which ends persistence */
	{"L2::evict_unchanged", 0x18, GT_EVICT_UNCHANGED},
};

bool gt_ptx_policy_named(const char *modifier, uint64_t *policy)
{
	for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
		if (policies[i].name && strcmp(policies[i].name, modifier) == 0) {
			*policy = (uint64_t)policies[i].byte << PRIORITY_SHIFT;
			return true;
		}
	return false;
}

enum gt_priority gt_ptx_policy_priority(uint64_t policy)
{
	for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
		if (policy >> PRIORITY_SHIFT == policies[i].byte)
			return policies[i].priority;
	return GT_PRIORITY_NONE;
}
