/* SPDX-License-Identifier: MIT */
/* What hardware has memory for beside allocations: it maps whole granules around them. */
#ifndef GT_PTX_GRANULE_H
#define GT_PTX_GRANULE_H

#include "cuda/ptx/exec/memory.h"

/* Whether the hardware has memory at [address, address + bytes), which no multiple of GT_PTX_PAGE divides: in a granule with an
 * allocation, or in the one below the first address, where a GPU keeps what belongs to the program. */
bool gt_ptx_is_mapped(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);
/* Where it lies in this process then. What is written there stays. NULL if there is none. */
void *gt_ptx_mapped_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);

#endif
