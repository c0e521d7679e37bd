/* SPDX-License-Identifier: MIT */
/* The calls that launch kernels. */
#include "cuda/runtime/graph.h"

/* The configuration between <<< >>> is saved while the arguments are evaluated. */
#define CONFIGURATIONS 16
static _Thread_local struct {
	struct gt_dim3 grid, block;
	size_t shared;
	void *stream;
} configurations[CONFIGURATIONS];
static _Thread_local unsigned n_configurations;

API unsigned __cudaPushCallConfiguration(struct gt_dim3 grid, struct gt_dim3 block, size_t shared, void *stream)
{
	if (n_configurations == CONFIGURATIONS)
		return CUDA_MISSING_CONFIGURATION;
	configurations[n_configurations].grid = grid;
	configurations[n_configurations].block = block;
	configurations[n_configurations].shared = shared;
	configurations[n_configurations++].stream = stream;
	return CUDA_SUCCESS;
}

API int __cudaPopCallConfiguration(struct gt_dim3 *grid, struct gt_dim3 *block, size_t *shared, void *stream)
{
	if (n_configurations == 0) {
		gt_cudart_enter();
		return gt_cudart_leave(CUDA_MISSING_CONFIGURATION);
	}
	n_configurations--;
	*grid = configurations[n_configurations].grid;
	*block = configurations[n_configurations].block;
	*shared = configurations[n_configurations].shared;
	*(void **)stream = configurations[n_configurations].stream;
	return CUDA_SUCCESS;
}

API int cudaLaunchKernel(const void *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			 size_t shared, void *stream)
{
	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, grid, block, shared, arguments,
						       gt_cudart_stream_wishes(stream), 0}}};

	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int cudaLaunchCooperativeKernel(const void *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
				    size_t shared, void *stream)
{
	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, grid, block, shared, arguments,
						       gt_cudart_stream_wishes(stream), 0}}};

	work.u.kernel.wishes.cooperative = true;
	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int __cudaLaunchKernel(const void *kernel, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			   size_t shared, void *stream)
{
	return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API int __cudaGetKernel(const void **kernel, const void *host)
{
	gt_cudart_enter_beside();
	*kernel = gt_cudart_find_function(host);
	return gt_cudart_leave(*kernel ? CUDA_SUCCESS : CUDA_INVALID_DEVICE_FUNCTION);
}

API int cudaGetKernel(const void **kernel, const void *host)
{
	return __cudaGetKernel(kernel, host);
}

API int cudaGetFuncBySymbol(const void **function, const void *host)
{
	return __cudaGetKernel(function, host);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaLaunchKernel, cudaLaunchKernel_ptsz);
ALSO(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz);
ALSO(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);
