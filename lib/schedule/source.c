/* SPDX-License-Identifier: MIT */
#include "schedule/source.h"

#include <stdlib.h>
#include <string.h>

#include "stream/rows.h"

/* ---- rows that did not come by access number ---- */

/* Merges two adjacent runs of `from`, [0, middle) and [middle, n). */
static void merge(struct kept *to, const struct kept *from, size_t middle, size_t n)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool from_left = right == n || (left < middle && from[left].an <= from[right].an);
		to[i] = from[from_left ? left++ : right++];
	}
}

/* A stable merge sort by access number, bottom up. */
static int sort(struct window *window, struct gt_error *error)
{
	size_t n = window->n;
	struct kept *from = window->rows, *to = malloc(window->capacity * sizeof *to);

	if (!to)
		return gt_fail_memory(error, "rows that are not in order");
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
	window->rows = from;
	free(to);
	return 0;
}

static int pack_all(const struct window *window, struct gt_strands *strands, struct gt_strand *strand, struct gt_error *error)
{
	struct packer packer;

	if (gt_packer_begin(&packer, strands, strand, error) != 0)
		return -1;
	for (size_t i = 0; i < window->n; i++) {
		const struct kept *row = &window->rows[i];
		const struct odd *odd = odd_of(row);
		struct kept copy = *row;
		copy.base = odd ? odd->base : row->base;
		if (gt_packer_add(&packer, strands, &copy, odd ? &odd->shape : NULL, odd_lanes(odd), error) != 0)
			return -1;
	}
	return gt_strand_end(strands, strand, error);
}

static int unpack_all(struct source *source, struct gt_strands *strands, struct window *window, struct gt_error *error)
{
	if (gt_unpacker_begin(&source->unpacker, strands, &source->strand, error) != 0)
		return -1;
	while (source->unpacker.more)
		if (gt_unpacker_access(&source->unpacker, strands, source->warp, window, error) != 0)
			return -1;
	gt_window_settle(window);
	return 0;
}

/* Packs the rows again, in order. */
static int put_in_order(struct source *source, struct gt_strands *strands, struct gt_error *error)
{
	struct gt_strand strand = {0};
	struct window window = {0};
	int result = -1;

	if (unpack_all(source, strands, &window, error) == 0 && sort(&window, error) == 0)
		result = pack_all(&window, strands, &strand, error);
	gt_window_free(&window);
	gt_strand_drop(strands, &source->strand);
	source->strand = strand;
	return result;
}

/* ---- in order ---- */

int gt_source_open(struct source *source, struct gt_strands *strands, struct gt_strand *strand, uint16_t warp, bool unsorted,
		   struct gt_error *error)
{
	*source = (struct source){.strand = *strand, .warp = warp};
	*strand = (struct gt_strand){0};
	if (unsorted && put_in_order(source, strands, error) != 0)
		return -1;
	return gt_unpacker_begin(&source->unpacker, strands, &source->strand, error);
}

void gt_source_close(struct source *source, struct gt_strands *strands)
{
	gt_strand_drop(strands, &source->strand);
	gt_window_free(&source->window);
	source->row = source->end = NULL;
}

int gt_source_fill(struct source *source, struct gt_strands *strands, struct gt_error *error)
{
	struct window *window = &source->window;

	window->n = window->n_words = 0;
	while (source->unpacker.more && window->n < GT_WINDOW_ROWS)
		if (gt_unpacker_access(&source->unpacker, strands, source->warp, window, error) != 0)
			return -1;
	gt_window_settle(window);
	source->row = window->rows;
	source->end = window->rows + window->n;
	return 0;
}
