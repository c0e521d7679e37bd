/* SPDX-License-Identifier: MIT */
/* The rows of a block that wait. They come in any order of warps, and issue in one of two: by access number, or warp by warp.
 *
 * While memory lasts they are loose: as they came, in spans, which are sorted when the block becomes resident, and folded when all have come if
 * that takes less. When it is used up they are packed, warp by warp, into spill queues of bytes (schedule/packed.h), which may go to a file; then
 * a resident block has a source for each warp, which unpacks some rows at a time into a window. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/wide.h"
#include "schedule/block.h"

/* ---- shapes ---- */

#define FIRST_SHAPES 256

static uint32_t home(const struct shapes *shapes, const struct shape *shape)
{
	/* Four words, without the guess and padding of the struct. */
	uint64_t words[5] = {(uint64_t)shape->stride, (uint64_t)shape->pitch, (uint64_t)shape->pc << 32 | shape->mask,
			     (uint64_t)shape->width << 32 | (uint64_t)shape->hint << 16 | (uint64_t)shape->op << 8 | shape->size,
			     (uint64_t)shape->shared << 32 | shape->work};

	return (uint32_t)XXH3_64bits(words, sizeof words) & shapes->mask;
}

/* The slot that holds the shape's number, or the empty one where it belongs. */
static uint16_t *slot_of(const struct shapes *shapes, const struct shape *shape)
{
	uint32_t at = home(shapes, shape);

	while (shapes->slots[at] != SHAPE_NONE && !shape_equal(&shapes->all[shapes->slots[at]], shape))
		at = (at + 1) & shapes->mask;
	return &shapes->slots[at];
}

/* Room for `capacity` shapes, and a table of twice as many slots with those there are. */
static int make_slots(struct shapes *shapes, uint32_t capacity, struct gt_error *error)
{
	uint16_t *slots = malloc(2 * (size_t)capacity * sizeof *slots);
	struct shape *all = gt_resized(shapes->all, capacity, sizeof *all);

	if (all)
		shapes->all = all;
	if (!slots || !all) {
		free(slots);
		return gt_fail_memory(error, "shapes of rows");
	}
	free(shapes->slots);
	shapes->slots = slots;
	shapes->capacity = capacity;
	shapes->mask = 2 * capacity - 1;
	memset(slots, 0xff, 2 * (size_t)capacity * sizeof *slots);
	for (uint32_t i = 0; i < shapes->n; i++)
		*slot_of(shapes, &shapes->all[i]) = (uint16_t)i;
	return 0;
}

static int shapes_open(struct shapes *shapes, struct gt_error *error)
{
	*shapes = (struct shapes){0};
	return make_slots(shapes, FIRST_SHAPES, error);
}

static void shapes_close(struct shapes *shapes)
{
	free(shapes->all);
	free(shapes->slots);
	*shapes = (struct shapes){0};
}

/* shapes_find, without a guess. */
static int shapes_look_up(struct shapes *shapes, const struct shape *shape, uint16_t *number, struct gt_error *error)
{
	uint16_t *slot = slot_of(shapes, shape);

	shapes->shared |= shape->shared;
	if (*slot == SHAPE_NONE && shapes->n == SHAPES_MAX) {
		*number = SHAPE_NONE;
		return 0;
	}
	if (*slot == SHAPE_NONE) {
		if (shapes->n == shapes->capacity && make_slots(shapes, 2 * shapes->capacity, error) != 0)
			return -1;
		slot = slot_of(shapes, shape);
		*slot = (uint16_t)shapes->n;
		shapes->all[shapes->n] = *shape;
		shapes->all[shapes->n++].next = *slot;
	}
	shapes->all[shapes->last].next = *slot;
	*number = shapes->last = *slot;
	return 0;
}

/* The number of a shape, new or known; SHAPE_NONE if there are already SHAPES_MAX others. Returns 0, or -1 when memory is short.
 * The guess is compared where the shape is made, whose fields are then still in registers. */
static inline int shapes_find(struct shapes *shapes, const struct shape *shape, uint16_t *number, struct gt_error *error)
{
	uint16_t guess = shapes->n > 0 ? shapes->all[shapes->last].next : 0;

	if (shapes->n == 0 || !shape_equal(&shapes->all[guess], shape))
		return shapes_look_up(shapes, shape, number, error);
	*number = shapes->last = guess;
	return 0;
}

