/* SPDX-License-Identifier: MIT */
/* Rows that wait, several as one: those of one access number and one numbered shape whose bases have a common difference, and
 * whose warps follow each other or are one. Warps of a block mostly do the same at even distances, so eight rows take 24 bytes.
 *
 * A span is a struct kept of its first row. If it has others, the shape of that has SPAN_MANY too, and a struct span_more is
 * behind it. */
#ifndef GT_SCHEDULE_SPAN_H
#define GT_SCHEDULE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/kept.h"

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

#endif
