/* SPDX-License-Identifier: MIT */
/* The one device there is: its properties from the GPU's description, at the places where CUDA 13
 * programs look for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/arrays.h"
#include "cudart/contexts.h"
#include "cudart/runtime.h"
#include "ptx/exec/heap.h"

#define PROPERTIES_BYTES 1008 /* of cudaDeviceProp */
#define NAME_BYTES 256
#define WARP 32
#define RUNTIME_VERSION 13000
#define DEVICE_FLAGS_MASK 0x1fU
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static uint64_t memory_bytes(void) { return gt_cudart.memory.limit; }
static uint64_t major(void) { return gt_cudart_capability() / 10; }
static uint64_t minor(void) { return gt_cudart_capability() % 10; }
static uint64_t sms(void) { return gt_cudart_figure("sms", 108); }
static uint64_t registers(void) { return gt_cudart_figure("registers", 65536); }
static uint64_t shared(void) { return gt_cudart_figure("shared", 48 << 10); }
static uint64_t shared_reserved(void) { return gt_cudart_figure("shared_reserved", 0); }
static uint64_t l2_bytes(void) { return gt_cudart_figure("l2.size", 4 << 20); }
static uint64_t threads_sm(void) { return WARP * gt_cudart_figure("max_warps", 64); }
static uint64_t blocks_sm(void) { return gt_cudart_figure("max_blocks", 32); }
static uint64_t bus_bits(void) { return 32 * gt_cudart_figure("dram.channels", 16); }

/* The share of L2 that may be set aside since compute capability 8.0. */
uint64_t gt_cudart_persisting_max(void) { return gt_cudart_capability() >= 80 ? l2_bytes() / 4 * 3 : 0; }
static uint64_t window_max(void) { return gt_cudart_capability() >= 80 ? 128 << 20 : 0; }

static uint64_t shared_optin(void)
{
	return gt_cudart_figure("shared_block", 48 << 10);
}

/* More than this a program must ask for, on any GPU. */
static uint64_t shared_block(void)
{
	return shared_optin() < 48 << 10 ? shared_optin() : 48 << 10;
}

/* Properties that are no text: where they stand in cudaDeviceProp, the number of the attribute
 * that asks for the same (0: none), and their value, from a function if there is one. */
static const struct property {
	unsigned offset, bytes, attribute;
	uint64_t value;
	uint64_t (*figure)(void);
} properties[] = {
	{288, 8, 0, 0, memory_bytes},
	{296, 8, 8, 0, shared_block},
	{304, 4, 12, 0, registers},
	{308, 4, 10, WARP, NULL},
	{312, 8, 11, 2147483647, NULL}, /* pitch */
	{320, 4, 1, GT_BLOCK_THREADS_MAX, NULL},
	{324, 4, 2, BLOCK_XY_MAX, NULL},
	{328, 4, 3, BLOCK_XY_MAX, NULL},
	{332, 4, 4, BLOCK_Z_MAX, NULL},
	{336, 4, 5, GRID_X_MAX, NULL},
	{340, 4, 6, GRID_YZ_MAX, NULL},
	{344, 4, 7, GRID_YZ_MAX, NULL},
	{352, 8, 9, 65536, NULL}, /* constant memory */
	{360, 4, 75, 0, major},
	{364, 4, 76, 0, minor},
	{368, 8, 14, 512, NULL}, /* alignment of textures */
	{376, 8, 51, 32, NULL},	 /* and of their rows */
	{384, 4, 16, 0, sms},
	{392, 4, 19, 1, NULL},	 /* can map host memory */
	{552, 8, 30, 512, NULL}, /* alignment of surfaces */
	{560, 4, 31, 1, NULL},	 /* concurrent kernels */
	{584, 4, 40, 2, NULL},	 /* copy engines */
	{588, 4, 41, 1, NULL},	 /* unified addressing */
	{592, 4, 37, 0, bus_bits},
	{596, 4, 38, 0, l2_bytes},
	{600, 4, 108, 0, gt_cudart_persisting_max},
	{604, 4, 39, 0, threads_sm},
	{608, 4, 78, 1, NULL}, /* priorities of streams */
	{612, 4, 79, 1, NULL}, /* global memory is cached in L1 */
	{616, 4, 80, 1, NULL}, /* local memory too */
	{624, 8, 81, 0, shared},
	{632, 4, 82, 0, registers},
	{636, 4, 83, 1, NULL}, /* managed memory */
	{656, 4, 89, 1, NULL}, /* which host and device may use at a time */
	{672, 8, 97, 0, shared_optin},
	{688, 4, 106, 0, blocks_sm},
	{692, 4, 109, 0, window_max},
	{696, 8, 111, 0, shared_reserved},
	{668, 4, 95, 1, NULL}, /* cooperative launches */
	{704, 4, 99, 1, NULL}, /* can register host memory */
	{720, 4, 115, 1, NULL}, /* memory pools */
	/* Attributes without a place among the properties. */
	{0, 0, 13, 1000000, NULL}, /* kHz: the clock of events */
	{0, 0, 15, 1, NULL},	   /* copies beside kernels */
	{0, 0, 36, 1000000, NULL}, /* kHz of the memory */
};

