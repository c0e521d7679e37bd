/* SPDX-License-Identifier: MIT */
/* The calls that launch kernels, whose arguments come one by one, or all in one buffer; and those about functions and kernels, which
 * are the same here. */
#include <stdlib.h>

#include "cuda/driver/driver.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/work.h"

/* ---- launches ---- */

/* What `extra` lists, up to END: pairs of one of these and a pointer. */
enum { END, BUFFER_POINTER, BUFFER_BYTES };

/* Pointers to the arguments in a buffer; NULL with a code if the buffer is none. */
static void **from_buffer(const struct gt_ptx_function *kernel, void *const *extra, int *code)
{
	char *buffer = NULL;
	size_t bytes = 0;

	*code = CUDA_INVALID_VALUE;
	for (; (uintptr_t)*extra != END; extra += 2) {
		if ((uintptr_t)*extra == BUFFER_POINTER)
			buffer = extra[1];
		else if ((uintptr_t)*extra == BUFFER_BYTES)
			bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	if (!buffer || bytes < gt_ptx_parameter_bytes(kernel))
		return NULL;
	void **arguments = calloc(kernel->n_parameters + 1, sizeof *arguments);
	*code = arguments ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
	for (size_t i = 0; arguments && i < kernel->n_parameters; i++)
		arguments[i] = buffer + gt_ptx_parameter_offset(kernel, i);
	return arguments;
}

/* The context of a launch, if it is not the thread's: one without has that of a stream which was created, and so has a kernel of a library,
 * which is of no context. */
static struct gt_context *context_for(const struct gt_function *function, void *stream)
{
	const struct gt_context *own = gt_driver_context();
	int device;

	if (!gt_is(GT_STREAM, stream) || (own && function->fat->owner) || cudaStreamGetDevice(stream, &device) != CUDA_SUCCESS)
		return NULL;
	if (function->fat->owner)
		return (struct gt_context *)(uintptr_t)function->fat->owner;
	return own && own->device == device ? NULL : gt_context_primary(device);
}

static int launch_here(const struct gt_launch_config *config, const void *handle, void **arguments, void **extra)
{
	const struct gt_function *function = gt_cudart_function(handle);
	int code = CUDA_SUCCESS;

	/* A function of a module is of the context in which that was loaded. */
	if (!function || (function->fat->owner && function->fat->owner != gt_driver_context()))
		return CUDA_INVALID_RESOURCE_HANDLE;
	if ((arguments && extra) || (function->kernel->n_parameters > 0 && !arguments && !extra))
		return CUDA_INVALID_VALUE;
	void **unpacked = extra ? from_buffer(function->kernel, extra, &code) : NULL;
	if (code == CUDA_SUCCESS)
		code = gt_cudart_launch_with(config, handle, extra ? unpacked : arguments);
	free(unpacked);
	return code == CUDA_INVALID_CONFIGURATION ? CUDA_INVALID_VALUE : code;
}

static int launch(const struct gt_launch_config *config, const void *handle, void **arguments, void **extra)
{
	const struct gt_function *function = handle ? gt_cudart_find_function(handle) : NULL;
	struct gt_context *context = function ? context_for(function, config->stream) : NULL;

	if (!function || (context && !gt_context_push(context)))
		return function ? CUDA_MEMORY_ALLOCATION : CUDA_INVALID_RESOURCE_HANDLE;
	const int code = launch_here(config, handle, arguments, extra);
	if (context)
		gt_context_pop();
	return code;
}

#define SHAPE                                                                                      \
	const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
		unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments

DRIVER_OF(stream, cuLaunchKernel, (SHAPE, void **extra),
       launch(&(struct gt_launch_config){{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, NULL, 0},
	      function, arguments, extra))

static int launch_cooperative(const struct gt_launch_config *config, const void *function, void **arguments)
{
	const struct gt_launch_attribute cooperative = {GT_LAUNCH_COOPERATIVE, {.number = 1}};
	struct gt_launch_config with = *config;

	with.attributes = &cooperative;
	with.n_attributes = 1;
	return launch(&with, function, arguments, NULL);
}

DRIVER_OF(stream, cuLaunchCooperativeKernel, (SHAPE),
       launch_cooperative(&(struct gt_launch_config){{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream,
						      NULL, 0}, function, arguments))

/* CUlaunchConfig */
struct config {
	struct gt_dim3 grid, block;
	unsigned shared;
	void *stream;
	const struct gt_launch_attribute *attributes;
	unsigned n_attributes;
};

DRIVER_OF(config ? config->stream : NULL, cuLaunchKernelEx, (const struct config *config, const void *function, void **arguments, void **extra),
       !config ? CUDA_INVALID_VALUE
	       : launch(&(struct gt_launch_config){config->grid, config->block, config->shared, config->stream,
						   config->attributes, config->n_attributes}, function, arguments, extra))

DRIVER(cuOccupancyMaxActiveClusters, (int *clusters, const void *function, const struct config *config),
       !config ? CUDA_INVALID_VALUE
	       : cudaOccupancyMaxActiveClusters(clusters, function, &(struct gt_launch_config){config->grid, config->block, config->shared,
						   config->stream, config->attributes, config->n_attributes}))
DRIVER(cuOccupancyMaxPotentialClusterSize, (int *blocks, const void *function, const struct config *config),
       !config ? CUDA_INVALID_VALUE
	       : cudaOccupancyMaxPotentialClusterSize(blocks, function, &(struct gt_launch_config){config->grid, config->block,
						   config->shared, config->stream, config->attributes, config->n_attributes}))

static int call_host(void *stream, void (*function)(void *), void *data)
{
	struct gt_work work = {GT_WORK_HOST, {.host = {function, data}}};

	return function ? gt_stream_ask(stream, &work) : CUDA_INVALID_VALUE;
}

DRIVER_OF(stream, cuLaunchHostFunc, (void *stream, void (*function)(void *), void *data), call_host(stream, function, data))

ALSO(cuLaunchKernel, cuLaunchKernel_ptsz);
ALSO(cuLaunchKernelEx, cuLaunchKernelEx_ptsz);
ALSO(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz);
ALSO(cuLaunchHostFunc, cuLaunchHostFunc_ptsz);

/* ---- attributes of functions ---- */

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
		[CONST_BYTES] = (int)gt_cudart_constant_bytes(function),
		[LOCAL_BYTES] = (int)function->local_bytes,
		[REGISTERS] = (int)function->registers,
		[PTX_VERSION] = (int)function->fat->module.target.capability,
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

DRIVER(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *shared, const void *function, int blocks, int threads),
       cudaOccupancyAvailableDynamicSMemPerBlock(shared, function, blocks, threads))

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
