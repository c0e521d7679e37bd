/* SPDX-License-Identifier: MIT */
/* Rows in memory (order/kept.h) read in order: by the high word of their keys, and then, for the rows of each such word, which
 * are few, by the low one. */
#ifndef GT_ORDER_ORDERED_H
#define GT_ORDER_ORDERED_H

#include "order/kept.h"
#include "order/radix.h"
#include "order/warps.h"

/* An array that is sorted, and what sorting it takes. */
struct gt_sortable {
	struct gt_sort_item *items, *spare;
	size_t n, next; /* the next that is read */
	size_t capacity;
};

struct gt_ordered {
	const struct gt_kept *kept;
	struct gt_packed row; /* the last that was read */
	bool as_they_came;
	/* Rows that are read as they came: the span, its next record, and how many are left of it. */
	size_t span, left;
	const char *at;
	/* Others: spans, or rows if spans have nothing in common, by high words; and rows of one high word, from few spans of
	 * warps, or sorted by low words. */
	struct gt_sortable by_high, by_low;
	struct gt_warps warps;
	uint64_t high; /* that word */
};

/* For rows that stay as they are until the end. */
int gt_ordered_begin(struct gt_ordered *ordered, const struct gt_kept *kept, struct gt_error *error);
/* The next row and its addresses, valid until the next call; false after the last. */
bool gt_ordered_next(struct gt_ordered *ordered, const struct gt_packed **row, const uint64_t **lanes);
void gt_ordered_end(struct gt_ordered *ordered);

/* To read rows in parts, some high words in each. */
int gt_ordered_begin_parts(struct gt_ordered *whole, const struct gt_kept *kept, struct gt_error *error);
/* The rows of the largest high word. */
size_t gt_ordered_largest(const struct gt_ordered *whole);
/* The next of what is listed by high words, for high words of this kernel with so many rows or the kernel's last: how many. */
size_t gt_ordered_next_listed(struct gt_ordered *whole, uint32_t kernel, size_t rows);
/* Begins a part with n of them; it may have been one before. */
int gt_ordered_begin_part(struct gt_ordered *part, const struct gt_ordered *whole, size_t first, size_t n, struct gt_error *error);
void gt_ordered_end_part(struct gt_ordered *part);

/* Bytes that this takes at most: spans are sorted, and so many rows. */
static inline uint64_t gt_ordered_bytes(const struct gt_kept *kept, uint64_t rows)
{
	return 2 * sizeof(struct gt_sort_item) * (rows + kept->spans_n);
}

#endif
