/* SPDX-License-Identifier: MIT */
#include "schedule/block.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 16
#define MOST_ROWS 65536 /* a piece has at most, until all are gathered in one */
#define FIRST_LANES 64
#define MOST_LANES 65536

_Static_assert(sizeof(struct kept) == 32, "a kept row is 32 bytes");
_Static_assert(sizeof(struct piece) == 32, "the head of a piece keeps rows aligned");

static struct kept *rows_of(struct piece *piece)
{
	return (struct kept *)(void *)piece->data;
}

static size_t piece_bytes(size_t n, size_t width)
{
	return sizeof(struct piece) + n * width;
}

static struct piece *take(struct gt_store *store, size_t capacity, size_t width, struct gt_error *error)
{
	struct gt_segment *segment;
	struct piece *piece = gt_store_take(store, piece_bytes(capacity, width), &segment, error);

	if (piece)
		*piece = (struct piece){.segment = segment, .capacity = capacity};
	return piece;
}

static void release(struct piece *piece, struct gt_store *store)
{
	while (piece) {
		struct piece *next = piece->next;
		gt_store_release(store, piece->segment);
		piece = next;
	}
}

struct block *block_new(uint32_t number, struct gt_error *error)
{
	struct block *block = calloc(1, sizeof *block);

	if (!block) {
		gt_fail_memory(error, "a block");
		return NULL;
	}
	block->number = number;
	block->open = true;
	return block;
}

void block_free(struct block *block, struct gt_store *store)
{
	release(block->rows, store);
	release(block->lanes, store);
	free(block);
}

/* Twice what the piece before had, within bounds. */
static size_t next_capacity(const struct piece *last, size_t first, size_t most)
{
	size_t capacity = last ? 2 * last->capacity : first;

	return capacity < most ? capacity : most;
}

/* Room for one more row at the end of the block. */
static int more_rows(struct block *block, struct gt_store *store, size_t expected, struct gt_error *error)
{
	size_t first = expected > FIRST_ROWS ? expected : FIRST_ROWS;
	size_t capacity = next_capacity(block->last, first, MOST_ROWS);
	struct piece *piece = take(store, capacity, sizeof(struct kept), error);

	if (!piece)
		return -1;
	if (block->last)
		block->last->next = piece;
	else
		block->rows = piece;
	block->last = piece;
	return 0;
}

/* A copy of n addresses that lives as long as the block. */
static uint64_t *keep_lanes(struct block *block, struct gt_store *store, const uint64_t *lanes, size_t n,
			    struct gt_error *error)
{
	struct piece *piece = block->lanes;

	if (!piece || piece->capacity - piece->n < n) {
		piece = take(store, next_capacity(piece, FIRST_LANES, MOST_LANES), sizeof *lanes, error);
		if (!piece)
			return NULL;
		piece->next = block->lanes;
		block->lanes = piece;
	}
	uint64_t *kept = piece->data + piece->n;
	memcpy(kept, lanes, n * sizeof *lanes);
	piece->n += n;
	return kept;
}

static int keep_access(struct block *block, struct gt_store *store, const struct gt_rows *rows, size_t i,
		       struct kept *row, struct gt_error *error)
{
	row->size = rows->size[i];
	row->mask = rows->mask[i];
	row->base = rows->base[i];
	row->stride = rows->stride[i];
	if (row->stride != GT_STRIDE_LANES)
		return 0;
	uint64_t *lanes = keep_lanes(block, store, rows->lanes + rows->base[i],
				     (size_t)__builtin_popcount(row->mask), error);
	row->base = (uint64_t)(uintptr_t)lanes;
	return lanes ? 0 : -1;
}

static void keep_request(const struct gt_rows *rows, size_t i, struct kept *row)
{
	row->size = 0;
	row->stride = 0;
	row->base = rows->address[i];
	row->mask = (uint32_t)(rows->sectors[i] | rows->full[i] << 8 | rows->threads[i] << 16);
}

int block_add(struct block *block, struct gt_store *store, const struct gt_rows *rows, size_t first,
	      size_t last, size_t expected, struct gt_error *error)
{
	for (size_t i = first; i < last; i++) {
		if ((!block->last || block->last->n == block->last->capacity) &&
		    more_rows(block, store, expected, error) != 0)
			return -1;
		struct kept *row = &rows_of(block->last)[block->last->n];
		row->an = rows->an[i];
		row->pc = rows->pc[i];
		row->warp = rows->warp[i];
		row->op = rows->op[i];
		if (rows->kind == GT_REQUESTS)
			keep_request(rows, i, row);
		else if (keep_access(block, store, rows, i, row, error) != 0)
			return -1;
		block->last->n++;
	}
	block->n += last - first;
	return 0;
}

void block_close(struct block *block)
{
	struct piece *last = block->last;

	block->open = false;
	if (!last)
		return;
	gt_store_trim(last->segment, last, piece_bytes(last->capacity, sizeof(struct kept)),
		      piece_bytes(last->n, sizeof(struct kept)));
	last->capacity = last->n;
}

static bool is_sorted(const struct kept *rows, size_t n, issue_key key)
{
	for (size_t i = 1; i < n; i++)
		if (key(&rows[i]) < key(&rows[i - 1]))
			return false;
	return true;
}

/* Merges two runs that stand side by side in `from`, [0, middle) and [middle, n). */
static void merge(struct kept *to, const struct kept *from, size_t middle, size_t n, issue_key key)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool from_left = right == n || (left < middle && key(&from[left]) <= key(&from[right]));
		to[i] = from[from_left ? left++ : right++];
	}
}

/* A stable sort, bottom up. `spare` has room for n rows, too. Returns the one that holds them. */
static struct kept *sort(struct kept *rows, struct kept *spare, size_t n, issue_key key)
{
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t at = 0; at < n; at += 2 * run) {
			size_t left = n - at < run ? n - at : run;
			size_t both = n - at < 2 * run ? n - at : 2 * run;
			merge(spare + at, rows + at, left, both, key);
		}
		struct kept *sorted = spare;
		spare = rows;
		rows = sorted;
	}
	return rows;
}

/* All rows of the block in one new piece, in the order they came. */
static struct piece *gather(const struct block *block, struct gt_store *store, struct gt_error *error)
{
	struct piece *all = take(store, block->n, sizeof(struct kept), error);

	for (struct piece *piece = block->rows; all && piece; piece = piece->next) {
		memcpy(rows_of(all) + all->n, rows_of(piece), piece->n * sizeof(struct kept));
		all->n += piece->n;
	}
	return all;
}

int block_arrange(struct block *block, struct gt_store *store, issue_key key, struct gt_error *error)
{
	if (block->rows->next) {
		struct piece *all = gather(block, store, error);
		if (!all)
			return -1;
		release(block->rows, store);
		block->rows = block->last = all;
	}
	if (!is_sorted(rows_of(block->rows), block->n, key)) {
		struct piece *spare = gather(block, store, error);
		if (!spare)
			return -1;
		bool swapped = sort(rows_of(block->rows), rows_of(spare), block->n, key) == rows_of(spare);
		gt_store_release(store, swapped ? block->rows->segment : spare->segment);
		if (swapped)
			block->rows = block->last = spare;
	}
	block->row = rows_of(block->rows);
	block->end = block->row + block->n;
	return 0;
}
