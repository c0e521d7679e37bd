/* SPDX-License-Identifier: MIT */
/* The options of a measurement, as users write them. */
#ifndef GT_REUSE_OPTIONS_H
#define GT_REUSE_OPTIONS_H

#include "base/error.h"
#include "reuse/reuse.h"
#include "stream/op.h"

/* Lines of 128 bytes, a stack per SM if rows have one, all actions, no split. */
extern const struct gt_reuse_options gt_reuse_usual;

/* Sets the option of that name:
 *   granularity  line, line:SIZE, sector, address, address:SIZE
 *   line         SIZE, as granularity line:SIZE
 *   per          warp, block, sm, global, set:N or sm,set:N
 *   op           a list of loads, stores, atomics, all
 *   by           the name of a split
 *   bound        distances counted one by one
 *   sample       a rate above 0, up to 1
 *   sample-lines lines kept, 64 or more
 * Returns 0, or -1: the value is none of these. The name must be one of these. */
int gt_reuse_set(struct gt_reuse_options *options, const char *name, const char *value,
		 struct gt_error *error);

#define GT_REUSE_ACTIONS (1U << GT_LOAD | 1U << GT_STORE | 1U << GT_ATOMIC | 1U << GT_REDUCTION)
#define GT_REUSE_OPS_TEXT 32
/* The list that option op was set by: "loads,atomics". Returns the text. */
const char *gt_reuse_ops(unsigned actions, char text[GT_REUSE_OPS_TEXT]);

/* "warp", "block", "sm" or "global". Returns 0, or -1 if the name is none of them. */
int gt_reuse_per_find(const char *name, enum gt_reuse_per *per);

#endif
