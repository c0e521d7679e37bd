/* SPDX-License-Identifier: MIT */
/* Host code of the program that uses a pointer to device memory. On a GPU it crashes; here the memory is in the same process, so it
 * works, which a warning should say. While the program runs outside of the runtime, device memory is closed to it; the first access
 * opens it. Called under the runtime's lock. */
#ifndef GT_CUDART_HOST_ACCESS_H
#define GT_CUDART_HOST_ACCESS_H

#include "cuda/ptx/exec/memory.h"

/* When a call of the runtime begins, and when it ends: after so many warp instructions of kernels. */
void gt_host_access_open(void);
void gt_host_access_close(const struct gt_ptx_memory *device, uint64_t instructions);

/* The first address that host code accessed; 0: it has not been seen to. */
uint64_t gt_host_accessed(void);

#endif
