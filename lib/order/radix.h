/* SPDX-License-Identifier: MIT */
/* Sorting by one word. */
#ifndef GT_ORDER_RADIX_H
#define GT_ORDER_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* What is sorted, and the word that it is sorted by. */
struct gt_sort_item {
	uint64_t key;
	const void *what;
};

/* Sorts n items, of which equal ones stay in their order; `bits` are set if they are in some key. `spare` has room for n.
 * Returns the array of the two that has the result. */
struct gt_sort_item *gt_radix_sort(struct gt_sort_item *items, struct gt_sort_item *spare, size_t n, uint64_t bits);

#endif