/* What row i of a batch shares with others. */
static inline struct shape shape_of(const struct gt_rows *rows, size_t i)
{
	struct shape shape = {.pc = rows->pc[i], .op = rows->op[i], .hint = gt_rows_hint(rows, i),
			      .work = rows->has_work ? rows->work[i] : 0, .shared = gt_rows_shared(rows, i)};

	if (rows->kind == GT_REQUESTS) {
		shape.mask = (uint32_t)(rows->sectors[i] | rows->full[i] << 8 | rows->threads[i] << 16);
	} else {
		shape.size = rows->size[i];
		shape.mask = rows->mask[i];
		shape.stride = rows->stride[i];
		shape.width = rows->width[i];
		shape.pitch = shape.width ? rows->pitch[i] : 0;
	}
	return shape;
}

/* The addresses of row i, if it is an access without a common stride; else NULL. */
static inline const uint64_t *lanes_of(const struct gt_rows *rows, size_t i)
{
	return rows->kind == GT_ACCESSES && rows->stride[i] == GT_STRIDE_LANES ? rows->lanes + rows->base[i] : NULL;
}

/* ---- how rows of a batch compare with those before them ---- */

#define COMPARED_ROWS 256 /* at once */
#define COMPARED_ROOM (COMPARED_ROWS + 2) /* elements of a result, of which those behind the rows have no meaning */

/* Which of these rows may be in one span. */
enum {
	FOLLOWS = 1, /* a row and the one before it */
	EVENLY = 2,	/* and the two before it */
};

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

static inline bool any_width(const uint8_t *width, size_t n)
{
	uint8_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= width[i];
	return any;
}

GT_WIDE static void compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t *differs)
{
	memset(differs, 0, n + 1);
	compare_words(rows->pc + first, n, differs);
	compare_bytes(rows->op + first, n, differs);
	if (rows->has_hints)
		compare_hints(rows->hint + first, n, differs);
	if (rows->has_work)
		compare_words(rows->work + first, n, differs);
	if (rows->has_shared)
		compare_words(rows->shared + first, n, differs);
	if (rows->kind == GT_REQUESTS) {
		compare_bytes(rows->sectors + first, n, differs);
		compare_bytes(rows->full + first, n, differs);
		compare_bytes(rows->threads + first, n, differs);
	} else {
		compare_strides(rows->stride + first, n, differs);
		if (any_width(rows->width + first, n + 1)) {
			compare_bytes(rows->width + first, n, differs);
			compare_strides(rows->pitch + first, n, differs);
		}
		compare_words(rows->mask + first, n, differs);
		compare_bytes(rows->size + first, n, differs);
	}
}

/* Of rows [first, first + n), n at most COMPARED_ROWS: 1 for those that have another shape than the row before them, 0 for the
 * others and the first. */
static void rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[COMPARED_ROOM])
{
	compare(rows, first, n, differs);
}

/* Whether a difference of bases fits into a span. */
static inline bool is_near(uint64_t difference)
{
	return difference + (UINT64_C(1) << 31) <= UINT32_MAX;
}

GT_WIDE static void follow(const uint64_t *base, const uint32_t *an, const uint16_t *warp, size_t n, bool by_warp,
			   const uint8_t *differs, uint8_t *restrict follows)
{
	uint8_t *restrict next = follows + 1, *restrict after = follows + 2;
	const uint16_t step = !by_warp;

	for (size_t i = 0; i < n; i++)
		next[i] = an[i + 1] == an[i];
	for (size_t i = 0; i < n; i++)
		next[i] &= warp[i + 1] == warp[i] || warp[i + 1] == warp[i] + step;
	for (size_t i = 0; i < n; i++)
		next[i] &= is_near(base[i + 1] - base[i]);
	for (size_t i = 0; i < n; i++)
		next[i] = differs[i + 1] ? 0 : next[i];
	for (size_t i = 0; i < n; i++)
		after[i] |= (uint8_t)((base[i + 2] - base[i + 1] == base[i + 1] - base[i]) * EVENLY);
	for (size_t i = 0; i < n; i++)
		after[i] &= (uint16_t)(warp[i + 2] - warp[i + 1]) == (uint16_t)(warp[i + 1] - warp[i]) ? 3 : FOLLOWS;
	follows[0] = 0;
}

