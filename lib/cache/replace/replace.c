/* SPDX-License-Identifier: MIT */
#include "cache/replace/replace.h"

#include <string.h>

static const struct gt_policy *const policies[] = {&gt_policy_lru,	    &gt_policy_fifo, &gt_policy_lfu,  &gt_policy_random,
					       &gt_policy_weighted, &gt_policy_plru, &gt_policy_srrip,
					       &gt_policy_opt};
static const size_t policies_n = sizeof policies / sizeof policies[0];

int gt_replacement_parse(const char *text, struct gt_replacement *replacement, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	const char *argument = text[length] ? text + length + 1 : NULL;

	for (size_t i = 0; i < policies_n; i++) {
		const struct gt_policy *policy = policies[i];
		if (strlen(policy->name) != length || strncmp(policy->name, text, length) != 0)
			continue;
		if (argument && !policy->parse)
			return gt_fail(error, "'%s': %s takes no argument", text, policy->name);
		replacement->policy = policy;
		return policy->parse ? policy->parse(replacement, argument, error) : 0;
	}
	return gt_fail(error, "'%s': expected lru, fifo, lfu, random[:SEED], weighted:W,W,..., plru, srrip or opt", text);
}
