/* SPDX-License-Identifier: MIT */
/* Copies in bulk: of successive bytes, or of a box of a tensor; between global and shared memory, or from shared memory to
 * that of another block of the cluster. */
#ifndef GT_PTX_BULK_H
#define GT_PTX_BULK_H

#include "cuda/ptx/exec/tensor.h"
#include "cuda/ptx/exec/warp.h"

struct gt_ptx_bulk {
	/* Accesses of pieces, whose address slots are temporary: `outer` is that of global memory, or of another block's
	 * shared memory; `inner` is in shared memory. */
	struct gt_ptx_access outer, inner;
	struct gt_ptx_access outer_base, inner_base; /* addresses of the first bytes; outer_base of the tensor map if rank > 0 */
	struct gt_ptx_access mbarrier; /* address slot 0: none */
	bool stores;	   /* from inner to outer */
	bool prefetches;   /* global memory into L2: there is no inner */
	uint8_t rank;	   /* of a tensor; 0: successive bytes */
	uint16_t hint;	   /* that is written; a tensor map can add one */
	uint32_t bytes;	   /* slot: of successive bytes */
	uint32_t blocks;   /* slot: the blocks of the cluster that get a copy each; 0: the one of the address */
	uint32_t coordinates[GT_TENSOR_RANK_MAX]; /* slots */
	const struct gt_ptx_instruction *reduces; /* whose operation is done with what is there; NULL: it is overwritten */
	enum gt_ptx_type type;			  /* of its elements; of a tensor its map says it */
};

/* op->with.access: `outer` of a struct gt_ptx_bulk. */
gt_ptx_step gt_ptx_copy_bulk;

#endif
