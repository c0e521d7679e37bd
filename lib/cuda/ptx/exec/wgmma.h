/* SPDX-License-Identifier: MIT */
/* wgmma: products of matrices by four warps, whose multiplicands lie in shared memory, as descriptors say; A may be in
 * registers. Each warp makes 16 of the 64 rows. */
#ifndef GT_PTX_WGMMA_H
#define GT_PTX_WGMMA_H

#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/multiply.h"
#include "cuda/ptx/exec/warp.h"

#define GT_PTX_WGMMA_COLUMNS 256
#define GT_PTX_WGMMA_RESULTS 128 /* registers of D: 16 x 256 elements of 32 bits, over 32 lanes */

struct gt_ptx_wgmma {
	struct gt_ptx_access access; /* of pieces of 16 bytes in shared memory: its address slot is temporary */
	gt_ptx_multiplier *multiply;
	uint16_t columns, depth; /* depth in elements, or words of 32 bits */
	enum gt_ptx_element a_element, b_element, d_element;
	bool a_in_registers, a_transposed, b_transposed; /* transposed: successive elements lie along M, or N */
	bool a_negative, b_negative, saturates;
	struct gt_ptx_fragment a; /* if it is in registers */
	uint32_t a_descriptor, b_descriptor; /* slots */
	uint32_t adds; /* slot of the predicate: D is added to */
	uint16_t n;    /* registers of D */
	uint32_t d[GT_PTX_WGMMA_RESULTS];
};

/* wgmma.mma_async: op->with.access is that of a struct gt_ptx_wgmma. wgmma.wait_group: the four warps wait for each
 * other, so that none overwrites what another has still to read. */
gt_ptx_step *gt_ptx_wgmma_step(void);
gt_ptx_step gt_ptx_wgmma_wait;
/* A warp has ended: others may have waited for it. */
void gt_ptx_wgmma_left(struct gt_ptx_warp *warp);

#endif
