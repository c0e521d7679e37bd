/* SPDX-License-Identifier: MIT */
/* Kernel replay, as in a profiler that cannot count everything in one run: it saves the memory that the kernel can reach and
 * restores the changed parts before the next run (NVIDIA, Nsight Compute documentation, kernel replay; from a copy in device
 * memory while there is room). */
#ifndef GT_PTX_REPLAY_H
#define GT_PTX_REPLAY_H

#include "base/error.h"
#include "cuda/ptx/exec/heap.h"
#include "stream/copies.h"

/* Bytes that are read from the copy and written back at a time: assumed, since NVIDIA does not document it. */
#define GT_PTX_RESTORE_PIECE ((uint64_t)32 << 10)

struct gt_ptx_saved {
	unsigned char *bytes; /* of all allocations, concatenated; owned */
	struct gt_ptx_heap *heap; /* owned */
};

/* Saves the contents of all allocations. Returns 0, or -1 when memory is short. */
int gt_ptx_save(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_error *error);
/* Writes back each allocation that has changed, and records the ranges read and written; copies are one window above their
 * originals. The allocations must be those that were saved. */
void gt_ptx_restore(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_copies *copies);
void gt_ptx_saved_clear(struct gt_ptx_saved *saved);

#endif
