/* SPDX-License-Identifier: MIT */
/* The memory of this process that stands for the device's: its addresses are taken at once, and its pages are opened when something
 * is allocated there. */
#ifndef GT_PTX_WINDOW_H
#define GT_PTX_WINDOW_H

#include "cuda/ptx/exec/memory.h"

/* As many bytes or more, in whole pages. */
static inline uint64_t gt_ptx_in_pages(uint64_t bytes)
{
	return (bytes + GT_PTX_PAGE - 1) / GT_PTX_PAGE * GT_PTX_PAGE;
}

/* Returns 0, or -1 with errno set. */
int gt_ptx_window_open(struct gt_ptx_memory *memory, uint64_t bytes);
void gt_ptx_window_close(struct gt_ptx_memory *memory);

/* Makes the pages of [address, address + bytes) usable; they are zero when first touched. Returns 0, or -1. */
int gt_ptx_window_use(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, struct gt_error *error);

/* Zeros at a place that is wished (NULL: anywhere), which take memory when they are written to. NULL with errno set. */
void *gt_ptx_map_zeros(void *wish, uint64_t bytes, int protection);

#endif
