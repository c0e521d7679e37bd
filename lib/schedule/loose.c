/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/wide.h"
#include "schedule/loose.h"

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

/* A stable counting sort by warp, none above `highest`, into `to`. Returns 0, or -1. */
static int kept_sort_by_warp(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error)
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

/* Each loop compares n rows, not n - 1, with the ones behind them: whole vectors. Behind the last row is room. */

#define COMPARE(TYPE, NAME)                                                                                    \
	static inline void compare_##NAME(const TYPE *column, size_t n, uint8_t *restrict differs)              \
	{                                                                                                       \
		for (size_t i = 0; i < n; i++)                                                                  \
			differs[i + 1] |= column[i + 1] != column[i];                                           \
	}
COMPARE(uint8_t, bytes)
COMPARE(uint16_t, hints)
COMPARE(uint32_t, words)
COMPARE(int64_t, strides)

GT_WIDE static void compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t *differs)
{
	memset(differs, 0, n + 1);
	compare_words(rows->pc + first, n, differs);
	compare_bytes(rows->op + first, n, differs);
	if (rows->has_hints)
		compare_hints(rows->hint + first, n, differs);
	if (rows->has_work)
		compare_words(rows->work + first, n, differs);
	if (rows->kind == GT_REQUESTS) {
		compare_bytes(rows->sectors + first, n, differs);
		compare_bytes(rows->full + first, n, differs);
		compare_bytes(rows->threads + first, n, differs);
	} else {
		compare_strides(rows->stride + first, n, differs);
		compare_words(rows->mask + first, n, differs);
		compare_bytes(rows->size + first, n, differs);
	}
}

void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROOM])
{
	compare(rows, first, n, differs);
}

/* Whether a difference of bases fits into a span. */
static inline bool is_near(uint64_t difference)
{
	return difference + (UINT64_C(1) << 31) <= UINT32_MAX;
}

GT_WIDE static void follow(const uint64_t *base, const uint32_t *an, const uint16_t *warp, size_t n, const uint8_t *differs,
			   uint8_t *restrict follows)
{
	uint8_t *restrict next = follows + 1, *restrict after = follows + 2;

	for (size_t i = 0; i < n; i++)
		next[i] = an[i + 1] == an[i];
	for (size_t i = 0; i < n; i++)
		next[i] &= warp[i + 1] == warp[i] || warp[i + 1] == warp[i] + 1;
	for (size_t i = 0; i < n; i++)
		next[i] &= is_near(base[i + 1] - base[i]);
	for (size_t i = 0; i < n; i++)
		next[i] = differs[i + 1] ? 0 : next[i];
	for (size_t i = 0; i < n; i++)
		after[i] |= (uint8_t)((base[i + 2] - base[i + 1] == base[i + 1] - base[i]) * GT_EVENLY);
	for (size_t i = 0; i < n; i++)
		after[i] &= (uint16_t)(warp[i + 2] - warp[i + 1]) == (uint16_t)(warp[i + 1] - warp[i]) ? 3 : GT_FOLLOWS;
	follows[0] = 0;
}

static void rows_follow(const struct gt_rows *rows, size_t first, size_t n, const uint8_t differs[GT_COMPARED_ROOM],
			uint8_t follows[GT_COMPARED_ROOM])
{
	follow((rows->kind == GT_REQUESTS ? rows->address : rows->base) + first, rows->an + first, rows->warp + first, n, differs,
	       follows);
}

#define FIRST_WORDS 32 /* of spans */
#define MOST_WORDS 131072 /* of a piece, until all are gathered in one */
#define FIRST_ODD_WORDS 128
#define MOST_ODD_WORDS 65536
#define SPARE_WORDS (SPAN_WORDS * GT_COMPARED_ROWS) /* beyond those expected, for rows that may all be single */

_Static_assert(sizeof(struct piece) % sizeof(uint64_t) == 0, "the head of a piece keeps words aligned");

static struct piece *take(struct loose_memory *memory, size_t capacity, struct gt_error *error)
{
	size_t bytes = sizeof(struct piece) + capacity * sizeof(uint64_t);
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
	size_t first = expected > 0 ? expected + SPARE_WORDS : FIRST_WORDS;
	struct piece *last = loose->last;

	if (last && last->capacity - last->n >= SPAN_WORDS)
		return (ptrdiff_t)((last->capacity - last->n) / SPAN_WORDS);
	size_t capacity = next_capacity(last, first, MOST_WORDS);
	if (memory->used > memory->limit || capacity * sizeof(uint64_t) > memory->limit - memory->used)
		return 0;
	struct piece *piece = take(memory, capacity, error);
	if (!piece)
		return -1;
	*(last ? &last->next : &loose->rows) = piece;
	loose->last = piece;
	return (ptrdiff_t)(capacity / SPAN_WORDS);
}

