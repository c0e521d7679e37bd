/* SPDX-License-Identifier: MIT */
/* What is measured: the unit of reuse (lines, sectors or addresses), what has a stack, which references count. */
#ifndef GT_REUSE_OPTIONS_H
#define GT_REUSE_OPTIONS_H

#include "base/error.h"
#include "stream/op.h"
#include "stream/rows.h"

#define GT_UNIT_SIZE_MAX (UINT64_C(1) << 40) /* bytes */

struct gt_granularity {
	const char *name;
	enum gt_rows_kind kind;		     /* of the rows it reads */
	uint64_t usual, smallest, largest;   /* bytes of a unit: powers of two */
	/* The numbers (address >> shift) of the units that row i refers to, in order, into an array
	 * of GT_WARP_SIZE; returns how many. */
	unsigned (*references)(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units);
};

extern const struct gt_granularity gt_granularity_line;

struct gt_unit {
	const struct gt_granularity *granularity;
	unsigned shift; /* log2 of its bytes */
};

#define GT_REUSE_SETS_MAX (UINT64_C(1) << 24)
#define GT_SAMPLE_EVERY_MAX (UINT64_C(1) << 24)

struct gt_split;
struct gt_launch;

enum gt_reuse_per {
	GT_PER_SM_IF_SCHEDULED, /* a stack per SM if rows have an SM, else one */
	GT_PER_SM,
	GT_PER_GLOBAL,
	GT_PER_BLOCK,
	GT_PER_WARP,
	GT_PER_N
};

struct gt_reuse_options {
	struct gt_unit unit;
	enum gt_reuse_per per;
	uint64_t sets; /* each of these is divided into this many stacks ([002] 4.3) */
	/* The set of a unit, below `sets`; NULL: its number modulo sets. */
	uint32_t (*set_of)(const void *context, uint64_t unit);
	const void *set_context;
	unsigned actions; /* bit 1 << action for each enum gt_action that makes references */
	uint64_t bound; /* reuse/histogram.h */
	const struct gt_split *split;
	const struct gt_launch *launch; /* for the split; the caller's */
	/* One of `every` lines, chosen by hash, is measured (1: all), and represents that many: its distances
	 * and counts are multiplied. When more than sample_lines (0: no limit) are in the stacks, `every` is
	 * doubled and lines are dropped. */
	uint64_t every, sample_lines;
	unsigned jobs; /* threads that measure, if gt_reuse_may_gather; 0: one */
	/* Called with each reference, if set: the row and the unit's number and distance. */
	int (*watch)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit,
		     uint64_t distance, struct gt_error *error);
	/* Called, if set, with each reference that found no MSHR: it is retried later, and has no distance. */
	int (*watch_refused)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error);
	void *watch_context;
};

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

/* "warp", "block", "sm" or "global". */
extern const char *const gt_reuse_per_names[GT_PER_N];
/* Returns 0, or -1 if the name is none of them. */
int gt_reuse_per_find(const char *name, enum gt_reuse_per *per);

#endif
