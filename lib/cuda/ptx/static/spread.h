/* SPDX-License-Identifier: MIT */
/* Which operand of an instruction is an address in global memory, and how a warp's accesses follow from it. */
#ifndef GT_PTX_STATIC_SPREAD_H
#define GT_PTX_STATIC_SPREAD_H

#include "cuda/ptx/static/parts.h"

/* Fills all but the polynomials: the values of the instruction's operands behind its results, of which there are n.
 * Returns 1; 0 if it does not access global memory; -1 when memory is short. */
int gt_static_find_access(const struct gt_static *analysis, const struct gt_ptx_instruction *instruction,
			  const uint32_t *operands, size_t n, struct gt_static_access *access, struct gt_error *error);

/* The addresses of request `i` of a warp, from those of its threads, of which there are n, and the stride between the
 * lines of a matrix. Returns how many addresses there are, each of *bytes; 0 behind the last request. */
unsigned gt_static_request_of(const struct gt_static_access *access, unsigned i, int64_t addresses[32], unsigned n,
			  int64_t stride, unsigned *bytes);

#endif
