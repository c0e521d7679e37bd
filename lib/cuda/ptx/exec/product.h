/* SPDX-License-Identifier: MIT */
/* Products of matrices in registers: D = A B + C.
 *
 * Of integers and of bits D is exact; it wraps around at 32 bits, or is cut to the range of s32 (.satfinite): the sum
 * of all products and C is, once. Of floats the products are exact (of f64: fused); they are added to C in double
 * precision, from k = 0 on, and the sum is rounded once to the type of D. The PTX ISA promises less of the sums,
 * and hardware's differ from these in the last bits. */
#ifndef GT_PTX_PRODUCT_H
#define GT_PTX_PRODUCT_H

#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/multiply.h"

struct gt_ptx_product {
	gt_ptx_multiplier *multiply;
	struct gt_ptx_shape shape;
	struct gt_ptx_fragment a, b, c, d;
	bool saturates; /* integers */
	bool differs;	/* bits: those that differ are counted (.xor); else those that both have (.and) */
};

/* Lanes of each four that hold the metadata of mma.sp. */
unsigned gt_ptx_metadata_lanes(struct gt_ptx_shape shape, enum gt_ptx_element element);

#endif
