/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "schedule/block.h"
#include "schedule/loose.h"
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

/* Takes over a strand of rows of a warp, which are put in order first if they are not; there are some. Returns 0, or -1. */
static int source_open(struct source *source, struct gt_strands *strands, struct gt_strand *strand, uint16_t warp, bool unsorted,
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

/* Packs the rows of a block, warp by warp. */

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

/* Packs rows [first, first + n) of a batch, GT_COMPARED_ROWS at most. Returns 0, or -1. */
static int packing_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t n,
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

/* Packs the loose rows: from now on the block is packed. Returns 0, or -1. */
static int packing_take_loose(struct block *block, struct keep *keep, struct gt_error *error)
{
	block->packed = true;
	for (struct piece *piece = block->loose.rows; piece; piece = piece->next)
		for (struct kept *span = gt_piece_spans(piece); span < gt_piece_end(piece); span = gt_span_next(span))
			if (pack_span(block, keep, span, error) != 0)
				return -1;
	gt_loose_free(&block->loose, &keep->loose);
	return 0;
}

/* The next warp from `warp` on that has rows; NULL: none has. */
static struct packed_warp *packing_next(const struct block *block, size_t *warp)
{
	for (; *warp < block->n_pages * GT_WARPS_PAGE; ++*warp) {
		struct packed_warp *page = block->pages[*warp / GT_WARPS_PAGE];
		if (page && page[*warp % GT_WARPS_PAGE].strand.first)
			return &page[*warp % GT_WARPS_PAGE];
	}
	return NULL;
}

/* No more rows will come. Returns 0, or -1. */
static int packing_end(struct block *block, struct keep *keep, struct gt_error *error)
{
	struct packed_warp *packed;

	for (size_t warp = 0; (packed = packing_next(block, &warp)); warp++)
		if (gt_strand_end(&keep->strands, &packed->strand, error) != 0)
			return -1;
	return 0;
}

/* Releases the rows that no source has taken over. */
static void packing_free(struct block *block, struct keep *keep)
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

/* ---- where rows are kept ---- */

int gt_keep_open(struct keep *keep, size_t memory, const char *directory, enum arrangement arrangement, struct gt_error *error)
{
	keep->loose.singly = arrangement == BY_WARP;
	keep->loose.limit = memory / 2;
	gt_strands_open(&keep->strands, memory - memory / 2, directory);
	return gt_shapes_open(&keep->shapes, error);
}

void gt_keep_close(struct keep *keep)
{
	gt_shapes_close(&keep->shapes);
	gt_strands_close(&keep->strands);
	free(keep->packers);
}

struct block *gt_block_new(uint32_t number, struct keep *keep, struct gt_error *error)
{
	struct block *block = calloc(1, sizeof *block);

	if (!block) {
		gt_fail_memory(error, "a block");
		return NULL;
	}
	block->number = number;
	block->open = true;
	block->id = ++keep->blocks;
	return block;
}

void gt_block_free(struct block *block, struct keep *keep)
{
	gt_loose_free(&block->loose, &keep->loose);
	packing_free(block, keep);
	for (size_t i = 0; i < block->n_sources; i++)
		gt_source_close(&block->sources[i], &keep->strands);
	free(block->sources);
	gt_window_free(&block->window);
	free(block->runners);
	free(block);
}

/* ---- rows that come ---- */

int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
		 struct gt_error *error)
{
	for (size_t n; first < last; first += n) {
		n = last - first < GT_COMPARED_ROWS ? last - first : GT_COMPARED_ROWS;
		ptrdiff_t room = block->packed ? 0 : gt_loose_room(&block->loose, &keep->loose, keep->expected, error);
		if (room < 0 || (room == 0 && !block->packed && packing_take_loose(block, keep, error) != 0))
			return -1;
		n = room == 0 || n < (size_t)room ? n : (size_t)room;
		int result = block->packed ? packing_add(block, keep, rows, first, n, error)
					   : gt_loose_add(&block->loose, &keep->loose, &keep->shapes, rows, first, n, error);
		if (result != 0)
			return -1;
	}
	return 0;
}

