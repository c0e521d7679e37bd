/* SPDX-License-Identifier: MIT */
/* A row that waits, and the rows of a warp as bytes. A row that is what the rows before it let expect costs a 128th of a byte, another one what
 * differs: expected is that a shape is followed by the shape that followed it last, with its step of access numbers, and
 * that the bases of a shape have a common difference. */
#ifndef GT_SCHEDULE_PACKED_H
#define GT_SCHEDULE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spill.h"
#include "stream/rows.h"

/* ---- a row that waits, apart from what its shape says ---- */

/* The fields that many rows of a kernel share. The accesses of one instruction usually differ only in their
 * base, so a waiting row holds its base and the number of a shape. */

#define SHAPES_MAX 32767 /* so that a number has a bit to spare */
#define SHAPE_NONE 65535 /* the number of no shape */

/* A request has size 0 (no access has), and in `mask` sectors, full and threads, a byte each. */
struct shape {
	int64_t stride, pitch;
	uint32_t pc, mask, work, shared;
	uint8_t op, size;
	uint16_t hint;
	uint8_t width;
	uint16_t next; /* the shape that last followed this one: tried first */
};

static inline int shape_equal(const struct shape *a, const struct shape *b)
{
	return a->stride == b->stride && a->pitch == b->pitch && a->width == b->width && a->pc == b->pc && a->mask == b->mask && a->op == b->op &&
	       a->size == b->size && a->hint == b->hint && a->work == b->work && a->shared == b->shared;
}

/* A row of either kind. `base` is an access's base or a request's line; if the shape is SHAPE_NONE, it is a
 * pointer to a struct odd. */
struct kept {
	uint64_t base;
	uint32_t an;
	uint16_t warp, shape;
};

/* A row that has no numbered shape, or whose lanes have no common stride. */
struct odd {
	uint64_t base;
	struct shape shape;
	uint64_t lanes[]; /* popcount(shape.mask) of them if the stride is GT_STRIDE_LANES */
};

#define ODD_WORDS (sizeof(struct odd) / sizeof(uint64_t)) /* without lanes */

_Static_assert(sizeof(struct kept) == 16, "a kept row is 16 bytes");
_Static_assert(sizeof(struct odd) % sizeof(uint64_t) == 0, "odd rows are made of words");

/* NULL: its shape has a number. */
static inline const struct odd *odd_of(const struct kept *row)
{
	return row->shape == SHAPE_NONE ? (const struct odd *)(uintptr_t)row->base : NULL;
}

/* The addresses of its lanes if they have no common stride; else NULL. */
static inline const uint64_t *odd_lanes(const struct odd *odd)
{
	return odd && odd->shape.stride == GT_STRIDE_LANES ? odd->lanes : NULL;
}

/* ---- packed rows ---- */

/* Rows in memory that live together. */
struct window {
	struct kept *rows;
	size_t n, capacity;
	uint64_t *words; /* of odd rows */
	size_t n_words, words_capacity;
};

#define PACKED_RECALLS 16

/* What is expected after a shape, and of it. Those of shapes whose numbers differ by PACKED_RECALLS are one. */
struct recall {
	uint64_t base;	/* of its last row */
	int32_t delta;	/* from the one before */
	uint16_t next;	/* the shape that followed */
	uint16_t step;	/* of the access number, to that */
};

/* What rows up to now let expect; the same for who packs and who unpacks. */
struct context {
	uint32_t an;
	uint16_t shape;
	struct recall recalls[PACKED_RECALLS];
};

/* Packs the rows of one warp. */
struct packer {
	struct context context;
	struct gt_spill_queue *queue; /* to which the context belongs */
	unsigned char *run;	  /* its last byte if that counts expected rows; else NULL */
};

/* Unpacks them. */
struct unpacker {
	struct context context;
	struct gt_spill_queue *queue;
	const unsigned char *at, *end;
	unsigned run;	  /* expected rows before `at` */
	bool more;	  /* there is another row */
	uint32_t next_an; /* its access number */
};

/* Begins, or goes on with, a spill queue into which others have packed. Returns 0, or -1. */
int gt_packer_begin(struct packer *packer, struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error);

/* Packs a row; `odd` describes one of SHAPE_NONE, and `lanes` has its addresses if it has no common stride. Returns 0, or -1. */
int gt_packer_add(struct packer *packer, struct gt_spill *spill, const struct kept *row, const struct shape *odd,
	    const uint64_t *lanes, struct gt_error *error);

/* Reads up to the first row. Returns 0, or -1. */
int gt_unpacker_begin(struct unpacker *unpacker, struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error);

/* Appends the rows of the next access, of warp `warp`, to a window; there is one. The bases of odd rows count words until
 * gt_window_settle. Returns 0, or -1. */
int gt_unpacker_access(struct unpacker *unpacker, struct gt_spill *spill, uint16_t warp, struct window *window,
		     struct gt_error *error);

/* Makes pointers of the bases of odd rows. */
static inline void gt_window_settle(struct window *window)
{
	for (size_t i = 0; window->n_words > 0 && i < window->n; i++)
		if (window->rows[i].shape == SHAPE_NONE)
			window->rows[i].base = (uint64_t)(uintptr_t)(window->words + window->rows[i].base);
}

static inline void gt_window_free(struct window *window)
{
	free(window->rows);
	free(window->words);
	*window = (struct window){0};
}

/* ---- the order of rows, and sources ---- */

static inline uint64_t gt_kept_key(const struct kept *row)
{
	return (uint64_t)row->an << 16 | row->warp;
}

/* The rows of a warp that is resident: unpacked when their turn comes. */

#define GT_WINDOW_ROWS 256 /* and what belongs to the last access */

struct source {
	struct unpacker unpacker;
	struct gt_spill_queue queue;
	uint16_t warp;
	/* By warp: rows that are unpacked, whole accesses; and those still to be issued, of them or of a loose block's spans. */
	struct window window;
	struct kept *row, *end;
};

/* Takes over a spill queue of rows of a warp, which are put in order first if they are not; there are some. Returns 0, or -1. */
int gt_source_open(struct source *source, struct gt_spill *spill, struct gt_spill_queue *queue, uint16_t warp, bool unsorted,
		   struct gt_error *error);
void gt_source_close(struct source *source, struct gt_spill *spill);

/* By warp: the next rows, when all before have been issued; none at the end. Returns 0, or -1. */
int gt_source_fill(struct source *source, struct gt_spill *spill, struct gt_error *error);

#endif
