/* SPDX-License-Identifier: MIT */
#include "cache/replace/replace.h"

#include <string.h>

#include "gpu/parameter.h"

#define ADDRESS(NAME) &gt_policy_##NAME,

const struct gt_policy *const gt_policies[] = {GT_POLICIES(ADDRESS)};
const size_t gt_policies_n = sizeof gt_policies / sizeof gt_policies[0];

int gt_replacement_parse(const char *text, struct gt_replacement *replacement, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	const char *argument = text[length] ? text + length + 1 : NULL;

	for (size_t i = 0; i < gt_policies_n; i++) {
		const struct gt_policy *policy = gt_policies[i];
		if (strlen(policy->name) != length || strncmp(policy->name, text, length) != 0)
			continue;
		if (argument && !policy->parse)
			return gt_fail(error, "'%s': %s takes no argument", text, policy->name);
		replacement->policy = policy;
		return policy->parse ? policy->parse(replacement, argument, error) : 0;
	}
	return gt_fail(error, "'%s': expected %s", text, gt_parameters[GT_LEVEL_REPLACE].choices);
}
