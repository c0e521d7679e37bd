/* SPDX-License-Identifier: MIT */
#include "schedule/block.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/compare.h"

#define FIRST_ROWS 16
#define MOST_ROWS 65536 /* of a piece, until all are gathered in one */
#define FIRST_WORDS 128 /* of odd rows */
#define MOST_WORDS 65536
#define HEAD_WORDS (sizeof(struct odd) / sizeof(uint64_t))

_Static_assert(sizeof(struct kept) == 16, "a kept row is 16 bytes");
_Static_assert(sizeof(struct odd) % sizeof(uint64_t) == 0, "odd rows are made of words");
_Static_assert(sizeof(struct piece) == 32, "the head of a piece keeps rows aligned");

static struct kept *rows_of(struct piece *piece)
{
	return (struct kept *)(void *)piece->data;
}

static uint64_t key_of(const struct kept *row)
{
	return (uint64_t)row->an << 16 | row->warp;
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

struct block *gt_block_new(uint32_t number, struct gt_error *error)
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

void gt_block_free(struct block *block, struct keep *keep)
{
	release(block->rows, &keep->store);
	release(block->odd, &keep->store);
	free(block->runners);
	free(block);
}

/* Twice the capacity of the previous piece, within bounds. */
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

/* Room for n words that live as long as the block. */
static void *take_words(struct block *block, struct gt_store *store, size_t n, struct gt_error *error)
{
	struct piece *piece = block->odd;

	if (!piece || piece->capacity - piece->n < n) {
		piece = take(store, next_capacity(piece, FIRST_WORDS, MOST_WORDS), sizeof(uint64_t), error);
		if (!piece)
			return NULL;
		piece->next = block->odd;
		block->odd = piece;
	}
	piece->n += n;
	return piece->data + piece->n - n;
}

/* Keeps a row that shape and base do not describe fully; `lanes` are its addresses, or NULL. */
static int keep_odd(struct block *block, struct gt_store *store, const struct shape *shape, struct kept *row,
		    const uint64_t *lanes, struct gt_error *error)
{
	size_t n = lanes ? (size_t)__builtin_popcount(shape->mask) : 0;
	struct odd *odd = take_words(block, store, HEAD_WORDS + n, error);

	if (!odd)
		return -1;
	odd->base = row->base;
	odd->shape = *shape;
	if (lanes)
		memcpy(odd->lanes, lanes, n * sizeof *lanes);
	row->base = (uint64_t)(uintptr_t)odd;
	row->shape = SHAPE_NONE;
	return 0;
}

static int keep_row(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t i,
		    struct kept *row, struct gt_error *error)
{
	bool request = rows->kind == GT_REQUESTS;
	struct shape shape = {.pc = rows->pc[i], .op = rows->op[i], .hint = gt_rows_hint(rows, i),
			      .work = rows->has_work ? rows->work[i] : 0};
	const uint64_t *lanes = NULL;

	if (request) {
		shape.mask = (uint32_t)(rows->sectors[i] | rows->full[i] << 8 | rows->threads[i] << 16);
		row->base = rows->address[i];
	} else {
		shape.size = rows->size[i];
		shape.mask = rows->mask[i];
		shape.stride = rows->stride[i];
		row->base = rows->base[i];
		if (shape.stride == GT_STRIDE_LANES)
			lanes = rows->lanes + rows->base[i];
	}
	if (!lanes && gt_shapes_find(&keep->shapes, &shape, &row->shape, error) != 0)
		return -1;
	return lanes || row->shape == SHAPE_NONE ? keep_odd(block, &keep->store, &shape, row, lanes, error) : 0;
}

/* Keeps rows [first, first + n), which fit into the last piece. */
static int add_run(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t n,
		   struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	const uint32_t *an = rows->an + first;
	const uint16_t *warp = rows->warp + first;
	struct kept *row = &rows_of(block->last)[block->last->n];
	uint64_t key = block->key;
	uint16_t shape = SHAPE_NONE, highest = block->highest_warp;
	bool unsorted = block->unsorted;
	uint8_t differs[GT_COMPARED_ROWS];

	gt_rows_compare(rows, first, n, differs);
	for (size_t k = 0; k < n; k++) {
		row[k] = (struct kept){bases[k], an[k], warp[k], shape};
		if ((differs[k] || shape == SHAPE_NONE) && keep_row(block, keep, rows, first + k, &row[k], error) != 0)
			return -1;
		shape = row[k].shape;
		unsorted |= key_of(&row[k]) < key;
		key = key_of(&row[k]);
		highest = warp[k] > highest ? warp[k] : highest;
	}
	block->unsorted = unsorted;
	block->key = key;
	block->highest_warp = highest;
	block->last->n += n;
	block->n += n;
	return 0;
}

int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
	      size_t expected, struct gt_error *error)
{
	for (size_t n; first < last; first += n) {
		if ((!block->last || block->last->n == block->last->capacity) &&
		    more_rows(block, &keep->store, expected, error) != 0)
			return -1;
		size_t room = block->last->capacity - block->last->n;
		n = last - first < GT_COMPARED_ROWS ? last - first : GT_COMPARED_ROWS;
		n = n < room ? n : room;
		if (add_run(block, keep, rows, first, n, error) != 0)
			return -1;
	}
	return 0;
}

