/* SPDX-License-Identifier: MIT */
/* Policies and index functions as options name them, from the library's tables: one that is new is tested with the
 * others. */
#ifndef TESTS_CACHE_NAMES_H
#define TESTS_CACHE_NAMES_H

#include <string.h>

#include "cache/index/index.h"
#include "replace/replace.h"

/* The arguments of those that want one. */
static const char *with_argument(const char *name)
{
	static const char *const texts[] = {"weighted:1/6,1/2,1/6,1/6", "order:2,1,2,3,2,4", "tail:2", "smod:2", "bits:7^13,8^8&14,9^30&15,10^16^20,11^17&18^18&19",
					    "table:001f0203131204050607100d0f"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strncmp(texts[i], name, strlen(name)) == 0 && texts[i][strlen(name)] == ':')
			return texts[i];
	return name;
}

static inline const char *policy_text(size_t i)
{
	return with_argument(gt_policies[i % gt_policies_n]->name);
}

static inline const char *index_text(size_t i)
{
	return with_argument(gt_index_functions[i % gt_index_functions_n]->name);
}

#endif
