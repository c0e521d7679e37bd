/* SPDX-License-Identifier: MIT */
#include "schedule/source.h"

#include <stdlib.h>

#include "schedule/sort.h"
#include "stream/rows.h"

/* ---- rows that did not come by access number ---- */

/* All are of one warp. */
static int sort(struct window *window, struct gt_error *error)
{
	struct kept *rows = window->rows, *room = malloc(window->capacity * sizeof *room);

	if (!room)
		return gt_fail_memory(error, "rows that are not in order");
	window->rows = gt_kept_sort(rows, room, window->n);
	free(window->rows == rows ? room : rows);
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
