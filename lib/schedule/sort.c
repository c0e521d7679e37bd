/* SPDX-License-Identifier: MIT */
#include "schedule/sort.h"

/* Merges two adjacent runs of `from`, [0, middle) and [middle, n). */
static void merge(struct kept *to, const struct kept *from, size_t middle, size_t n)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool from_left = right == n || (left < middle && gt_kept_key(&from[left]) <= gt_kept_key(&from[right]));
		to[i] = from[from_left ? left++ : right++];
	}
}

struct kept *gt_kept_sort(struct kept *rows, struct kept *room, size_t n)
{
	struct kept *from = rows, *to = room;

	for (size_t run = 1; run < n; run *= 2) {
		for (size_t at = 0; at < n; at += 2 * run) {
			size_t left = n - at < run ? n - at : run;
			size_t both = n - at < 2 * run ? n - at : 2 * run;
			merge(to + at, from + at, left, both);
		}
		struct kept *sorted = to;
		to = from;
		from = sorted;
	}
	return from;
}