static void rows_follow(const struct gt_rows *rows, size_t first, size_t n, bool by_warp, const uint8_t differs[COMPARED_ROOM],
			uint8_t follows[COMPARED_ROOM])
{
	follow((rows->kind == GT_REQUESTS ? rows->address : rows->base) + first, rows->an + first, rows->warp + first, n, by_warp,
	       differs, follows);
	for (size_t k = 0; rows->has_spans && k < n; k++)
		if (gt_rows_span(rows, first + k) > 1)
			follows[k] = follows[k + 1] = 0; /* a row that is several is a span by itself */
}

#define FIRST_WORDS 32 /* of spans */
#define MOST_WORDS 131072 /* of a piece, until all are gathered in one */
#define FIRST_ODD_WORDS 128
#define MOST_ODD_WORDS 65536
#define SPARE_WORDS (SPAN_WORDS * COMPARED_ROWS) /* beyond those expected, for rows that may all be single */

_Static_assert(sizeof(struct piece) % sizeof(uint64_t) == 0, "the head of a piece keeps words aligned");

#define POOLED_FROM (16U << 20) /* bytes that there may be: of less, the pool's large pages would be a large part */

static struct piece *take(struct loose_memory *memory, size_t capacity, struct gt_error *error)
{
	size_t bytes = sizeof(struct piece) + capacity * sizeof(uint64_t);
	bool pools = memory->limit >= POOLED_FROM && memory->pool.bytes < memory->limit / 4;
	struct piece *piece = pools ? gt_free_lists_take(&memory->pool, bytes) : NULL;
	const bool pooled = piece;

	if (!piece && !(piece = malloc(bytes))) {
		gt_fail_memory(error, "rows: a smaller -S uses less");
		return NULL;
	}
	*piece = (struct piece){.capacity = capacity, .bytes = bytes, .pooled = pooled ? bytes : 0};
	memory->used += bytes;
	return piece;
}

static void release(struct piece *piece, struct loose_memory *memory)
{
	while (piece) {
		struct piece *next = piece->next;
		memory->used -= piece->bytes;
		if (piece->pooled)
			gt_free_lists_give(&memory->pool, piece, piece->pooled);
		else
			free(piece);
		piece = next;
	}
}

static void loose_free(struct loose *loose, struct loose_memory *memory)
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

/* How many of the next rows, each of at most so many words, can be kept, more than 0; the first piece has room for `expected` words. 0: the
 * memory is used up; -1: an error. */
static ptrdiff_t loose_room(struct loose *loose, struct loose_memory *memory, size_t expected, size_t words, struct gt_error *error)
{
	size_t first = expected > 0 ? expected + SPARE_WORDS : FIRST_WORDS;
	struct piece *last = loose->last;

	if (last && last->capacity - last->n >= words)
		return (ptrdiff_t)((last->capacity - last->n) / words);
	size_t capacity = next_capacity(last, first, MOST_WORDS);
	if (memory->used > memory->limit || capacity * sizeof(uint64_t) > memory->limit - memory->used)
		return 0;
	struct piece *piece = take(memory, capacity, error);
	if (!piece)
		return -1;
	*(last ? &last->next : &loose->rows) = piece;
	loose->last = piece;
	return (ptrdiff_t)(capacity / words);
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
	if (!lanes && shapes_find(shapes, &shape, &row->shape, error) != 0)
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

	if (n > 1 && follows[1] & FOLLOWS)
		length++;
	while (length > 1 && length < n && follows[length] == (FOLLOWS | EVENLY))
		length++;
	return length;
}

static inline void make_many(struct kept *row, struct span_more more)
{
	row->shape |= SPAN_MANY;
	*gt_span_more(row) = more;
}

/* Makes one span of n rows, more than one, of which `row` is the first. */
static void join(struct kept *row, uint64_t second_base, uint16_t second_warp, size_t n)
{
	make_many(row, (struct span_more){(int32_t)(second_base - row->base), (uint16_t)n, (uint16_t)(second_warp - row->warp)});
}

/* Whether a row comes after the last one in the order of (an, warp), and the highest warp. */
static inline void note_row(struct loose *loose, const struct kept *row)
{
	loose->unsorted |= gt_kept_key(row) < loose->key;
	loose->key = gt_kept_key(row);
	loose->highest_warp = row->warp > loose->highest_warp ? row->warp : loose->highest_warp;
}

