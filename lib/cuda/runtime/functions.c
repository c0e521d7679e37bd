/* SPDX-License-Identifier: MIT */
/* Calls about kernels: attributes, and occupancy. */
#include <string.h>

#include "cuda/runtime/since.h"
#include "cuda/runtime/runtime.h"

struct function_attributes {
	size_t shared, constant, local;
	int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
	int cluster_must_be_set, cluster[3], cluster_policy, unportable_cluster;
	int reserved[17];
};

/* Numbers of function attributes. */
enum {
	MAX_DYNAMIC_SHARED = 8,
	CARVEOUT = 9,
	CLUSTER_MUST_BE_SET = 10,
	CLUSTER_WIDTH = 11,
	CLUSTER_HEIGHT = 12,
	CLUSTER_DEPTH = 13,
	CLUSTER_UNPORTABLE = 14,
	FUNCTION_ATTRIBUTES = 16
};
#define CARVEOUT_DEFAULT (-1)

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *host)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!attributes || !function)
		return gt_cudart_leave(attributes ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_INVALID_VALUE);
	const uint32_t *cluster = function->cluster[0] ? function->cluster : function->kernel->required_cluster;
	*attributes = (struct function_attributes){
		.shared = (size_t)function->static_shared,
		.max_threads = gt_cudart_max_threads(function),
		.registers = (int)function->registers,
		.ptx_version = (int)function->fat->module.target,
		.binary_version = (int)gt_cudart_capability(),
		.max_dynamic_shared = (int)gt_cudart_dynamic_shared_max(function),
		.carveout = function->carveout,
		.cluster_must_be_set = function->kernel->explicit_cluster,
		.cluster = {(int)cluster[0], (int)cluster[1], (int)cluster[2]},
		.unportable_cluster = function->unportable_cluster,
	};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFuncSetAttribute(const void *host, int attribute, int value)
{
	gt_cudart_enter();
	struct gt_function *function = gt_cudart_function(host);
	if (!function || attribute < MAX_DYNAMIC_SHARED || attribute >= FUNCTION_ATTRIBUTES)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE_FUNCTION);
	if (attribute == MAX_DYNAMIC_SHARED) {
		if (value < 0 || function->static_shared + (uint64_t)value > gt_cudart_gpu_value("shared_block", 48 << 10))
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->max_dynamic_shared = value;
	} else if (attribute == CARVEOUT) {
		if (value < CARVEOUT_DEFAULT || value > 100)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->carveout = value;
	} else if (attribute >= CLUSTER_WIDTH && attribute <= CLUSTER_DEPTH) {
		if (value < 0)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->cluster[attribute - CLUSTER_WIDTH] = (uint32_t)value;
	} else if (attribute == CLUSTER_UNPORTABLE) {
		function->unportable_cluster = value != 0;
	} else if (attribute != CLUSTER_MUST_BE_SET) {
		static bool said;
		gt_cudart_say_once(&said, "cudaFuncSetAttribute: the scheduling policy of clusters has no effect");
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

int gt_cudart_carveout(int config)
{
	static const int percent[] = {CARVEOUT_DEFAULT, 100, 0, 50}; /* none, shared, L1, equal */

	return config >= 0 && config < 4 ? percent[config] : CARVEOUT_DEFAULT;
}

API int cudaFuncSetCacheConfig(const void *host, int config)
{
	gt_cudart_enter();
	struct gt_function *function = gt_cudart_find_function(host);
	if (!function)
		return gt_cudart_leave(CUDA_INVALID_DEVICE_FUNCTION);
	function->carveout = gt_cudart_carveout(config);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFuncSetSharedMemConfig(const void *host, int config)
{
	static bool said;

	(void)config;
	gt_cudart_enter();
	gt_cudart_say_once(&said, "cudaFuncSetSharedMemConfig: has no effect: banks are 4 bytes wide");
	return gt_cudart_leave(gt_cudart_find_function(host) ? CUDA_SUCCESS : CUDA_INVALID_DEVICE_FUNCTION);
}

API int cudaFuncGetName(const char **name, const void *host)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_find_function(host);
	if (!name || !function)
		return gt_cudart_leave(name ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_INVALID_VALUE);
	*name = function->name;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
						      size_t dynamic_shared)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!blocks || threads <= 0 || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE_FUNCTION);
	uint64_t resident = gt_cudart_resident(function, (uint64_t)threads, dynamic_shared);
	*blocks = resident < GT_BLOCK_THREADS_MAX ? (int)resident : GT_BLOCK_THREADS_MAX;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
								size_t dynamic_shared, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, dynamic_shared);
}

SINCE_12(cudaFuncGetAttributes);