static uint64_t value_of(const struct property *property)
{
	return property->figure ? property->figure() : property->value;
}

API int cudaGetDeviceProperties(unsigned char *to, int device)
{
	const char *name;

	gt_cudart_enter();
	if (!to || device != 0)
		return gt_cudart_leave(to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	memset(to, 0, PROPERTIES_BYTES);
	name = gt_gpu_get(gt_cudart.gpu, "name");
	snprintf((char *)to, NAME_BYTES, "%s", name ? name : "gtrace");
	for (size_t i = 0; i < LENGTH(properties); i++) {
		uint64_t value = value_of(&properties[i]);
		for (unsigned byte = 0; byte < properties[i].bytes; byte++)
			to[properties[i].offset + byte] = (unsigned char)(value >> 8 * byte);
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

#define ATTRIBUTES 148 /* numbers of attributes are below this */

API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	gt_cudart_enter();
	if (!value || attribute <= 0 || attribute >= ATTRIBUTES || device != 0)
		return gt_cudart_leave(device != 0 ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*value = 0;
	for (size_t i = 0; i < LENGTH(properties); i++)
		if (properties[i].attribute == (unsigned)attribute)
			*value = (int)value_of(&properties[i]);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- which device ---- */

API int cudaGetDeviceCount(int *n)
{
	gt_cudart_enter();
	if (n)
		*n = 1;
	return gt_cudart_leave(n ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaGetDevice(int *device)
{
	gt_cudart_enter();
	if (device)
		*device = 0;
	return gt_cudart_leave(device ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaSetDevice(int device)
{
	gt_cudart_enter();
	return gt_cudart_leave(device == 0 ? CUDA_SUCCESS : CUDA_INVALID_DEVICE);
}

API int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags, (void)flags;
	return cudaSetDevice(device);
}

API int cudaChooseDevice(int *device, const void *properties_wanted)
{
	(void)properties_wanted;
	return cudaGetDevice(device);
}

API int cudaSetValidDevices(const int *devices, int n)
{
	gt_cudart_enter();
	for (int i = 0; i < n; i++)
		if (devices[i] != 0)
			return gt_cudart_leave(CUDA_INVALID_DEVICE);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	gt_cudart_enter();
	if (!can || device != 0 || peer != 0)
		return gt_cudart_leave(can ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*can = 0;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)flags;
	gt_cudart_enter();
	return gt_cudart_leave(peer == 0 ? CUDA_PEER_ACCESS_UNSUPPORTED : CUDA_INVALID_DEVICE);
}

API int cudaDeviceDisablePeerAccess(int peer)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_cudart_is_device(peer) ? CUDA_PEER_ACCESS_NOT_ENABLED : CUDA_INVALID_DEVICE);
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
	*version = RUNTIME_VERSION;
	return CUDA_SUCCESS;
}

API int cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME_VERSION;
	return CUDA_SUCCESS;
}

/* ---- settings without an effect ---- */

API int cudaDeviceSynchronize(void)
{
	gt_cudart_enter();
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* A launch that failed is forgotten. All memory that the program allocated is freed; its variables keep what they hold. */
API int cudaDeviceReset(void)
{
	gt_cudart_enter();
	gt_cudart_free_all();
	gt_ptx_heap_close(&gt_cudart.memory);
	gt_cudart_forget_arrays();
	gt_cudart_forget_objects();
	gt_cudart.failing = gt_cudart.failed = CUDA_SUCCESS;
	return gt_cudart_leave(CUDA_SUCCESS);
}

static int cache_config;
static int shared_config;

API int cudaDeviceSetCacheConfig(int config)
{
	gt_cudart_enter();
	cache_config = config;
	gt_cudart.carveout = gt_cudart_carveout(config);
	gt_cudart_leave(CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

API int cudaDeviceGetCacheConfig(int *config)
{
	*config = cache_config;
	return CUDA_SUCCESS;
}

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
		*least = 0;
	if (greatest)
		*greatest = 0;
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
