/* SPDX-License-Identifier: MIT */
/* The allocations of device memory by address, with the gap behind each: a treap, in which the first gap that is large enough
 * is found in logarithmic time. */
#ifndef GT_PTX_GAPS_H
#define GT_PTX_GAPS_H

#include "cuda/ptx/exec/memory.h"

/* Adds an allocation with its gap, changes that of one, removes one. */
void gt_ptx_gaps_add(struct gt_ptx_memory *memory, struct gt_ptx_allocation *allocation, uint64_t gap);
void gt_ptx_gaps_change(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation, uint64_t gap);
void gt_ptx_gaps_remove(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation);
/* The first allocation behind which there are more than so many bytes; NULL: there is none. */
struct gt_ptx_allocation *gt_ptx_gaps_first(const struct gt_ptx_memory *memory, uint64_t bytes);

#endif
