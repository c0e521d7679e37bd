/* SPDX-License-Identifier: MIT */
/* Calls about functions and kernels, which are the same here: attributes, and occupancy. */
#include "cuda/runtime/calls.h"
#include "cuda/driver/driver.h"

/* CUfunction_attribute; those from MAX_DYNAMIC_SHARED on have the numbers of the runtime. */
enum { MAX_THREADS, SHARED_BYTES, CONST_BYTES, LOCAL_BYTES, REGISTERS, PTX_VERSION, BINARY_VERSION, CACHE_MODE,
       MAX_DYNAMIC_SHARED, CARVEOUT, CLUSTER_MUST_BE_SET, CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH, CLUSTER_POLICY,
       CLUSTER_UNPORTABLE, ATTRIBUTES };

/* The function of a handle, loaded; NULL: it is none. */
static const struct gt_function *function_of(const void *handle)
{
	return handle ? gt_cudart_function(handle) : NULL;
}

static int attribute_of(int *to, int attribute, const void *handle)
{
	const struct gt_function *function = function_of(handle);

	if (!function)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (!to || attribute < 0 || attribute >= ATTRIBUTES)
		return CUDA_INVALID_VALUE;
	const uint32_t *cluster = function->cluster[0] ? function->cluster : function->kernel->required_cluster;
	const int values[ATTRIBUTES] = {
		[MAX_THREADS] = gt_cudart_max_threads(function),
		[SHARED_BYTES] = (int)function->static_shared,
		[REGISTERS] = (int)function->registers,
		[PTX_VERSION] = (int)function->fat->module.target,
		[BINARY_VERSION] = (int)gt_cudart_capability(),
		[MAX_DYNAMIC_SHARED] = (int)gt_cudart_dynamic_shared_max(function),
		[CARVEOUT] = function->carveout,
		[CLUSTER_MUST_BE_SET] = function->kernel->explicit_cluster,
		[CLUSTER_WIDTH] = (int)cluster[0],
		[CLUSTER_HEIGHT] = (int)cluster[1],
		[CLUSTER_DEPTH] = (int)cluster[2],
		[CLUSTER_UNPORTABLE] = function->unportable_cluster,
	};
	*to = values[attribute];
	return CUDA_SUCCESS;
}

DRIVER(cuFuncGetAttribute, (int *to, int attribute, const void *function), attribute_of(to, attribute, function))
DRIVER(cuFuncSetAttribute, (const void *function, int attribute, int value), cudaFuncSetAttribute(function, attribute, value))
DRIVER(cuFuncSetCacheConfig, (const void *function, int config), cudaFuncSetCacheConfig(function, config))
DRIVER(cuFuncSetSharedMemConfig, (const void *function, int config), cudaFuncSetSharedMemConfig(function, config))
DRIVER_ANYWHERE(cuKernelGetAttribute, (int *to, int attribute, const void *kernel, int device),
		gt_cudart_is_device(device) ? attribute_of(to, attribute, kernel) : CUDA_INVALID_DEVICE)
DRIVER_ANYWHERE(cuKernelSetAttribute, (int attribute, int value, const void *kernel, int device),
		gt_cudart_is_device(device) ? cudaFuncSetAttribute(kernel, attribute, value) : CUDA_INVALID_DEVICE)
DRIVER_ANYWHERE(cuKernelSetCacheConfig, (const void *kernel, int config, int device),
		gt_cudart_is_device(device) ? cudaFuncSetCacheConfig(kernel, config) : CUDA_INVALID_DEVICE)

static int name_of(const char **to, const void *handle)
{
	const struct gt_function *function = function_of(handle);

	if (!to || !function)
		return to ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_INVALID_VALUE;
	*to = function->name;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuFuncGetName, (const char **to, const void *function), name_of(to, function))
DRIVER_ANYWHERE(cuKernelGetName, (const char **to, const void *kernel), name_of(to, kernel))

/* Where parameter `i` lies in the memory of the parameters, and its bytes. */
static int parameter_of(const void *handle, size_t i, size_t *offset, size_t *bytes)
{
	const struct gt_function *function = function_of(handle);

	if (!function || !offset)
		return function ? CUDA_INVALID_VALUE : CUDA_INVALID_RESOURCE_HANDLE;
	if (i >= function->kernel->n_parameters)
		return CUDA_INVALID_VALUE;
	*offset = gt_ptx_parameter_offset(function->kernel, i);
	if (bytes)
		*bytes = (size_t)function->kernel->parameters[i].bytes;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuFuncGetParamInfo, (const void *function, size_t i, size_t *offset, size_t *bytes),
		parameter_of(function, i, offset, bytes))
DRIVER_ANYWHERE(cuKernelGetParamInfo, (const void *kernel, size_t i, size_t *offset, size_t *bytes),
		parameter_of(kernel, i, offset, bytes))

#define LOADED 1 /* CUfunctionLoadingState */
DRIVER_ANYWHERE(cuFuncIsLoaded, (int *state, const void *function),
		!state ? CUDA_INVALID_VALUE : function_of(function) ? (*state = LOADED, CUDA_SUCCESS)
								     : CUDA_INVALID_RESOURCE_HANDLE)
DRIVER_ANYWHERE(cuFuncLoad, (const void *function), function_of(function) ? CUDA_SUCCESS : CUDA_INVALID_RESOURCE_HANDLE)

/* ---- occupancy ---- */

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *function, int threads, size_t shared),
       cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared))
DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
       (int *blocks, const void *function, int threads, size_t shared, unsigned flags),
       ((void)flags, cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared)))

/* The block of whole warps with which an SM holds the most threads; of several, the largest. */
static int best_block(int *grid, int *block, const void *handle, size_t (*shared_of)(int), size_t shared, int limit)
{
	const struct gt_function *function = function_of(handle);
	uint64_t most = 0;

	if (!grid || !block || !function)
		return function ? CUDA_INVALID_VALUE : CUDA_INVALID_RESOURCE_HANDLE;
	int largest = gt_cudart_max_threads(function);
	*grid = *block = 0;
	for (int threads = limit > 0 && limit < largest ? limit : largest; threads > 0;
	     threads = (threads - 1) / GT_WARP_SIZE * GT_WARP_SIZE) {
		uint64_t blocks = gt_cudart_resident(function, (uint64_t)threads, shared_of ? shared_of(threads) : shared);
		if (blocks * (uint64_t)threads <= most)
			continue;
		most = blocks * (uint64_t)threads;
		*block = threads;
		*grid = (int)(blocks * gt_cudart_gpu_value("sms", 108));
	}
	return CUDA_SUCCESS;
}

DRIVER(cuOccupancyMaxPotentialBlockSize,
       (int *grid, int *block, const void *function, size_t (*shared_of)(int), size_t shared, int limit),
       best_block(grid, block, function, shared_of, shared, limit))
DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags,
       (int *grid, int *block, const void *function, size_t (*shared_of)(int), size_t shared, int limit, unsigned flags),
       ((void)flags, best_block(grid, block, function, shared_of, shared, limit)))