/* Keeps *n rows of a batch from `first` on, for which there is room, and COMPARED_ROWS at most. If more follow it leaves the last span
 * to be kept with these, and says in *n how many rows are kept. Returns 0, or -1. */
static int loose_add(struct loose *loose, struct loose_memory *memory, struct shapes *shapes, const struct gt_rows *rows,
		 size_t first, size_t *n, bool more, struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	const uint32_t *an = rows->an + first;
	const uint16_t *warp = rows->warp + first;
	struct kept *begin = gt_piece_end(loose->last), *row = begin;
	uint16_t shape = SHAPE_NONE;
	uint8_t differs[COMPARED_ROOM], follows[COMPARED_ROOM] = {0};
	size_t k = 0, requests = 0;

	rows_compare(rows, first, *n, differs);
	rows_follow(rows, first, *n, memory->by_warp, differs, follows);
	for (size_t length; k < *n; k += length) {
		length = span_length(follows + k, *n - k);
		if (more && k > 0 && k + length == *n)
			break;
		*row = (struct kept){bases[k], an[k], warp[k], shape};
		if ((differs[k] || shape == SHAPE_NONE) &&
		    keep_row(loose, memory, shapes, rows, first + k, row, error) != 0)
			return -1;
		shape = row->shape;
		length = shape == SHAPE_NONE ? 1 : length;
		note_row(loose, row);
		const unsigned several = gt_rows_span(rows, first + k);
		requests += several > 1 ? several : length;
		if (several > 1)
			make_many(row, (struct span_more){(int32_t)rows->pitch[first + k], (uint16_t)several, 0});
		if (length > 1) {
			note_row(loose, &(struct kept){0, an[k], warp[k + length - 1], shape});
			join(row, bases[k + 1], warp[k + 1], length);
		}
		row = gt_span_next(row);
	}
	size_t words = (size_t)((uint64_t *)(void *)row - (uint64_t *)(void *)begin);
	loose->last->n += words;
	loose->words += words;
	loose->n += requests;
	*n = k;
	return 0;
}

/* Gives back the unused end of the last piece. */
static void loose_close(struct loose *loose, struct loose_memory *memory)
{
	struct piece *last = loose->last, *before = NULL;

	if (!last || last->n == last->capacity)
		return;
	for (struct piece *piece = loose->rows; piece != last; piece = piece->next)
		before = piece;
	size_t bytes = sizeof *last + last->n * sizeof(uint64_t);
	struct piece *trimmed = last->pooled ? last : gt_resized(last, bytes, 1);
	if (!trimmed)
		return;
	memory->used -= trimmed->bytes - bytes;
	trimmed->bytes = bytes;
	trimmed->capacity = trimmed->n;
	*(before ? &before->next : &loose->rows) = trimmed;
	loose->last = trimmed;
}

/* ---- the order of loose rows ---- */

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

/* Sorts the one piece into another. */
static int sort(struct loose *loose, struct loose_memory *memory, bool by_warp, struct gt_error *error)
{
	struct piece *sorted = take(memory, loose->words, error);

	if (!sorted)
		return -1;
	sorted->n = loose->words;
	if (gt_piece_sort(sorted, loose->rows, by_warp, loose->highest_warp, error) != 0) {
		release(sorted, memory);
		return -1;
	}
	release(loose->rows, memory);
	loose->rows = loose->last = sorted;
	return 0;
}

/* Whether there is memory for loose_arrange. */
static bool loose_fits(const struct loose *loose, const struct loose_memory *memory)
{
	size_t single = SPAN_WORDS * loose->n * sizeof(uint64_t);

	return !loose->unsorted || loose->words == SPAN_WORDS * loose->n ||
	       (memory->used <= memory->limit && single <= memory->limit - memory->used);
}

/* Puts all rows into one piece, in order. Returns 0, or -1. */
static int loose_arrange(struct loose *loose, struct loose_memory *memory, enum arrangement arrangement, struct gt_error *error)
{
	bool parted = loose->unsorted && loose->words != SPAN_WORDS * loose->n;

	if ((loose->rows->next || parted) && gather(loose, memory, parted, error) != 0)
		return -1;
	if (loose->unsorted && sort(loose, memory, false, error) != 0)
		return -1;
	if (arrangement != BY_ACCESS && loose->highest_warp > 0 && sort(loose, memory, true, error) != 0)
		return -1;
	return 0;
}

