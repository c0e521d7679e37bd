/* SPDX-License-Identifier: MIT */
/* What the pages of device memory are allocated to. */
#ifndef GT_PTX_PAGETABLE_H
#define GT_PTX_PAGETABLE_H

#include "cuda/ptx/exec/memory.h"

/* For the window that is there. Returns 0, or -1 when memory is short. */
int gt_ptx_pages_open(struct gt_ptx_memory *memory);
void gt_ptx_pages_close(struct gt_ptx_memory *memory);

/* Enters an allocation, with the byte behind its end, in the pages that it touches. Returns 0, or -1 when memory is short. */
int gt_ptx_pages_enter(struct gt_ptx_memory *memory, struct gt_ptx_allocation *allocation, struct gt_error *error);
void gt_ptx_pages_leave(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation);

/* The allocation whose part of a page the address is in, which may lie behind its end; NULL if there is none. */
struct gt_ptx_allocation *gt_ptx_pages_owner(const struct gt_ptx_memory *memory, uint64_t address);
/* Whether the page of an address in the window has any. */
bool gt_ptx_pages_has(const struct gt_ptx_memory *memory, uint64_t address);

#endif
