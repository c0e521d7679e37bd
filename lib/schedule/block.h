/* SPDX-License-Identifier: MIT */
/* The rows of a block that waits: packed, in pieces of a store, and put in issue order when the block becomes
 * resident. */
#ifndef GT_SCHEDULE_BLOCK_H
#define GT_SCHEDULE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/store.h"
#include "schedule/shapes.h"
#include "stream/rows.h"

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

/* A run of rows, or of the words of odd ones, in one piece of the store. */
struct piece {
	struct piece *next;
	struct gt_segment *segment;
	size_t n, capacity;
	uint64_t data[]; /* aligned to 16, as the head is 32 bytes */
};

struct block {
	uint32_t number;
	uint32_t sm;
	uint64_t index; /* among the blocks of its SM */
	bool skipped;	/* not modelled: its rows are dropped */
	bool open;	/* more rows may come */
	size_t n;	/* rows */
	bool unsorted;	/* rows did not come in the order of (an, warp) */
	uint64_t key;	/* (an, warp) of the last row */
	uint16_t highest_warp;
	struct piece *rows, *last, *odd;
	struct block *next; /* in the queue of the same SM */

	/* While resident. */
	struct kept *row, *end; /* rows still to be issued */
	uint64_t start;	/* rr: the round at which its access 0 issues */
	size_t position; /* in the SM's array of resident blocks */
	uint64_t slot;	 /* its number among the blocks that an SM can hold */
	bool begun;	 /* it has issued a row */
	uint64_t begin;	 /* the step of its first issue */
	size_t warps_left; /* gto, latency: warps that have rows left */
	struct runner *runners; /* latency: its warps */
	size_t n_runners;
};

/* Where the rows of a kernel are kept. */
struct keep {
	struct gt_store store;
	struct shapes shapes;
};

/* The order of a resident block's rows. Rows of one warp and access number keep their order. */
enum arrangement { BY_ACCESS, BY_WARP };

struct block *gt_block_new(uint32_t number, struct gt_error *error);
/* Releases the rows and frees the block. */
void gt_block_free(struct block *block, struct keep *keep);

/* Keeps rows [first, last) of a batch, all of this block. The first piece has room for `expected` rows. Returns
 * 0, or -1 with the store's error. */
int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
	      size_t expected, struct gt_error *error);

/* Gives back the unused end of the last piece. */
void gt_block_close(struct block *block);

/* Sets row and end: all rows (there must be some), by access number and warp or the other way. */
int gt_block_arrange(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error);

#endif
