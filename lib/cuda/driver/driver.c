/* SPDX-License-Identifier: MIT */
/* What all calls of the driver API do. */
#include "cuda/runtime/askers.h"
#include "cuda/driver/driver.h"

static bool initialized;

struct gt_context *gt_driver_context(void)
{
	struct gt_context *context = gt_context_current();

	return context || !gt_cudart_used() ? context : gt_context_primary(0);
}

int gt_driver_begin_anywhere(void)
{
	gt_cudart_lock();
	return initialized || gt_cudart_used() ? CUDA_SUCCESS : CU_NOT_INITIALIZED;
}

int gt_driver_begin(void)
{
	int code = gt_driver_begin_anywhere();

	if (code != CUDA_SUCCESS)
		return code;
	const struct gt_context *context = gt_driver_context();
	if (!context)
		return CU_INVALID_CONTEXT;
	return context->destroyed ? CU_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

/* The driver has fewer codes for wrong arguments. */
static int driver_code(int code)
{
	switch (code) {
	case CUDA_INVALID_CONFIGURATION:
	case CUDA_INVALID_PITCH_VALUE:
	case CUDA_INVALID_CHANNEL_DESCRIPTOR:
	case CUDA_INVALID_MEMCPY_DIRECTION:
	case CUDA_INVALID_FILTER_SETTING:
		return CUDA_INVALID_VALUE;
	case CUDA_INVALID_SYMBOL:
		return CU_NOT_FOUND;
	case CUDA_INVALID_DEVICE_FUNCTION:
		return CUDA_INVALID_RESOURCE_HANDLE;
	default:
		return code;
	}
}

int gt_driver_end(int code)
{
	int failed = gt_cudart_failed();

	gt_cudart_unlock();
	return driver_code(failed ? failed : code);
}

/* Opens nothing yet: also the static runtime calls it, which can do no more than that here. */
API int cuInit(unsigned flags)
{
	gt_cudart_driver_called_from(__builtin_return_address(0));
	if (flags != 0)
		return CUDA_INVALID_VALUE;
	initialized = true;
	return CUDA_SUCCESS;
}

/* Private calls, of the runtime to the driver. */
API int cuGetExportTable(const void **table, const void *id)
{
	(void)id;
	gt_cudart_driver_called_from(__builtin_return_address(0));
	if (table)
		*table = NULL;
	return CU_NOT_FOUND;
}