/* Room for n words that live as long as the block. */
static void *take_words(struct loose *loose, struct loose_memory *memory, size_t n, struct gt_error *error)
{
	struct piece *piece = loose->odd;

	if (!piece || piece->capacity - piece->n < n) {
		piece = take(memory, next_capacity(piece, FIRST_ODD_WORDS, MOST_ODD_WORDS), error);
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

/* The rows from the first on, of n, that make a span. */
static size_t span_length(const uint8_t *follows, size_t n)
{
	size_t length = 1;

	if (n > 1 && follows[1] & GT_FOLLOWS)
		length++;
	while (length > 1 && length < n && follows[length] == (GT_FOLLOWS | GT_EVENLY))
		length++;
	return length;
}

/* Makes one span of n rows, more than one, of which `row` is the first. */
static void join(struct kept *row, uint64_t second_base, uint16_t second_warp, size_t n)
{
	row->shape |= SPAN_MANY;
	*gt_span_more(row) = (struct span_more){(int32_t)(second_base - row->base), (uint16_t)n,
						(uint16_t)(second_warp - row->warp)};
}

/* Whether a row comes after the last one in the order of (an, warp), and the highest warp. */
static inline void note_row(struct loose *loose, const struct kept *row)
{
	loose->unsorted |= gt_kept_key(row) < loose->key;
	loose->key = gt_kept_key(row);
	loose->highest_warp = row->warp > loose->highest_warp ? row->warp : loose->highest_warp;
}

int gt_loose_add(struct loose *loose, struct loose_memory *memory, struct shapes *shapes, const struct gt_rows *rows,
		 size_t first, size_t n, struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	const uint32_t *an = rows->an + first;
	const uint16_t *warp = rows->warp + first;
	struct kept *begin = gt_piece_end(loose->last), *row = begin;
	uint16_t shape = SHAPE_NONE;
	uint8_t differs[GT_COMPARED_ROOM], follows[GT_COMPARED_ROOM] = {0};

	gt_rows_compare(rows, first, n, differs);
	if (!memory->singly)
		rows_follow(rows, first, n, differs, follows);
	for (size_t k = 0, length; k < n; k += length) {
		*row = (struct kept){bases[k], an[k], warp[k], shape};
		if ((differs[k] || shape == SHAPE_NONE) &&
		    keep_row(loose, memory, shapes, rows, first + k, row, error) != 0)
			return -1;
		shape = row->shape;
		length = shape == SHAPE_NONE ? 1 : span_length(follows + k, n - k);
		note_row(loose, row);
		if (length > 1) {
			note_row(loose, &(struct kept){0, an[k], warp[k + length - 1], shape});
			join(row, bases[k + 1], warp[k + 1], length);
		}
		row = gt_span_next(row);
	}
	size_t words = (size_t)((uint64_t *)(void *)row - (uint64_t *)(void *)begin);
	loose->last->n += words;
	loose->words += words;
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
	size_t bytes = sizeof *last + last->n * sizeof(uint64_t);
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

/* Copies a piece behind another, as it is. */
static void append(struct piece *to, const struct piece *piece)
{
	memcpy(to->data + to->n, piece->data, piece->n * sizeof *to->data);
	to->n += piece->n;
}

/* The same row by row. */
static void append_singly(struct piece *to, struct piece *piece)
{
	struct kept *row = gt_piece_end(to);

	for (struct kept *span = gt_piece_spans(piece); span < gt_piece_end(piece); span = gt_span_next(span))
		for (size_t k = 0; k < gt_span_rows(span); k++)
			*row++ = gt_span_row(span, k);
	to->n = (size_t)((uint64_t *)(void *)row - to->data);
}

/* Copies all rows into one new piece, in the order of arrival. */
static int gather(struct loose *loose, struct loose_memory *memory, bool singly, struct gt_error *error)
{
	struct piece *all = take(memory, singly ? SPAN_WORDS * loose->n : loose->words, error);

	if (!all)
		return -1;
	for (struct piece *piece = loose->rows; piece; piece = piece->next) {
		if (singly)
			append_singly(all, piece);
		else
			append(all, piece);
	}
	release(loose->rows, memory);
	loose->rows = loose->last = all;
	loose->words = all->n;
	return 0;
}

/* Sorts the one piece, of single rows, into another. */
static int sort(struct loose *loose, struct loose_memory *memory,
		int (*into)(struct kept *to, struct kept *from, size_t n, uint16_t highest, struct gt_error *error),
		struct gt_error *error)
{
	struct piece *sorted = take(memory, loose->words, error);

	if (!sorted)
		return -1;
	sorted->n = loose->words;
	if (into(gt_piece_spans(sorted), gt_piece_spans(loose->rows), loose->n, loose->highest_warp, error) != 0) {
		release(sorted, memory);
		return -1;
	}
	release(loose->rows, memory);
	loose->rows = loose->last = sorted;
	return 0;
}

bool gt_loose_fits(const struct loose *loose, const struct loose_memory *memory)
{
	size_t single = SPAN_WORDS * loose->n * sizeof(uint64_t);

	return !loose->unsorted || loose->words == SPAN_WORDS * loose->n ||
	       (memory->used <= memory->limit && single <= memory->limit - memory->used);
}

int gt_loose_arrange(struct loose *loose, struct loose_memory *memory, enum arrangement arrangement, struct gt_error *error)
{
	bool sorts = loose->unsorted || arrangement == BY_WARP, singly = loose->words == SPAN_WORDS * loose->n;

	if ((loose->rows->next || (sorts && !singly)) && gather(loose, memory, sorts && !singly, error) != 0)
		return -1;
	if (loose->unsorted && sort(loose, memory, sort_by_access, error) != 0)
		return -1;
	if (arrangement == BY_WARP && loose->highest_warp > 0 && sort(loose, memory, kept_sort_by_warp, error) != 0)
		return -1;
	return 0;
}