void gt_block_close(struct block *block)
{
	struct piece *last = block->last;

	block->open = false;
	if (!last)
		return;
	gt_store_trim(last->segment, last, piece_bytes(last->capacity, sizeof(struct kept)),
		      piece_bytes(last->n, sizeof(struct kept)));
	last->capacity = last->n;
}

/* Merges two adjacent runs of `from`, [0, middle) and [middle, n). */
static void merge(struct kept *to, const struct kept *from, size_t middle, size_t n)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool from_left = right == n || (left < middle && key_of(&from[left]) <= key_of(&from[right]));
		to[i] = from[from_left ? left++ : right++];
	}
}

/* A stable merge sort by access number and warp, bottom up, into `to`; `from` is overwritten. */
static int sort_by_access(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error)
{
	struct kept *end = to;

	(void)highest;
	(void)error;
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
	if (from != end)
		memcpy(end, from, n * sizeof *from);
	return 0;
}

/* A stable counting sort by warp. */
static int sort_by_warp(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error)
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

/* Copies all rows into one new piece, in the order of arrival. */
static int gather(struct block *block, struct gt_store *store, struct gt_error *error)
{
	struct piece *all = take(store, block->n, sizeof(struct kept), error);

	if (!all)
		return -1;
	for (struct piece *piece = block->rows; piece; piece = piece->next) {
		memcpy(rows_of(all) + all->n, rows_of(piece), piece->n * sizeof(struct kept));
		all->n += piece->n;
	}
	release(block->rows, store);
	block->rows = block->last = all;
	return 0;
}

/* Sorts the block's one piece into another. */
static int sort(struct block *block, struct gt_store *store,
		int (*into)(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error),
		struct gt_error *error)
{
	struct piece *sorted = take(store, block->n, sizeof(struct kept), error);

	if (!sorted)
		return -1;
	sorted->n = block->n;
	if (into(rows_of(sorted), rows_of(block->rows), block->n, block->highest_warp, error) != 0) {
		gt_store_release(store, sorted->segment);
		return -1;
	}
	release(block->rows, store);
	block->rows = block->last = sorted;
	return 0;
}

int gt_block_arrange(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error)
{
	struct gt_store *store = &keep->store;

	if (block->rows->next && gather(block, store, error) != 0)
		return -1;
	if (block->unsorted && sort(block, store, sort_by_access, error) != 0)
		return -1;
	if (arrangement == BY_WARP && block->highest_warp > 0 && sort(block, store, sort_by_warp, error) != 0)
		return -1;
	block->row = rows_of(block->rows);
	block->end = block->row + block->n;
	return 0;
}
