/* SPDX-License-Identifier: MIT */
/* What a stage counted in one kernel: named 64-bit numbers, arrays of them, and words. */
#ifndef GT_STREAM_COUNT_H
#define GT_STREAM_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

#define GT_COUNT_NAME 80 /* bytes a stage's or counter's name may have, with its final 0 */
#define GT_COUNT_VALUES_MAX 4000000 /* elements that the arrays of one count may have together */

enum gt_count_kind { GT_COUNT_NUMBER, GT_COUNT_ARRAY, GT_COUNT_TEXT };

struct gt_count_entry {
	char name[GT_COUNT_NAME];
	enum gt_count_kind kind;
	uint64_t number;
	uint64_t *array; /* owned */
	size_t n;	 /* elements of array */
	char *text;	 /* owned */
};

struct gt_count {
	char stage[GT_COUNT_NAME];
	uint64_t kernel; /* id of the launch */
	struct gt_count_entry *entries;
	size_t n, capacity;
	size_t elements; /* of all arrays */
};

/* An empty count. Freed by gt_count_clear, which leaves it zeroed. */
void gt_count_begin(struct gt_count *count, const char *stage, uint64_t kernel);
void gt_count_clear(struct gt_count *count);

/* Each appends an entry, copying what it is given. Returns 0, or -1 when memory is short. */
int gt_count_number(struct gt_count *count, const char *name, uint64_t value, struct gt_error *error);
int gt_count_array(struct gt_count *count, const char *name, const uint64_t *values, size_t n,
		   struct gt_error *error);
int gt_count_text(struct gt_count *count, const char *name, const char *text, struct gt_error *error);

/* Makes a count that has begun one of the same entries. Returns 0, or -1 when memory is short. */
int gt_count_copy(struct gt_count *count, const struct gt_count *from, struct gt_error *error);

/* The entry of that name, or NULL. */
const struct gt_count_entry *gt_count_find(const struct gt_count *count, const char *name);
/* The number of that name, or `otherwise`. */
uint64_t gt_count_value(const struct gt_count *count, const char *name, uint64_t otherwise);

GT_PUBLIC_END

#endif
