/* SPDX-License-Identifier: MIT */
/* Rows of a block as they came, in spans: quick to keep and to issue, while memory lasts. */
#ifndef GT_SCHEDULE_LOOSE_H
#define GT_SCHEDULE_LOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/kept.h"
#include "stream/rows.h"

/* Rows that wait, in order. */

static inline uint64_t gt_kept_key(const struct kept *row)
{
	return (uint64_t)row->an << 16 | row->warp;
}

/* A stable merge sort by access number and warp, bottom up, of n rows. Returns where they are: `rows` or `room`, which has
 * room for as many. */
struct kept *gt_kept_sort(struct kept *rows, struct kept *room, size_t n);

/* How rows of a batch compare with those before them. */

#define GT_COMPARED_ROWS 256 /* at once */
#define GT_COMPARED_ROOM (GT_COMPARED_ROWS + 2) /* elements of a result, of which those behind the rows have no meaning */

/* Of rows [first, first + n), n at most GT_COMPARED_ROWS: 1 for those that have another shape (schedule/shapes.h) than the row
 * before them, 0 for the others and the first. */
void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROOM]);

/* Which of these rows may be in one span (schedule/span.h). */
enum {
	GT_FOLLOWS = 1, /* a row and the one before it */
	GT_EVENLY = 2,	/* and the two before it */
};

/* Rows that wait, several as one: those of one access number and one numbered shape whose bases have a common difference, and
 * whose warps follow each other or are one. Warps of a block mostly do the same at even distances, so eight rows take 24 bytes.
 *
 * A span is a struct kept of its first row. If it has others, the shape of that has SPAN_MANY too, and a struct span_more is
 * behind it. */

#define SPAN_MANY 0x8000

_Static_assert(SHAPES_MAX <= SPAN_MANY, "no shape has the number SPAN_MANY");
_Static_assert(SHAPE_NONE >= SPAN_MANY, "rows without a numbered shape are told apart from spans");

struct span_more {
	int32_t delta;	     /* from base to base */
	uint16_t n;	     /* rows, the first included */
	uint16_t warp_delta; /* 0 or 1 */
};

#define SPAN_WORDS (sizeof(struct kept) / sizeof(uint64_t)) /* of a single row */
#define SPAN_MORE_WORDS (sizeof(struct span_more) / sizeof(uint64_t))

_Static_assert(sizeof(struct span_more) == sizeof(uint64_t), "spans are made of words");

static inline bool gt_span_is_many(const struct kept *span)
{
	return span->shape >= SPAN_MANY && span->shape != SHAPE_NONE;
}

static inline struct span_more *gt_span_more(const struct kept *span)
{
	return (struct span_more *)(void *)((uint64_t *)(uintptr_t)span + SPAN_WORDS);
}

/* The span behind it. */
static inline struct kept *gt_span_next(const struct kept *span)
{
	return (struct kept *)(void *)((uint64_t *)(uintptr_t)span + SPAN_WORDS + (gt_span_is_many(span) ? SPAN_MORE_WORDS : 0));
}

static inline size_t gt_span_rows(const struct kept *span)
{
	return gt_span_is_many(span) ? gt_span_more(span)->n : 1;
}

/* Row k of it. */
static inline struct kept gt_span_row(const struct kept *span, size_t k)
{
	struct kept row = *span;

	if (!gt_span_is_many(span))
		return row;
	const struct span_more *more = gt_span_more(span);
	row.base += k * (uint64_t)(int64_t)more->delta;
	row.warp = (uint16_t)(row.warp + k * more->warp_delta);
	row.shape &= (uint16_t)~SPAN_MANY;
	return row;
}

/* Words: of spans, or of odd rows. */
struct piece {
	struct piece *next;
	size_t n, capacity, bytes; /* bytes: of all; the head is 32 */
	uint64_t data[];
};

struct loose {
	struct piece *rows, *last, *odd;
	size_t n, words; /* rows, and the words that they take */
	bool unsorted; /* rows did not come in the order of (an, warp) */
	uint64_t key;  /* (an, warp) of the last row */
	uint16_t highest_warp;
};

/* The memory of all of them. */
struct loose_memory {
	size_t limit, used;
	bool singly; /* every row is a span of its own */
};

/* The order of a resident block's rows. Rows of one warp and access number keep their order. */
enum arrangement { BY_ACCESS, BY_WARP };

/* How many of the next rows can be kept, more than 0; the first piece has room for `expected` words. 0: the memory is used up; -1: an
 * error. */
ptrdiff_t gt_loose_room(struct loose *loose, struct loose_memory *memory, size_t expected, struct gt_error *error);

/* Keeps rows [first, first + n) of a batch, for which there is room, and GT_COMPARED_ROWS at most. Returns 0, or -1. */
int gt_loose_add(struct loose *loose, struct loose_memory *memory, struct shapes *shapes, const struct gt_rows *rows,
		 size_t first, size_t n, struct gt_error *error);

/* Gives back the unused end of the last piece. */
void gt_loose_close(struct loose *loose, struct loose_memory *memory);

/* Whether there is memory for gt_loose_arrange. */
bool gt_loose_fits(const struct loose *loose, const struct loose_memory *memory);

/* Puts all rows into one piece, in order; by warp, each is a span of its own. Returns 0, or -1. */
int gt_loose_arrange(struct loose *loose, struct loose_memory *memory, enum arrangement arrangement, struct gt_error *error);

void gt_loose_free(struct loose *loose, struct loose_memory *memory);

/* The spans of a piece begin here, and end there. */
static inline struct kept *gt_piece_spans(struct piece *piece)
{
	return (struct kept *)(void *)piece->data;
}

static inline struct kept *gt_piece_end(struct piece *piece)
{
	return (struct kept *)(void *)(piece->data + piece->n);
}

#endif