int gt_block_close(struct block *block, struct keep *keep, struct gt_error *error)
{
	block->open = false;
	keep->expected = block->packed ? keep->expected : block->loose.words;
	gt_loose_close(&block->loose, &keep->loose);
	return packing_end(block, keep, error);
}

/* ---- rows that go ---- */

/* Of a packed block. */
static int open_sources(struct block *block, struct keep *keep, struct gt_error *error)
{
	size_t n = 0, warp;
	struct packed_warp *packed;

	for (warp = 0; packing_next(block, &warp); warp++)
		n++;
	block->sources = calloc(n, sizeof *block->sources);
	if (!block->sources)
		return gt_fail_memory(error, "the warps of a block");
	for (warp = 0; (packed = packing_next(block, &warp)); warp++)
		if (source_open(&block->sources[block->n_sources++], &keep->strands, &packed->strand, (uint16_t)warp,
				packed->unsorted, error) != 0)
			return -1;
	packing_free(block, keep);
	return 0;
}

/* The lowest access number of rows that are still packed; false if there are none. */
static bool next_access(const struct block *block, uint32_t *an)
{
	bool more = false;

	*an = UINT32_MAX;
	for (size_t i = 0; i < block->n_sources; i++) {
		const struct unpacker *unpacker = &block->sources[i].unpacker;
		more |= unpacker->more;
		*an = unpacker->more && unpacker->next_an < *an ? unpacker->next_an : *an;
	}
	return more;
}

int gt_block_fill(struct block *block, struct keep *keep, struct gt_error *error)
{
	struct window *window = &block->window;
	uint32_t an;

	window->n = window->n_words = 0;
	while (window->n < GT_WINDOW_ROWS && next_access(block, &an)) {
		for (size_t i = 0; i < block->n_sources; i++) {
			struct source *source = &block->sources[i];
			if (source->unpacker.more && source->unpacker.next_an == an &&
			    gt_unpacker_access(&source->unpacker, &keep->strands, source->warp, window, error) != 0)
				return -1;
		}
	}
	gt_window_settle(window);
	block->row = window->rows;
	block->end = window->rows + window->n;
	return 0;
}

/* Of one whose rows are loose, and ordered by warp. */
static int slice(struct block *block, struct gt_error *error)
{
	struct kept *end = block->row, *first;
	size_t n = 0;

	for (const struct kept *row = block->row; row < block->end; row++)
		n += row == block->row || row->warp != row[-1].warp;
	block->sources = calloc(n, sizeof *block->sources);
	if (!block->sources)
		return gt_fail_memory(error, "the warps of a block");
	block->n_sources = n;
	for (size_t i = 0; i < n; i++) {
		for (first = end; end < block->end && end->warp == first->warp;)
			end++;
		block->sources[i].warp = first->warp;
		block->sources[i].row = first;
		block->sources[i].end = end;
	}
	return 0;
}

static int arrange_packed(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error)
{
	if (open_sources(block, keep, error) != 0)
		return -1;
	return arrangement == BY_ACCESS ? gt_block_fill(block, keep, error) : 0;
}

int gt_block_arrange(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error)
{
	if (!block->packed && !gt_loose_fits(&block->loose, &keep->loose) &&
	    (packing_take_loose(block, keep, error) != 0 || packing_end(block, keep, error) != 0))
		return -1;
	if (block->packed)
		return arrange_packed(block, keep, arrangement, error);
	if (gt_loose_arrange(&block->loose, &keep->loose, arrangement, error) != 0)
		return -1;
	block->highest_warp = block->loose.highest_warp;
	block->row = gt_piece_spans(block->loose.rows);
	block->end = gt_piece_end(block->loose.rows);
	return arrangement == BY_WARP ? slice(block, error) : 0;
}
