/* SPDX-License-Identifier: MIT */
/* The resources that a block may use, and occupancy. */
#include "cuda/runtime/runtime.h"

#define SHARED_UNASKED ((uint64_t)48 << 10) /* bytes that a block may use without cudaFuncSetAttribute */

uint64_t gt_cudart_dynamic_shared_max(const struct gt_function *function)
{
	uint64_t block = gt_cudart_gpu_value("shared_block", SHARED_UNASKED);
	uint64_t most = block < SHARED_UNASKED ? block : SHARED_UNASKED, asked = (uint64_t)function->max_dynamic_shared;
	uint64_t left = function->static_shared < most ? most - function->static_shared : 0;

	return asked > left ? asked : left;
}

int gt_cudart_max_threads(const struct gt_function *function)
{
	const uint32_t *bound = function->kernel->max_threads;
	uint64_t threads = bound[0];

	for (int i = 1; i < 3; i++)
		threads *= bound[i] > 0 ? bound[i] : 1;
	return threads > 0 && threads < GT_BLOCK_THREADS_MAX ? (int)threads : GT_BLOCK_THREADS_MAX;
}

uint64_t gt_cudart_resident(const struct gt_function *function, uint64_t threads, size_t dynamic_shared)
{
	struct gt_occupancy occupancy;
	struct gt_error error;
	struct gt_block_needs needs = {
		.warps = (threads + GT_WARP_SIZE - 1) / GT_WARP_SIZE,
		.registers = function->registers,
		.shared_bytes = (uint32_t)(function->static_shared + dynamic_shared),
	};
	bool fits = threads <= (uint64_t)gt_cudart_max_threads(function) &&
		    dynamic_shared <= gt_cudart_dynamic_shared_max(function) &&
		    gt_occupancy_find(&occupancy, &gt_cudart.limits, &needs, &error) == 0;

	return fits ? occupancy.blocks : 0;
}
