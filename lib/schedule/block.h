/* SPDX-License-Identifier: MIT */
/* A block's rows while they wait: packed, in pieces of a store, put in issue order when the block
 * becomes resident. */
#ifndef GT_SCHEDULE_BLOCK_H
#define GT_SCHEDULE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/store.h"
#include "stream/rows.h"

/* A row of either kind, 32 bytes. A request has size 0 (no access has), its line in `base`, and
 * in `mask` sectors, full and threads, a byte each. An access whose addresses stand apart has the
 * stride GT_STRIDE_LANES and a pointer to them in `base`. */
struct kept {
	uint64_t base;
	int64_t stride;
	uint32_t an, pc, mask;
	uint16_t warp;
	uint8_t op, size;
};

/* A run of rows, or of lanes' addresses, in one piece of the store. */
struct piece {
	struct piece *next;
	struct gt_segment *segment;
	size_t n, capacity;
	uint64_t data[]; /* kept rows or addresses; aligned to 16 as the head is 32 bytes */
};

struct block {
	uint32_t number;
	uint32_t sm;
	uint64_t index; /* among the blocks of its SM */
	bool skipped;	/* not modelled: its rows are dropped */
	bool open;	/* more rows may come */
	size_t n;	/* rows */
	struct piece *rows, *last, *lanes;
	struct block *next; /* of those that wait for the same SM */

	/* While resident. */
	struct kept *row, *end; /* what is still to be issued */
	uint64_t start;	/* rr: the round at which its access 0 issues */
	size_t position; /* in the SM's array of resident blocks */
	uint64_t slot;	 /* its number among the blocks that an SM can hold */
	size_t warps_left; /* gto: warps that have rows left */
};

/* The key that rows are issued by; rows of one key keep the order they came in. */
typedef uint64_t (*issue_key)(const struct kept *row);

struct block *block_new(uint32_t number, struct gt_error *error);
/* Releases the rows and frees the block. */
void block_free(struct block *block, struct gt_store *store);

/* Keeps rows [first, last) of a batch, all of this block. `expected` rows are made room for at
 * first. Returns 0, or -1 with the store's error. */
int block_add(struct block *block, struct gt_store *store, const struct gt_rows *rows, size_t first,
	      size_t last, size_t expected, struct gt_error *error);

/* Gives back room that the last piece did not need. */
void block_close(struct block *block);

/* Sets row and end: all rows (there must be some), in the order of `key`. */
int block_arrange(struct block *block, struct gt_store *store, issue_key key, struct gt_error *error);

#endif