/* Folds the spans in place of the one piece: those of one warp after the other, or all together. Returns 1; 0: these would take
 * more than half as much; or -1. */
static int loose_fold(struct loose *loose, struct loose_memory *memory, const struct shapes *shapes, struct gt_error *error)
{
	const struct kept *first = gt_piece_spans(loose->rows), *end = gt_piece_end(loose->rows);
	size_t most = loose->words + (memory->by_warp ? (size_t)loose->highest_warp + 1 : 1) * FOLD_MORE, n = 0;
	uint64_t *to = gt_grown_to(memory->fold, most, &memory->fold_capacity, sizeof *to);

	if (!to)
		return gt_fail_memory(error, "rows: a smaller -S uses less");
	memory->fold = to;
	for (const struct kept *next = first; first < end; first = next) {
		next = memory->by_warp ? next : end;
		while (next < end && next->warp == first->warp)
			next = gt_span_next(next);
		n += gt_fold(shapes, first, next, to + n);
	}
	if (!memory->by_warp && n > loose->words / 2)
		return 0;
	struct piece *folded = take(memory, n, error);
	if (!folded)
		return -1;
	memcpy(folded->data, to, n * sizeof *to);
	folded->n = n;
	release(loose->rows, memory);
	loose->rows = loose->last = folded;
	return 1;
}

/* ---- packed rows, warp by warp ---- */

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
	if (!packer->warp || gt_packer_begin(&packer->packer, &keep->spill, &packer->warp->queue, error) != 0)
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
	return gt_packer_add(&packer->packer, &keep->spill, row, odd, lanes, error);
}

/* Packs rows [first, first + n) of a batch, COMPARED_ROWS at most. Returns 0, or -1. */
static int packing_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t n,
		      struct gt_error *error)
{
	const uint64_t *bases = (rows->kind == GT_REQUESTS ? rows->address : rows->base) + first;
	struct shape shape = {0};
	uint16_t number = SHAPE_NONE;
	uint8_t differs[COMPARED_ROOM];

	rows_compare(rows, first, n, differs);
	for (size_t k = 0; k < n; k++) {
		const uint64_t *lanes = NULL;
		if (differs[k] || number == SHAPE_NONE) {
			shape = shape_of(rows, first + k);
			lanes = lanes_of(rows, first + k);
			number = SHAPE_NONE;
			if (!lanes && shapes_find(&keep->shapes, &shape, &number, error) != 0)
				return -1;
		}
		struct kept row = {bases[k], rows->an[first + k], rows->warp[first + k], number};
		for (unsigned left = gt_rows_span(rows, first + k); left > 0; left--, row.base += left > 0 ? (uint64_t)rows->pitch[first + k] : 0)
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
	loose_free(&block->loose, &keep->loose);
	return 0;
}

/* The next warp from `warp` on that has rows; NULL: none has. */
static struct packed_warp *packing_next(const struct block *block, size_t *warp)
{
	for (; *warp < block->n_pages * GT_WARPS_PAGE; ++*warp) {
		struct packed_warp *page = block->pages[*warp / GT_WARPS_PAGE];
		if (page && page[*warp % GT_WARPS_PAGE].queue.first)
			return &page[*warp % GT_WARPS_PAGE];
	}
	return NULL;
}

/* No more rows will come. Returns 0, or -1. */
static int packing_end(struct block *block, struct keep *keep, struct gt_error *error)
{
	struct packed_warp *packed;

	for (size_t warp = 0; (packed = packing_next(block, &warp)); warp++)
		if (gt_spill_queue_end(&keep->spill, &packed->queue, error) != 0)
			return -1;
	return 0;
}

/* Releases the rows that no source has taken over. */
static void packing_free(struct block *block, struct keep *keep)
{
	for (size_t page = 0; page < block->n_pages; page++) {
		for (size_t i = 0; block->pages[page] && i < GT_WARPS_PAGE; i++)
			gt_spill_queue_drop(&keep->spill, &block->pages[page][i].queue);
		free(block->pages[page]);
	}
	free(block->pages);
	block->pages = NULL;
	block->n_pages = 0;
}

/* ---- where rows are kept ---- */

int gt_keep_open(struct keep *keep, size_t memory, const char *directory, enum arrangement arrangement, struct gt_error *error)
{
	keep->loose.by_warp = arrangement != BY_ACCESS;
	keep->loose.folded = arrangement == FOLDED;
	keep->loose.limit = memory / 2;
	keep->loose.pool.arena = &keep->loose.arena;
	pthread_mutex_init(&keep->unpacking, NULL);
	gt_spill_open(&keep->spill, memory - memory / 2, directory);
	return shapes_open(&keep->shapes, error);
}

void gt_keep_close(struct keep *keep)
{
	shapes_close(&keep->shapes);
	gt_spill_close(&keep->spill);
	free(keep->loose.fold);
	gt_arena_close(&keep->loose.arena);
	free(keep->packers);
	gt_rows_free(keep->singly);
	pthread_mutex_destroy(&keep->unpacking);
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
	loose_free(&block->loose, &keep->loose);
	packing_free(block, keep);
	for (size_t i = 0; i < block->n_sources; i++)
		gt_source_close(&block->sources[i], &keep->spill);
	free(block->sources);
	gt_window_free(&block->window);
	free(block);
}

/* ---- rows that come ---- */

/* Whether each row that is several requests can be a span: at a distance that one can have, and with a numbered shape. */
static bool spans_fit(const struct keep *keep, const struct gt_rows *rows, size_t first, size_t last)
{
	bool far = keep->shapes.n + (last - first) > SHAPES_MAX;

	for (size_t i = first; i < last; i++)
		far |= gt_rows_span(rows, i) > 1 && !is_near((uint64_t)rows->pitch[i]);
	return !far;
}

/* The same as gt_block_add, request by request. */
static int add_singly(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last, struct gt_error *error)
{
	if (gt_rows_expand(&keep->singly, rows, first, last - first, error) != 0)
		return -1;
	return gt_block_add(block, keep, keep->singly, 0, keep->singly->n, error);
}

int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
		 struct gt_error *error)
{
	const size_t words = SPAN_WORDS + (rows->has_spans ? SPAN_MORE_WORDS : 0); /* of a row, at most */

