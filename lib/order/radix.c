/* SPDX-License-Identifier: MIT */
#include "order/radix.h"

#include <string.h>

#define DIGIT_BITS 8
#define BUCKETS (1U << DIGIT_BITS)
#define FEW 64 /* items that are sorted by insertion: counting takes longer */

/* One pass by one digit of the key. */
static void sort_by_digit(const struct gt_sort_item *from, struct gt_sort_item *to, size_t n, unsigned shift)
{
	size_t places[BUCKETS] = {0};
	size_t place = 0;

	for (size_t i = 0; i < n; i++)
		places[from[i].key >> shift & (BUCKETS - 1)]++;
	for (unsigned b = 0; b < BUCKETS; b++) {
		size_t count = places[b];
		places[b] = place;
		place += count;
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

static void sort_few(struct gt_sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct gt_sort_item item = items[i];
		size_t at = i;
		for (; at > 0 && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* The least significant digit first; digits that are 0 in all keys are skipped. */
struct gt_sort_item *gt_radix_sort(struct gt_sort_item *items, struct gt_sort_item *spare, size_t n, uint64_t bits)
{
	if (n <= FEW) {
		sort_few(items, n);
		return items;
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if ((bits >> shift & (BUCKETS - 1)) == 0)
			continue;
		sort_by_digit(items, spare, n, shift);
		struct gt_sort_item *swap = items;
		items = spare;
		spare = swap;
	}
	return items;
}
