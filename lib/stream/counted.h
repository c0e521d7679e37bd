/* SPDX-License-Identifier: MIT */
/* Fills a count from a struct that is generated from a table of counters. */
#ifndef GT_STREAM_COUNTED_H
#define GT_STREAM_COUNTED_H

#include <stddef.h>

#include "base/error.h"
#include "counter/counter.h"
#include "stream/count.h"

/* Appends the numbers of a table (COUNT and SETTING) in its order, from the first `bytes` of a struct of its
 * fields. */
int gt_count_numbers(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t bytes,
		     struct gt_error *error);

#endif
