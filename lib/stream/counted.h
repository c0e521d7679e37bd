/* SPDX-License-Identifier: MIT */
/* Fills a count from a struct that is generated from a table of counters. */
#ifndef GT_STREAM_COUNTED_H
#define GT_STREAM_COUNTED_H

#include <stddef.h>

#include "base/error.h"
#include "counter/counter.h"
#include "stream/count.h"

/* Begins a count anew, which has begun before, without giving its memory back. */
void gt_count_again(struct gt_count *count, const char *stage, uint64_t kernel);

/* Appends an entry whose value is still to come, of a name that is cut to fit; an array has n elements. NULL on error. */
struct gt_count_entry *gt_count_entry_new(struct gt_count *count, const char *name, size_t length, enum gt_count_kind kind, size_t n,
					  struct gt_error *error);

/* Appends the numbers of a table (COUNT and SETTING) in its order, from the first `bytes` of a struct of its
 * fields. */
int gt_count_numbers(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t bytes,
		     struct gt_error *error);
/* The same for those with an offset in [from, to). */
int gt_count_some(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t from, size_t to,
		  struct gt_error *error);
/* Appends the arrays of a table, which follow its numbers in the struct: of each, which has `elements`, the first n. */
int gt_count_arrays(struct gt_count *count, const struct gt_counters *table, const void *fields, size_t elements, size_t n,
		    struct gt_error *error);

#endif
