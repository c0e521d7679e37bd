/* SPDX-License-Identifier: MIT */
#include "schedule/block.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/compare.h"
#include "schedule/packing.h"

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
	gt_packing_free(block, keep);
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
		if (room < 0 || (room == 0 && !block->packed && gt_packing_take_loose(block, keep, error) != 0))
			return -1;
		n = room == 0 || n < (size_t)room ? n : (size_t)room;
		int result = block->packed ? gt_packing_add(block, keep, rows, first, n, error)
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
	return gt_packing_end(block, keep, error);
}

/* ---- rows that go ---- */

/* Of a packed block. */
static int open_sources(struct block *block, struct keep *keep, struct gt_error *error)
{
	size_t n = 0, warp;
	struct packed_warp *packed;

	for (warp = 0; gt_packing_next(block, &warp); warp++)
		n++;
	block->sources = calloc(n, sizeof *block->sources);
	if (!block->sources)
		return gt_fail_memory(error, "the warps of a block");
	for (warp = 0; (packed = gt_packing_next(block, &warp)); warp++)
		if (gt_source_open(&block->sources[block->n_sources++], &keep->strands, &packed->strand, (uint16_t)warp,
				   packed->unsorted, error) != 0)
			return -1;
	gt_packing_free(block, keep);
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
	    (gt_packing_take_loose(block, keep, error) != 0 || gt_packing_end(block, keep, error) != 0))
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
