/* SPDX-License-Identifier: MIT */
/* Whether a level's parameters are compatible: a table of rules. Each rule lists the parameters that it uses, so that it
 * is checked before anything is read if all of them are on the command line. */
#ifndef GT_CACHE_CONFIG_CHECK_H
#define GT_CACHE_CONFIG_CHECK_H

#include "cache/config.h"

#define GT_OF(ID) (UINT64_C(1) << (ID))
_Static_assert(GT_PARAMETERS <= 64, "parameters are known by the bits of a number");

struct gt_rule {
	uint64_t looks_at;
	int (*check)(const struct gt_level_config *config, struct gt_error *error);
};

/* Checks each of n rules whose parameters are all in `known`. */
int gt_check_rules(const struct gt_rule *table, size_t n, const struct gt_level_config *config, uint64_t known,
		   struct gt_error *error);

/* Banks are at most GT_BANKS_MAX. */
int gt_check_bank_count(const struct gt_level_config *config, struct gt_error *error);
/* All banks have the same number of sets. */
int gt_check_banks(const struct gt_level_config *config, struct gt_error *error);

#endif
