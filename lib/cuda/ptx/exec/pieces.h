/* SPDX-License-Identifier: MIT */
/* The pieces of a heap, which cover it without gaps: free ones, blocks, and blocks that were given back but are held. A treap by
 * their addresses, in which every node knows the largest free piece below it: the lowest one that is large enough, and the one that
 * an address lies in, are each found on one way down. */
#ifndef GT_PTX_PIECES_H
#define GT_PTX_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* [begin, end) from the heap's address on. */
struct gt_ptx_piece {
	uint64_t begin, end;
	uint64_t bytes; /* asked for */
	uint64_t at;	/* where they begin; 0: the piece is free */
	bool held;	/* they were given back: gt_ptx_pieces_hold() */
	uint64_t largest; /* free piece of the subtree */
	uint64_t priority;
	uint32_t left, right, held_next; /* 0: none */
};

struct gt_ptx_pieces {
	struct gt_ptx_piece *all; /* [0] stands for none */
	size_t n, capacity;
	uint32_t root, unused; /* unused ones, by `left` */
	uint32_t held_first, held_last; /* by time */
	uint64_t held_bytes;
};

/* One free piece of so many bytes. Returns 0, or -1 when memory is short. */
int gt_ptx_pieces_open(struct gt_ptx_pieces *pieces, uint64_t bytes, struct gt_error *error);
void gt_ptx_pieces_close(struct gt_ptx_pieces *pieces);

/* Room for three more pieces. Pointers to pieces are void afterwards. */
int gt_ptx_pieces_reserve(struct gt_ptx_pieces *pieces, struct gt_error *error);
/* Adds a piece, for which there is room, if it has any bytes. */
void gt_ptx_pieces_insert(struct gt_ptx_pieces *pieces, uint64_t begin, uint64_t end, uint64_t at, uint64_t bytes);
struct gt_ptx_piece gt_ptx_pieces_remove(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *gone);

/* The piece that a byte of the heap lies in. */
const struct gt_ptx_piece *gt_ptx_pieces_at(const struct gt_ptx_pieces *pieces, uint64_t within);
/* The lowest free piece of so many bytes; NULL if there is none. */
const struct gt_ptx_piece *gt_ptx_first_free(const struct gt_ptx_pieces *pieces, uint64_t bytes);

/* A block is free, together with the free pieces beside it. */
void gt_ptx_pieces_free(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *block);
/* A block is held: no bytes of it are given out until it is the oldest that is held, and gt_ptx_pieces_release() frees it. */
void gt_ptx_pieces_hold(struct gt_ptx_pieces *pieces, const struct gt_ptx_piece *block);
void gt_ptx_pieces_release(struct gt_ptx_pieces *pieces);

#endif
