/* SPDX-License-Identifier: MIT */
/* Rows of a block as they came, in spans: quick to keep and to issue, while memory lasts. */
#ifndef GT_SCHEDULE_LOOSE_H
#define GT_SCHEDULE_LOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/kept.h"
#include "schedule/shapes.h"
#include "schedule/span.h"
#include "stream/rows.h"

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
