/* SPDX-License-Identifier: MIT */
/* All measurements of a plan, in one pass. */
#ifndef GT_REUSE_MEASURES_H
#define GT_REUSE_MEASURES_H

#include "base/error.h"
#include "reuse/plan.h"
#include "reuse/reuse.h"
#include "reuse/tables.h"

struct gt_measures {
	struct gt_reuse reuses[GT_PLAN_MAX];
	size_t n;
	struct gt_pair *pair; /* of the first two, if there is one; the caller's */
};

/* Opens the pair too, which the caller closes. Zeroed measures can be closed, and so can those whose opening
 * failed. */
int gt_measures_open(struct gt_measures *measures, const struct gt_plan *plan, struct gt_pair *pair,
		     struct gt_error *error);
void gt_measures_close(struct gt_measures *measures);

/* As gt_reuse_rows, for each. */
int gt_measures_rows(struct gt_measures *measures, const struct gt_rows *rows, struct gt_error *error);
/* A kernel ends: empties the stacks, or without `flush` only those of its warps and blocks. */
int gt_measures_end_kernel(struct gt_measures *measures, bool flush, struct gt_error *error);
/* Sets all counts to 0. */
void gt_measures_clear(struct gt_measures *measures);

/* Ends the counting until the next clear: every profile adds up and its classes are sorted. */
int gt_measures_finish(struct gt_measures *measures, struct gt_error *error);
/* Appends the counts to the table, with `kernel` in the first column. */
int gt_measures_table(struct gt_measures *measures, struct gt_reuse_text *text, const char *kernel,
		      struct gt_error *error);

#endif
