/* SPDX-License-Identifier: MIT */
#include "schedule/packing.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "schedule/compare.h"

static struct packed_warp *warp_of(struct block *block, uint16_t number, struct gt_error *error)
{
	size_t page = number / GT_WARPS_PAGE;

	if (page >= block->n_pages) {
		struct packed_warp **pages = gt_resized(block->pages, page + 1, sizeof *pages);
		if (!pages) {
			gt_fail_memory(error, "the warps of a block");
			return NULL;
		}
		memset(pages + block->n_pages, 0, (page + 1 - block->n_pages) * sizeof(*pages));
		block->pages = pages;
		block->n_pages = page + 1;
	}
	if (!block->pages[page] && !(block->pages[page] = calloc(GT_WARPS_PAGE, sizeof **block->pages))) {
		gt_fail_memory(error, "the warps of a block");
		return NULL;
	}
	return &block->pages[page][number % GT_WARPS_PAGE];
}

static int more_packers(struct keep *keep, uint16_t warp, struct gt_error *error)
{
	size_t n = keep->n_packers;
	struct warp_packer *packers = gt_grown_to(keep->packers, (size_t)warp + 1, &keep->n_packers, sizeof *packers);

	if (!packers)
		return gt_fail_memory(error, "the warps of a block");
	memset(packers + n, 0, (keep->n_packers - n) * sizeof *packers);
	keep->packers = packers;
	return 0;
}

/* The packer of a warp, for this block from now on. */
static struct warp_packer *begin_warp(struct block *block, struct keep *keep, uint16_t warp, struct gt_error *error)
{
	if (warp >= keep->n_packers && more_packers(keep, warp, error) != 0)
		return NULL;
	struct warp_packer *packer = &keep->packers[warp];
	packer->id = 0;
	packer->warp = warp_of(block, warp, error);
	if (!packer->warp || gt_packer_begin(&packer->packer, &keep->strands, &packer->warp->strand, error) != 0)
		return NULL;
	packer->id = block->id;
	block->highest_warp = warp > block->highest_warp ? warp : block->highest_warp;
	return packer;
}

/* Packs a row; `odd` and `lanes` as gt_packer_add. */
static int pack(struct block *block, struct keep *keep, const struct kept *row, const struct shape *odd, const uint64_t *lanes,
		struct gt_error *error)
{
	struct warp_packer *packer = row->warp < keep->n_packers ? &keep->packers[row->warp] : NULL;

	if ((!packer || packer->id != block->id) && !(packer = begin_warp(block, keep, row->warp, error)))
		return -1;
	packer->warp->unsorted |= row->an < packer->warp->an;
	packer->warp->an = row->an;
	return gt_packer_add(&packer->packer, &keep->strands, row, odd, lanes, error);
}

int gt_packing_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t n,
		      struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	struct shape shape = {0};
	uint16_t number = SHAPE_NONE;
	uint8_t differs[GT_COMPARED_ROOM];

	gt_rows_compare(rows, first, n, differs);
	for (size_t k = 0; k < n; k++) {
		const uint64_t *lanes = NULL;
		if (differs[k] || number == SHAPE_NONE) {
			shape = shape_of(rows, first + k);
			lanes = lanes_of(rows, first + k);
			number = SHAPE_NONE;
			if (!lanes && gt_shapes_find(&keep->shapes, &shape, &number, error) != 0)
				return -1;
		}
		const struct kept row = {bases[k], rows->an[first + k], rows->warp[first + k], number};
		if (pack(block, keep, &row, number == SHAPE_NONE ? &shape : NULL, lanes, error) != 0)
			return -1;
	}
	return 0;
}

static int pack_span(struct block *block, struct keep *keep, const struct kept *span, struct gt_error *error)
{
	for (size_t k = 0; k < gt_span_rows(span); k++) {
		struct kept row = gt_span_row(span, k);
		const struct odd *odd = odd_of(&row);
		row.base = odd ? odd->base : row.base;
		if (pack(block, keep, &row, odd ? &odd->shape : NULL, odd_lanes(odd), error) != 0)
			return -1;
	}
	return 0;
}

int gt_packing_take_loose(struct block *block, struct keep *keep, struct gt_error *error)
{
	block->packed = true;
	for (struct piece *piece = block->loose.rows; piece; piece = piece->next)
		for (struct kept *span = gt_piece_spans(piece); span < gt_piece_end(piece); span = gt_span_next(span))
			if (pack_span(block, keep, span, error) != 0)
				return -1;
	gt_loose_free(&block->loose, &keep->loose);
	return 0;
}

struct packed_warp *gt_packing_next(const struct block *block, size_t *warp)
{
	for (; *warp < block->n_pages * GT_WARPS_PAGE; ++*warp) {
		struct packed_warp *page = block->pages[*warp / GT_WARPS_PAGE];
		if (page && page[*warp % GT_WARPS_PAGE].strand.first)
			return &page[*warp % GT_WARPS_PAGE];
	}
	return NULL;
}

int gt_packing_end(struct block *block, struct keep *keep, struct gt_error *error)
{
	struct packed_warp *packed;

	for (size_t warp = 0; (packed = gt_packing_next(block, &warp)); warp++)
		if (gt_strand_end(&keep->strands, &packed->strand, error) != 0)
			return -1;
	return 0;
}

void gt_packing_free(struct block *block, struct keep *keep)
{
	for (size_t page = 0; page < block->n_pages; page++) {
		for (size_t i = 0; block->pages[page] && i < GT_WARPS_PAGE; i++)
			gt_strand_drop(&keep->strands, &block->pages[page][i].strand);
		free(block->pages[page]);
	}
	free(block->pages);
	block->pages = NULL;
	block->n_pages = 0;
}
