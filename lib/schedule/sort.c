/* SPDX-License-Identifier: MIT */
#include "schedule/sort.h"

#include <stdlib.h>

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

int gt_kept_sort_by_warp(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error)
{
	size_t *at = calloc((size_t)highest + 2, sizeof *at);

	if (!at)
		return gt_fail_memory(error, "the warps of a block");
	for (size_t i = 0; i < n; i++)
		at[from[i].warp + 1]++;
	for (size_t warp = 0; warp < highest; warp++)
		at[warp + 1] += at[warp];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].warp]++] = from[i];
	free(at);
	return 0;
}
