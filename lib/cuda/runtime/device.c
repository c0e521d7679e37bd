/* SPDX-License-Identifier: MIT */
/* Which devices there are, and what a program sets for them all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

#define DEVICE_FLAGS_MASK 0x1fU
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* ---- which device ---- */

API int cudaGetDeviceCount(int *n)
{
	gt_cudart_enter();
	if (n)
		*n = gt_cudart_devices();
	return gt_cudart_leave(n ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaGetDevice(int *device)
{
	gt_cudart_enter_beside();
	if (device)
		*device = gt_cudart_device();
	return gt_cudart_leave(device ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaSetDevice(int device)
{
	gt_cudart_enter();
	if (!gt_cudart_is_device(device))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	gt_context_set(gt_context_primary(device));
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags, (void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_SUCCESS : CUDA_INVALID_DEVICE);
}

/* The devices are alike. */
API int cudaChooseDevice(int *device, const void *properties_wanted)
{
	gt_cudart_enter();
	if (!device || !properties_wanted)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*device = 0;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaSetValidDevices(const int *devices, int n)
{
	gt_cudart_enter();
	for (int i = 0; i < n; i++)
		if (!gt_cudart_is_device(devices[i]))
			return gt_cudart_leave(CUDA_INVALID_DEVICE);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The devices are on a bus of their own each. */
API int cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
	gt_cudart_enter();
	if (!text || bytes <= 0 || !gt_cudart_is_device(device))
		return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE);
	snprintf(text, (size_t)bytes, "0000:%02x:00.0", (unsigned)device + 1);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	unsigned domain, bus = 0;

	gt_cudart_enter();
	if (!device || !text)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || domain != 0 || !gt_cudart_is_device((int)bus - 1))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	*device = (int)bus - 1;
	return gt_cudart_leave(CUDA_SUCCESS);
}

static unsigned device_flags;

API int cudaSetDeviceFlags(unsigned flags)
{
	gt_cudart_enter();
	if (flags & ~DEVICE_FLAGS_MASK)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	device_flags = flags;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGetDeviceFlags(unsigned *flags)
{
	*flags = device_flags;
	return CUDA_SUCCESS;
}

API int cudaDriverGetVersion(int *version)
{
	*version = GT_CUDART_VERSION;
	return CUDA_SUCCESS;
}

API int cudaRuntimeGetVersion(int *version)
{
	*version = GT_CUDART_VERSION;
	return CUDA_SUCCESS;
}
SINCE_13(cudaRuntimeGetVersion);

/* ---- settings without an effect ---- */

API int cudaDeviceSynchronize(void)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_stream_outside_all_captures());
}

void gt_cudart_reset(int device)
{
	gt_cudart_free_all(device);
	if (gt_cudart_devices() == 1) {
		gt_ptx_heap_close(&gt_cudart.memory);
		gt_ptx_pool_close(&gt_cudart.memory);
	}
	gt_cudart_forget_arrays();
	gt_cudart.peers[device] = 0;
	gt_cudart.failing = CUDA_SUCCESS;
	gt_cudart.failed = CUDA_SUCCESS;
}

API int cudaDeviceReset(void)
{
	gt_cudart_enter();
	gt_cudart_reset(gt_cudart_device());
	return gt_cudart_leave(CUDA_SUCCESS);
}

static int shared_config;

API int cudaDeviceSetSharedMemConfig(int config)
{
	shared_config = config;
	return CUDA_SUCCESS;
}

API int cudaDeviceGetSharedMemConfig(int *config)
{
	*config = shared_config;
	return CUDA_SUCCESS;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = PRIORITY_LEAST;
	if (greatest)
		*greatest = PRIORITY_GREATEST;
	return CUDA_SUCCESS;
}

API int cudaCtxResetPersistingL2Cache(void)
{
	static bool said;

	gt_cudart_enter();
	gt_cudart_say_once(&said, "cudaCtxResetPersistingL2Cache: has no effect: lines keep their priority");
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaProfilerStart(void) { return CUDA_SUCCESS; }
API int cudaProfilerStop(void) { return CUDA_SUCCESS; }
