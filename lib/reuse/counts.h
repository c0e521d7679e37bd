/* SPDX-License-Identifier: MIT */
/* What was measured, as counts that travel down the pipe. */
#ifndef GT_REUSE_COUNTS_H
#define GT_REUSE_COUNTS_H

#include <stdint.h>

#include "base/error.h"
#include "reuse/measures.h"
#include "reuse/tables.h"
#include "stream/output.h"

/* Bytes that a stage's name takes at most beyond the one it is given: ":4294967296". */
#define GT_COUNTS_SUFFIX 11

/* Gives away what finished measures say of a kernel: a histogram for each or, for a table that has
 * figures, one count for each size that was asked for. Stages are called as `name` says, with ":" and
 * the size, or the number of sets of a curve, where there may be several. After the words of
 * gt_reuse_describe come the numbers of all references and, behind the names of their classes, those
 * of each class. */
int gt_counts_give(const struct gt_measures *measures, const struct gt_reuse_text *text, const char *name,
		   uint64_t kernel, const struct gt_output *output, struct gt_error *error);

#endif
