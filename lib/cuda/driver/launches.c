/* SPDX-License-Identifier: MIT */
/* The calls that launch kernels. Arguments come one by one, or all in one buffer. */
#include <stdlib.h>

#include "cuda/runtime/calls.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/launches.h"

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

static int launch(const struct gt_launch_config *config, const void *handle, void **arguments, void **extra)
{
	const struct gt_function *function = handle ? gt_cudart_function(handle) : NULL;
	int code = CUDA_SUCCESS;

	if (!function)
		return CUDA_INVALID_RESOURCE_HANDLE;
	if ((arguments && extra) || (function->kernel->n_parameters > 0 && !arguments && !extra))
		return CUDA_INVALID_VALUE;
	void **unpacked = extra ? from_buffer(function->kernel, extra, &code) : NULL;
	if (code == CUDA_SUCCESS)
		code = gt_cudart_launch_with(config, handle, extra ? unpacked : arguments);
	free(unpacked);
	return code;
}

#define SHAPE                                                                                      \
	const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
		unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments

DRIVER(cuLaunchKernel, (SHAPE, void **extra),
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

DRIVER(cuLaunchCooperativeKernel, (SHAPE),
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

DRIVER(cuLaunchKernelEx, (const struct config *config, const void *function, void **arguments, void **extra),
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

DRIVER(cuLaunchHostFunc, (void *stream, void (*function)(void *), void *data), call_host(stream, function, data))

ALSO(cuLaunchKernel, cuLaunchKernel_ptsz);
ALSO(cuLaunchKernelEx, cuLaunchKernelEx_ptsz);
ALSO(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz);
ALSO(cuLaunchHostFunc, cuLaunchHostFunc_ptsz);
