/* SPDX-License-Identifier: MIT */
/* Loops that the assembler unrolls. */
#ifndef GT_PTX_ESTIMATE_LOOP_H
#define GT_PTX_ESTIMATE_LOOP_H

#include "cuda/ptx/estimate/steps.h"

/* How often a block's steps stand behind each other in machine code: 4 times if block b is a small counted loop of
 * its own, else once. It branches to itself as long as a value that it advances by a constant compares with one that
 * it does not change; it has no more than 40 steps, calls nothing, nothing in it orders memory, and no
 * .pragma "nounroll" stands before it. The factor and the size are those seen in ptxas 13.0. */
unsigned gt_ptx_loop_copies(const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow, size_t b);

#endif