	if (rows->has_spans && !spans_fit(keep, rows, first, last))
		return add_singly(block, keep, rows, first, last, error);
	for (size_t n; first < last; first += n) {
		n = last - first < COMPARED_ROWS ? last - first : COMPARED_ROWS;
		ptrdiff_t room = block->packed ? 0 : loose_room(&block->loose, &keep->loose, keep->expected, words, error);
		if (room < 0 || (room == 0 && !block->packed && packing_take_loose(block, keep, error) != 0))
			return -1;
		n = room == 0 || n < (size_t)room ? n : (size_t)room;
		int result = block->packed ? packing_add(block, keep, rows, first, n, error)
					   : loose_add(&block->loose, &keep->loose, &keep->shapes, rows, first, &n, first + n < last, error);
		if (result != 0)
			return -1;
	}
	return 0;
}

#define FOLDED_FROM (1U << 20) /* bytes in use: less is in the machine's cache */
#define ALIKE_BLOCKS 32 /* of which one is tried, if the last one took no less */

static int fold(struct block *block, struct keep *keep, struct gt_error *error)
{
	if (loose_arrange(&block->loose, &keep->loose, keep->loose.by_warp ? FOLDED : BY_ACCESS, error) != 0)
		return -1;
	if (block->loose.words > UINT32_MAX / 2)
		return 0;
	const int folded = loose_fold(&block->loose, &keep->loose, &keep->shapes, error);
	block->folded = folded > 0;
	keep->unfolded = folded == 0 ? ALIKE_BLOCKS : 0;
	return folded < 0 ? -1 : 0;
}

/* Whether a block, all of whose rows have come, is folded. By access, that saves time if it saves memory. */
static bool may_fold(const struct block *block, struct keep *keep)
{
	if (block->packed || !loose_fits(&block->loose, &keep->loose))
		return false;
	if (keep->loose.by_warp)
		return keep->loose.folded;
	if (block->loose.unsorted)
		return false;
	if (keep->unfolded > 0)
		keep->unfolded--;
	return keep->unfolded == 0 && keep->loose.used >= FOLDED_FROM;
}

