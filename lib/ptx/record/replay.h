/* SPDX-License-Identifier: MIT */
/* What a profiler does that runs a kernel several times because it cannot count everything at once: it
 * saves the memory that the kernel can reach and, before the next run, writes back what the kernel has
 * changed (NVIDIA, Nsight Compute documentation, kernel replay; from a copy in device memory while there
 * is room). */
#ifndef GT_PTX_REPLAY_H
#define GT_PTX_REPLAY_H

#include "base/error.h"
#include "ptx/exec/memory.h"
#include "ptx/record/copies.h"

/* Bytes that are read from the copy and written back at a time: assumed, no vendor says. */
#define GT_PTX_RESTORE_PIECE ((uint64_t)32 << 10)

struct gt_ptx_saved {
	unsigned char *bytes; /* of all allocations, one behind the other; owned */
};

/* Saves the contents of all allocations. Returns 0, or -1 when memory is short. */
int gt_ptx_save(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_error *error);
/* Writes back each allocation that has changed, and notes what is read and written: the copies lie
 * a window above what they are copies of. The allocations must be those that were saved. */
void gt_ptx_restore(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_ptx_copies *copies);
void gt_ptx_saved_clear(struct gt_ptx_saved *saved);

#endif
