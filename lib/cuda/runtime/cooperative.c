/* SPDX-License-Identifier: MIT */
/* Cooperative launches: all blocks are resident at the same time, so they may wait for each other. They use a counter in
 * device memory, whose address the kernel reads from %envreg1 and %envreg2. */
#include <string.h>

#include "cuda/runtime/runtime.h"

/* The layout in cooperative_groups/details/driver_abi.h of CUDA 13. */
struct workspace {
	uint32_t bytes, barrier;
};

int gt_cudart_cooperative(const struct gt_function *function, struct gt_dim3 grid, struct gt_dim3 block,
			  size_t dynamic_shared, uint64_t *workspace)
{
	static uint64_t address;
	const struct workspace fresh = {sizeof fresh, 0};
	struct gt_error error;
	uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, threads = (uint64_t)block.x * block.y * block.z;

	if (blocks > gt_cudart_resident(function, threads, dynamic_shared) * gt_cudart_gpu_value("sms", 108))
		return CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
	gt_cudart.memory.owner = GT_PTX_EVERYONE;
	/* A name without a blank: it is not an allocation of the program, and survives cudaDeviceReset. */
	if (!address && gt_ptx_allocate(&gt_cudart.memory, sizeof fresh, "grid_workspace", &address, &error) != 0)
		return CUDA_MEMORY_ALLOCATION;
	memcpy(gt_ptx_at(&gt_cudart.memory, address, sizeof fresh), &fresh, sizeof fresh);
	*workspace = address;
	return CUDA_SUCCESS;
}
