/* SPDX-License-Identifier: MIT */
/* Names the arrays that a launch can access, in the stream. */
#ifndef GT_PTX_RECORD_ARRAYS_H
#define GT_PTX_RECORD_ARRAYS_H

#include "cuda/ptx/exec/code.h"
#include "stream/stream.h"

/* Counts the address of every array in device memory, so that misses can be attributed to arrays (grd(1)). */
int gt_ptx_count_allocations(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_memory *memory, struct gt_error *error);
/* The same for the variables of a block's shared memory (gcoalesce(1)). */
int gt_ptx_count_shared(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_program *program, uint64_t dynamic,
			struct gt_error *error);

#endif
