/* SPDX-License-Identifier: MIT */
/* How a GPU coalesces a warp access into requests. A new rule is a row of the table in rules.c. */
#ifndef GT_COALESCE_RULES_H
#define GT_COALESCE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/public.h"
#include "stream/op.h"

GT_PUBLIC_BEGIN

#define GT_RULE_SIZES 6 /* data of up to 1, 2, 4, 8, 16 and 32 bytes a lane */

struct gt_coalescing_rule {
	const char *name;
	const char *summary; /* one line for --help */
	/* Lanes, by their index in the warp, that are coalesced together: a power of two for each
	 * size of data. */
	unsigned char group[GT_RULE_SIZES];
	/* The requests of several groups of one store to one line are joined, unless they share a sector. */
	bool join_stores;
	bool whole_lines; /* a request is for the whole line, because the next cache has no sectors; except for
			   * textures, whose cache has other lines, and turns, which have none */
};

extern const struct gt_coalescing_rule gt_coalescing_rules[];
extern const size_t gt_coalescing_rules_n;

/* Whether an access of that op requests whole lines. */
static inline bool gt_rule_whole_lines(const struct gt_coalescing_rule *rule, uint8_t op)
{
	return rule->whole_lines && gt_op_space(op) != GT_TEXTURE && gt_op_space(op) != GT_SHARED;
}

GT_PUBLIC_END

#endif
