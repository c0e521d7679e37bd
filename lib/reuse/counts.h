/* SPDX-License-Identifier: MIT */
/* Measured reuse as counts in the stream. */
#ifndef GT_REUSE_COUNTS_H
#define GT_REUSE_COUNTS_H

#include <stdint.h>

#include "base/error.h"
#include "reuse/measures.h"
#include "reuse/tables.h"
#include "stream/output.h"

/* The longest suffix of a stage's name: ":4294967296". */
#define GT_COUNTS_SUFFIX 11

/* Writes the counts of a kernel from finished measures: a histogram for each measure or, for a table with figures,
 * one count for each requested size. Stages are named `name`, followed by ":" and the size, or by the number of
 * sets of a curve, if there may be several. The entries of gt_reuse_describe come first, then the numbers of all
 * references, then those of each class, with the class's name in front. */
int gt_counts_give(const struct gt_measures *measures, const struct gt_reuse_text *text, const char *name,
		   uint64_t kernel, const struct gt_output *output, struct gt_error *error);

#endif