int gt_block_close(struct block *block, struct keep *keep, struct gt_error *error)
{
	block->open = false;
	keep->expected = block->packed ? keep->expected : block->loose.words;
	loose_close(&block->loose, &keep->loose);
	if (packing_end(block, keep, error) != 0)
		return -1;
	return may_fold(block, keep) ? fold(block, keep, error) : 0;
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
		if (gt_source_open(&block->sources[block->n_sources++], &keep->spill, &packed->queue, (uint16_t)warp,
				packed->unsorted, error) != 0)
			return -1;
	packing_free(block, keep);
	return 0;
}

#define UNFOLDED_WORDS 64 /* of spans that are unfolded at a time, but for those of one access */

_Static_assert(UNFOLDED_WORDS >= FOLD_ACCESS_WORDS, "an access of a loop is unfolded as one");

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

/* Of a folded block. */
static void unfold(struct block *block)
{
	struct kept *spans = block->end;
	size_t words = gt_unfold(&block->unfolding, (uint64_t *)(void *)block->window.rows, UNFOLDED_WORDS, &spans);

	block->row = spans;
	block->end = (struct kept *)(void *)((uint64_t *)(void *)spans + words);
}

int gt_block_fill(struct block *block, struct keep *keep, struct gt_error *error)
{
	struct window *window = &block->window;
	uint32_t an;

	if (block->folded) {
		unfold(block);
		return 0;
	}
	window->n = window->n_words = 0;
	while (window->n < GT_WINDOW_ROWS && next_access(block, &an)) {
		for (size_t i = 0; i < block->n_sources; i++) {
			struct source *source = &block->sources[i];
			if (source->unpacker.more && source->unpacker.next_an == an &&
			    gt_unpacker_access(&source->unpacker, &keep->spill, source->warp, window, error) != 0)
				return -1;
		}
	}
	gt_window_settle(window);
	block->row = window->rows;
	block->end = window->n > 0 ? window->rows + window->n : window->rows; /* which may be NULL */
	return 0;
}

/* Of one whose rows are loose, and ordered by warp. */
static int slice(struct block *block, struct gt_error *error)
{
	struct kept *end = block->row, *first;
	uint32_t warp = UINT32_MAX;
	size_t n = 0;

	for (const struct kept *row = block->row; row < block->end; warp = row->warp, row = gt_span_next(row))
		n += row->warp != warp;
	block->sources = calloc(n, sizeof *block->sources);
	if (!block->sources)
		return gt_fail_memory(error, "the warps of a block");
	block->n_sources = n;
	for (size_t i = 0; i < n; i++) {
		for (first = end; end < block->end && end->warp == first->warp;)
			end = gt_span_next(end);
		block->sources[i].warp = first->warp;
		block->sources[i].row = first;
		block->sources[i].end = end;
	}
	return 0;
}

/* Of one whose rows are folded. */
static void count_folds(struct block *block)
{
	const void *end = gt_piece_end(block->loose.rows);

	for (struct fold_warp *fold = gt_first_fold(block->loose.rows); (void *)fold < end; fold = gt_fold_next(fold))
		block->n_folds++;
	block->highest_warp = block->loose.highest_warp;
}

/* By access. */
static int begin_unfolding(struct block *block, struct gt_error *error)
{
	block->window.rows = malloc(UNFOLDED_WORDS * sizeof(uint64_t));
	if (!block->window.rows)
		return gt_fail_memory(error, "rows: a smaller -S uses less");
	block->highest_warp = block->loose.highest_warp;
	block->unfolding = gt_unfolding(gt_first_fold(block->loose.rows));
	unfold(block);
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
	if (block->folded && arrangement == BY_ACCESS)
		return begin_unfolding(block, error);
	if (block->folded) {
		count_folds(block);
		return 0;
	}
	if (!block->packed && !loose_fits(&block->loose, &keep->loose) &&
	    (packing_take_loose(block, keep, error) != 0 || packing_end(block, keep, error) != 0))
		return -1;
	if (block->packed)
		return arrange_packed(block, keep, arrangement, error);
	if (loose_arrange(&block->loose, &keep->loose, arrangement, error) != 0)
		return -1;
	block->highest_warp = block->loose.highest_warp;
	block->row = gt_piece_spans(block->loose.rows);
	block->end = gt_piece_end(block->loose.rows);
	return arrangement != BY_ACCESS ? slice(block, error) : 0;
}
