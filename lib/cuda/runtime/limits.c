/* SPDX-License-Identifier: MIT */
/* The limits of the device that a program sets. */
#include "cuda/runtime/runtime.h"
#include "cuda/ptx/exec/heap.h"
#include "cuda/ptx/exec/nested.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
enum { HEAP = 2, PENDING = 4, L2_FETCH = 5, L2_PERSISTING = 6 }; /* numbers of limits */
#define L2_FETCH_MAX 128

/* What the program may set, by number. */
static struct {
	const char *name;
	size_t value;
	bool said;
} limits[] = {
	{"cudaLimitStackSize", 1 << 10, false},
	{"cudaLimitPrintfFifoSize", 1 << 20, false},
	[HEAP] = {"cudaLimitMallocHeapSize", GT_PTX_HEAP_BYTES, false},
	{"cudaLimitDevRuntimeSyncDepth", 2, false},
	[PENDING] = {"cudaLimitDevRuntimePendingLaunchCount", GT_PTX_PENDING, false},
	[L2_FETCH] = {"cudaLimitMaxL2FetchGranularity", 64, false},
	[L2_PERSISTING] = {"cudaLimitPersistingL2CacheSize", 0, false},
};

API int cudaDeviceSetLimit(unsigned limit, size_t value)
{
	gt_cudart_enter();
	if (limit >= LENGTH(limits))
		return gt_cudart_leave(CUDA_UNSUPPORTED_LIMIT);
	if ((limit == L2_FETCH && value > L2_FETCH_MAX) || (limit == L2_PERSISTING && value > gt_cudart_persisting_max()))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if ((limit == HEAP && gt_ptx_heap_resize(&gt_cudart.memory, value) != 0) ||
	    (limit == PENDING && gt_ptx_pool_resize(&gt_cudart.memory, value) != 0))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	limits[limit].value = limit == HEAP ? gt_cudart.memory.heap_bytes : value;
	if (limit == L2_FETCH)
		gt_cudart.l2_fetch_bytes = value;
	else if (limit == L2_PERSISTING)
		gt_cudart.l2_persisting_bytes = value;
	else if (limit != HEAP && limit != PENDING)
		gt_cudart_say_once(&limits[limit].said, "cudaDeviceSetLimit: %s: has no effect", limits[limit].name);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGetLimit(size_t *value, unsigned limit)
{
	gt_cudart_enter();
	if (!value || limit >= LENGTH(limits))
		return gt_cudart_leave(value ? CUDA_UNSUPPORTED_LIMIT : CUDA_INVALID_VALUE);
	*value = limits[limit].value;
	return gt_cudart_leave(CUDA_SUCCESS);
}

int gt_cudart_limit(unsigned number, uint64_t *value)
{
	if (number >= LENGTH(limits))
		return CUDA_UNSUPPORTED_LIMIT;
	*value = limits[number].value;
	return CUDA_SUCCESS;
}
