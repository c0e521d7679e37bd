/* SPDX-License-Identifier: MIT */
#include "schedule/loose.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "schedule/compare.h"
#include "schedule/sort.h"

#define FIRST_ROWS 16
#define MOST_ROWS 65536 /* of a piece, until all are gathered in one */
#define FIRST_WORDS 128 /* of odd rows */
#define MOST_WORDS 65536

_Static_assert(sizeof(struct piece) == 32, "the head of a piece keeps rows aligned");

static struct piece *take(struct loose_memory *memory, size_t capacity, size_t width, struct gt_error *error)
{
	size_t bytes = sizeof(struct piece) + capacity * width;
	struct piece *piece = malloc(bytes);

	if (!piece) {
		gt_fail_memory(error, "rows: a smaller -S uses less");
		return NULL;
	}
	*piece = (struct piece){.capacity = capacity, .bytes = bytes};
	memory->used += bytes;
	return piece;
}

static void release(struct piece *piece, struct loose_memory *memory)
{
	while (piece) {
		struct piece *next = piece->next;
		memory->used -= piece->bytes;
		free(piece);
		piece = next;
	}
}

void gt_loose_free(struct loose *loose, struct loose_memory *memory)
{
	release(loose->rows, memory);
	release(loose->odd, memory);
	*loose = (struct loose){0};
}

/* Twice the capacity of the previous piece, within bounds. */
static size_t next_capacity(const struct piece *last, size_t first, size_t most)
{
	size_t capacity = last ? 2 * last->capacity : first;

	return capacity < most ? capacity : most;
}

ptrdiff_t gt_loose_room(struct loose *loose, struct loose_memory *memory, size_t expected, struct gt_error *error)
{
	size_t first = expected > FIRST_ROWS ? expected : FIRST_ROWS;
	struct piece *last = loose->last;

	if (last && last->n < last->capacity)
		return (ptrdiff_t)(last->capacity - last->n);
	size_t capacity = next_capacity(last, first, MOST_ROWS);
	if (memory->used > memory->limit || capacity * sizeof(struct kept) > memory->limit - memory->used)
		return 0;
	struct piece *piece = take(memory, capacity, sizeof(struct kept), error);
	if (!piece)
		return -1;
	*(last ? &last->next : &loose->rows) = piece;
	loose->last = piece;
	return (ptrdiff_t)capacity;
}

/* Room for n words that live as long as the block. */
static void *take_words(struct loose *loose, struct loose_memory *memory, size_t n, struct gt_error *error)
{
	struct piece *piece = loose->odd;

	if (!piece || piece->capacity - piece->n < n) {
		piece = take(memory, next_capacity(piece, FIRST_WORDS, MOST_WORDS), sizeof(uint64_t), error);
		if (!piece)
			return NULL;
		piece->next = loose->odd;
		loose->odd = piece;
	}
	piece->n += n;
	return piece->data + piece->n - n;
}

static int keep_row(struct loose *loose, struct loose_memory *memory, struct shapes *shapes, const struct gt_rows *rows, size_t i,
		    struct kept *row, struct gt_error *error)
{
	const uint64_t *lanes = lanes_of(rows, i);
	struct shape shape = shape_of(rows, i);

	row->shape = SHAPE_NONE;
	if (!lanes && gt_shapes_find(shapes, &shape, &row->shape, error) != 0)
		return -1;
	if (row->shape != SHAPE_NONE)
		return 0;
	size_t n = lanes ? (size_t)__builtin_popcount(shape.mask) : 0;
	struct odd *odd = take_words(loose, memory, ODD_WORDS + n, error);
	if (!odd)
		return -1;
	odd->base = row->base;
	odd->shape = shape;
	if (lanes)
		memcpy(odd->lanes, lanes, n * sizeof *lanes);
	row->base = (uint64_t)(uintptr_t)odd;
	return 0;
}

int gt_loose_add(struct loose *loose, struct loose_memory *memory, struct shapes *shapes, const struct gt_rows *rows,
		 size_t first, size_t n, struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	const uint32_t *an = rows->an + first;
	const uint16_t *warp = rows->warp + first;
	struct kept *row = &gt_piece_rows(loose->last)[loose->last->n];
	uint64_t key = loose->key;
	uint16_t shape = SHAPE_NONE, highest = loose->highest_warp;
	bool unsorted = loose->unsorted;
	uint8_t differs[GT_COMPARED_ROWS];

	gt_rows_compare(rows, first, n, differs);
	for (size_t k = 0; k < n; k++) {
		row[k] = (struct kept){bases[k], an[k], warp[k], shape};
		if ((differs[k] || shape == SHAPE_NONE) &&
		    keep_row(loose, memory, shapes, rows, first + k, &row[k], error) != 0)
			return -1;
		shape = row[k].shape;
		unsorted |= gt_kept_key(&row[k]) < key;
		key = gt_kept_key(&row[k]);
		highest = warp[k] > highest ? warp[k] : highest;
	}
	loose->unsorted = unsorted;
	loose->key = key;
	loose->highest_warp = highest;
	loose->last->n += n;
	loose->n += n;
	return 0;
}

void gt_loose_close(struct loose *loose, struct loose_memory *memory)
{
	struct piece *last = loose->last, *before = NULL;

	if (!last || last->n == last->capacity)
		return;
	for (struct piece *piece = loose->rows; piece != last; piece = piece->next)
		before = piece;
	size_t bytes = sizeof *last + last->n * sizeof(struct kept);
	struct piece *trimmed = gt_resized(last, bytes, 1);
	if (!trimmed)
		return;
	memory->used -= trimmed->bytes - bytes;
	trimmed->bytes = bytes;
	trimmed->capacity = trimmed->n;
	*(before ? &before->next : &loose->rows) = trimmed;
	loose->last = trimmed;
}

/* ---- order ---- */

/* By access number and warp, into `to`; `from` is overwritten. */
static int sort_by_access(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error)
{
	(void)highest;
	(void)error;
	from = gt_kept_sort(from, to, n);
	if (from != to)
		memcpy(to, from, n * sizeof *from);
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
static int gather(struct loose *loose, struct loose_memory *memory, struct gt_error *error)
{
	struct piece *all = take(memory, loose->n, sizeof(struct kept), error);

	if (!all)
		return -1;
	for (struct piece *piece = loose->rows; piece; piece = piece->next) {
		memcpy(gt_piece_rows(all) + all->n, gt_piece_rows(piece), piece->n * sizeof(struct kept));
		all->n += piece->n;
	}
	release(loose->rows, memory);
	loose->rows = loose->last = all;
	return 0;
}

/* Sorts the one piece into another. */
static int sort(struct loose *loose, struct loose_memory *memory,
		int (*into)(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error),
		struct gt_error *error)
{
	struct piece *sorted = take(memory, loose->n, sizeof(struct kept), error);

	if (!sorted)
		return -1;
	sorted->n = loose->n;
	if (into(gt_piece_rows(sorted), gt_piece_rows(loose->rows), loose->n, loose->highest_warp, error) != 0) {
		release(sorted, memory);
		return -1;
	}
	release(loose->rows, memory);
	loose->rows = loose->last = sorted;
	return 0;
}

int gt_loose_arrange(struct loose *loose, struct loose_memory *memory, enum arrangement arrangement, struct gt_error *error)
{
	if (loose->rows->next && gather(loose, memory, error) != 0)
		return -1;
	if (loose->unsorted && sort(loose, memory, sort_by_access, error) != 0)
		return -1;
	if (arrangement == BY_WARP && loose->highest_warp > 0 && sort(loose, memory, sort_by_warp, error) != 0)
		return -1;
	return 0;
}
