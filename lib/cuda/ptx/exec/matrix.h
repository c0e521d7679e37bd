/* SPDX-License-Identifier: MIT */
/* Instructions that a whole warp does together on matrices: ldmatrix, stmatrix, movmatrix, mma, wmma. */
#ifndef GT_PTX_MATRIX_H
#define GT_PTX_MATRIX_H

#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/warp.h"

struct gt_ptx_product;

/* wmma.load and wmma.store: a fragment, and where its matrix lies. */
struct gt_ptx_tile {
	struct gt_ptx_access access; /* of pieces: its address slot gets the addresses, 64 bits each */
	struct gt_ptx_access base;   /* address and offset of the first element, the same in all lanes */
	uint32_t stride;	     /* slot: elements from one line to the next */
	struct gt_ptx_fragment fragment;
	bool by_columns; /* a line is a column, else a row */
};

/* The lines of a tile in memory, and the pieces in which they are accessed. */
struct gt_ptx_lines {
	uint64_t address, pitch; /* of the first; bytes from line to line */
	unsigned n, bytes;	 /* of a line */
	unsigned unit;		 /* bits */
	unsigned piece;		 /* bytes */
};
/* Those of a tile whose first element is at this address; its stride counts elements. */
void gt_ptx_tile_lines(const struct gt_ptx_tile *tile, uint64_t address, uint64_t stride, struct gt_ptx_lines *lines);
/* How far piece i lies from the first one, in memory; in the lines one behind the other: *packed. */
static inline uint64_t gt_ptx_piece_at(const struct gt_ptx_lines *lines, unsigned i, unsigned *packed)
{
	const unsigned line = i % lines->n, at = i / lines->n * lines->piece;

	*packed = line * lines->bytes + at;
	return line * lines->pitch + at;
}

/* False after a fault: not all 32 lanes of the warp are here. */
bool gt_ptx_whole_warp(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask);

/* ldmatrix, stmatrix: op->with.access has the address slot, and `n` registers; op->choice: .trans. movmatrix: op->d
 * becomes op->a with rows and columns exchanged. */
gt_ptx_step gt_ptx_load_matrices, gt_ptx_store_matrices, gt_ptx_transpose;
/* wmma.load, wmma.store: op->with.access is that of a struct gt_ptx_tile. */
gt_ptx_step *gt_ptx_tile_step(bool stores);
/* mma, wmma.mma: op->with.product, for which this is the step. */
gt_ptx_step *gt_ptx_product_step(const struct gt_ptx_product *product);
/* mma.sp: op->with.product, whose A has half the columns; op->a: metadata; op->choice: the first lane of each four that has
 * some. */
gt_ptx_step gt_ptx_sparse_product;

#endif
