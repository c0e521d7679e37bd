/* SPDX-License-Identifier: MIT */
/* What must be measured in one pass for a table: one profile, one for each number of sets, or a pair; and which
 * options are compatible. */
#ifndef GT_REUSE_PLAN_H
#define GT_REUSE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "reuse/reuse.h"
#include "reuse/tables.h"

#define GT_PLAN_MAX 16 /* measured in one pass */

struct gt_plan {
	struct gt_reuse_options measures[GT_PLAN_MAX];
	size_t n;
	const struct gt_split *split; /* of the pair, if it is one; measures have their own */
};

/* Makes the plan, and sets in `options` and `text` what the table determines: the line and the bound. Prepares `pair`
 * for tables of pairs. Returns 0, or -1 naming the incompatible options. */
int gt_plan_make(struct gt_plan *plan, struct gt_reuse_options *options, struct gt_reuse_text *text,
		 struct gt_pair *pair, struct gt_error *error);

#endif
