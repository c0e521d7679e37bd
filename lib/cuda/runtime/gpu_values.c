/* SPDX-License-Identifier: MIT */
/* What a program may ask of its GPU: values of the GPU's description, with something plausible where it says nothing; the device's
 * properties and attributes, at the places where programs look for them; and the limits that a program sets. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/fatbin/fatbin.h"
#include "cuda/runtime/runtime.h"

/* ---- the description ---- */

uint64_t gt_cudart_gpu_value(const char *key, uint64_t otherwise)
{
	struct gt_error error;
	uint64_t value;

	/* Counts are sizes without a unit, so one reader serves both. */
	if (gt_gpu_size(gt_cudart.gpu, key, otherwise, &value, &error) != 0)
		gt_cudart_stop("%s", error.text);
	return value;
}

unsigned gt_cudart_capability(void)
{
	const char *text = gt_gpu_get(gt_cudart.gpu, "compute_capability");
	unsigned capability = text ? gt_gpu_capability(gt_cudart.gpu) : 80;

	if (capability == 0)
		gt_cudart_stop("gpu: compute_capability: '%s': expected a number such as 8.0", text);
	return capability;
}

/* That of a module's PTX; before it is loaded, of the PTX that would be. All 0: it has none. */
static struct gt_gpu_target target_of(const struct gt_fat *fat)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error ignored;

	if (fat->loaded || fat->others.capability > 0)
		return fat->loaded ? fat->module.target : fat->others;
	return gt_fatbin_open(&fatbin, fat->data, gt_cudart_readable(fat->data), &ignored) == 0 &&
			       gt_fatbin_choose_ptx(&fatbin, gt_cudart_capability(), &entry, &ignored) == 1
		       ? entry.target : (struct gt_gpu_target){0};
}

bool gt_cudart_is_for_others(const struct gt_fat *fat, char reason[GT_GPU_REASON])
{
	const struct gt_gpu_target target = fat ? target_of(fat) : (struct gt_gpu_target){0};
	const unsigned has = gt_cudart_capability();

	reason[0] = '\0';
	if (gt_gpu_runs(has, target))
		return false;
	gt_gpu_explain(gt_cudart.record.gpus, has, target, reason);
	return true;
}

/* ---- properties and attributes ---- */

#define PROPERTIES_BYTES 1008	 /* of cudaDeviceProp */
#define PROPERTIES_12_BYTES 1032 /* of CUDA 12's */
#define NAME_BYTES 256
#define UUID_AT 256
#define WARP 32
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static uint64_t memory_bytes(void) { return gt_cudart.record.tracing.device_memory; }
static uint64_t major(void) { return gt_cudart_capability() / 10; }
static uint64_t minor(void) { return gt_cudart_capability() % 10; }
static uint64_t sms(void) { return gt_cudart_gpu_value("sms", 108); }
static uint64_t registers(void) { return gt_cudart_gpu_value("registers", 65536); }
static uint64_t shared(void) { return gt_cudart_gpu_value("shared", 48 << 10); }
static uint64_t shared_reserved(void) { return gt_cudart_gpu_value("shared_reserved", 0); }
static uint64_t l2_bytes(void) { return gt_cudart_gpu_value("l2.size", 4 << 20); }
static uint64_t threads_sm(void) { return WARP * gt_cudart_gpu_value("max_warps", 64); }
static uint64_t blocks_sm(void) { return gt_cudart_gpu_value("max_blocks", 32); }
static uint64_t bus_bits(void) { return 32 * gt_cudart_gpu_value("dram.channels", 16); }

/* The share of L2 that may be set aside since compute capability 8.0: three quarters of an A100's, five eighths of an H100's. */
static uint64_t persisting_max(void) { return gt_cudart_capability() >= 80 ? l2_bytes() / 8 * (gt_cudart_capability() >= 90 ? 5 : 6) : 0; }
static uint64_t window_max(void) { return gt_cudart_capability() >= 80 ? 128 << 20 : 0; }

static uint64_t shared_optin(void)
{
	return gt_cudart_gpu_value("shared_block", 48 << 10);
}

static uint64_t has_clusters(void)
{
	return gt_cudart_capability() >= 90;
}

/* More than this a program must ask for, on any GPU. */
static uint64_t shared_block(void)
{
	return shared_optin() < 48 << 10 ? shared_optin() : 48 << 10;
}

enum { PCI_BUS = 33 }; /* the number of its attribute */

/* The devices are on a bus of their own each. */
static int bus_of(int device)
{
	return device + 1;
}

/* Properties that are no text: where they stand in cudaDeviceProp, and where they stood before CUDA 13 (0: nowhere), the number
 * of the attribute that asks for the same, and their value, from a function if there is one. */
static const struct property {
	unsigned offset, older, bytes, attribute;
	uint64_t value;
	uint64_t (*computed)(void);
} properties[] = {
	{288, 288, 8, 0, 0, memory_bytes},
	{296, 296, 8, 8, 0, shared_block},
	{304, 304, 4, 12, 0, registers},
	{308, 308, 4, 10, WARP, NULL},
	{312, 312, 8, 11, 2147483647, NULL}, /* pitch */
	{320, 320, 4, 1, GT_BLOCK_THREADS_MAX, NULL},
	{324, 324, 4, 2, BLOCK_XY_MAX, NULL},
	{328, 328, 4, 3, BLOCK_XY_MAX, NULL},
	{332, 332, 4, 4, BLOCK_Z_MAX, NULL},
	{336, 336, 4, 5, GRID_X_MAX, NULL},
	{340, 340, 4, 6, GRID_YZ_MAX, NULL},
	{344, 344, 4, 7, GRID_YZ_MAX, NULL},
	{352, 352, 8, 9, 65536, NULL}, /* constant memory */
	{360, 360, 4, 75, 0, major},
	{364, 364, 4, 76, 0, minor},
	{368, 368, 8, 14, 512, NULL}, /* alignment of textures */
	{376, 376, 8, 51, 32, NULL},	 /* and of their rows */
	{384, 388, 4, 16, 0, sms},
	{392, 400, 4, 19, 1, NULL},	 /* can map host memory */
	/* The largest textures and surfaces (CUDA Programming Guide, "Technical Specifications", and an H100): rows, rectangles, cubes. */
	{396, 408, 4, 21, 131072, NULL}, {400, 412, 4, 77, 32768, NULL},
	{0, 416, 4, 69, 1 << 28, NULL}, {404, 420, 4, 22, 131072, NULL},
	{408, 424, 4, 23, 65536, NULL}, {412, 428, 4, 73, 32768, NULL},
	{416, 432, 4, 74, 32768, NULL}, {420, 436, 4, 70, 131072, NULL},
	{424, 440, 4, 71, 65000, NULL}, {428, 444, 4, 72, 2097120, NULL},
	{432, 448, 4, 45, 32768, NULL}, {436, 452, 4, 46, 32768, NULL},
	{440, 456, 4, 24, 16384, NULL}, {444, 460, 4, 25, 16384, NULL},
	{448, 464, 4, 26, 16384, NULL}, {452, 468, 4, 47, 8192, NULL},
	{456, 472, 4, 48, 8192, NULL}, {460, 476, 4, 49, 32768, NULL},
	{464, 480, 4, 52, 32768, NULL}, {468, 484, 4, 42, 32768, NULL},
	{472, 488, 4, 43, 2048, NULL}, {476, 492, 4, 27, 32768, NULL},
	{480, 496, 4, 28, 32768, NULL}, {484, 500, 4, 29, 2048, NULL},
	{488, 504, 4, 53, 32768, NULL}, {492, 508, 4, 54, 2046, NULL},
	{496, 512, 4, 55, 32768, NULL}, {500, 516, 4, 56, 131072, NULL},
	{504, 520, 4, 57, 65536, NULL}, {508, 524, 4, 58, 16384, NULL},
	{512, 528, 4, 59, 16384, NULL}, {516, 532, 4, 60, 16384, NULL},
	{520, 536, 4, 61, 32768, NULL}, {524, 540, 4, 62, 2048, NULL},
	{528, 544, 4, 63, 32768, NULL}, {532, 548, 4, 64, 32768, NULL},
	{536, 552, 4, 65, 2048, NULL}, {540, 556, 4, 66, 32768, NULL},
	{544, 560, 4, 67, 32768, NULL}, {548, 564, 4, 68, 2046, NULL},
	{0, 0, 4, 44, 1, NULL}, /* tld4 */
	{552, 568, 8, 30, 512, NULL}, /* alignment of surfaces */
	{560, 576, 4, 31, 1, NULL},	 /* concurrent kernels */
	{568, 584, 4, PCI_BUS, 0, NULL}, /* of the device: bus_of */
	{584, 600, 4, 40, 2, NULL},	 /* copy engines */
	{588, 604, 4, 41, 1, NULL},	 /* unified addressing */
	{592, 612, 4, 37, 0, bus_bits},
	{596, 616, 4, 38, 0, l2_bytes},
	{600, 620, 4, 108, 0, persisting_max},
	{604, 624, 4, 39, 0, threads_sm},
	{608, 628, 4, 78, 1, NULL}, /* priorities of streams */
	{612, 632, 4, 79, 1, NULL}, /* global memory is cached in L1 */
	{616, 636, 4, 80, 1, NULL}, /* local memory too */
	{624, 640, 8, 81, 0, shared},
	{632, 648, 4, 82, 0, registers},
	{636, 652, 4, 83, 1, NULL}, /* managed memory */
	{656, 676, 4, 89, 1, NULL}, /* which host and device may use at a time */
	{672, 696, 8, 97, 0, shared_optin},
	{688, 712, 4, 106, 0, blocks_sm},
	{692, 716, 4, 109, 0, window_max},
	{696, 720, 8, 111, 0, shared_reserved},
	{668, 688, 4, 95, 1, NULL}, /* cooperative launches */
	{704, 728, 4, 99, 1, NULL}, /* can register host memory */
	{720, 744, 4, 115, 1, NULL}, /* memory pools */
	{748, 772, 4, 120, 0, has_clusters},
	/* Places of before CUDA 13 alone. */
	{0, 348, 4, 13, 1000000, NULL}, /* kHz: the clock of events */
	{0, 0, 4, 102, 1, NULL},	   /* virtual memory management */
	{0, 0, 4, 122, 1, NULL},	   /* values of 64 bits that streams write and wait for */
	{0, 0, 4, 123, 1, NULL},	   /* and the comparison NOR */
	{0, 384, 4, 15, 1, NULL},	   /* copies beside kernels */
	{0, 608, 4, 36, 1000000, NULL}, /* kHz of the memory */
};

static uint64_t value_of(const struct property *property)
{
	return property->computed ? property->computed() : property->value;
}

void gt_cudart_uuid(unsigned char uuid[GT_UUID_BYTES], int device)
{
	memset(uuid, 0, GT_UUID_BYTES);
	memcpy(uuid, "gtrace", sizeof "gtrace");
	uuid[GT_UUID_BYTES - 1] = (unsigned char)(device + 1);
}

/* Fills in a cudaDeviceProp of so many bytes. Returns a code. */
static int tell(unsigned char *to, int device, unsigned bytes, bool older)
{
	const char *name = gt_gpu_get(gt_cudart.gpu, "name");

	if (!to || !gt_cudart_is_device(device))
		return to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
	memset(to, 0, bytes);
	snprintf((char *)to, NAME_BYTES, "%s", name ? name : "gtrace");
	gt_cudart_uuid(to + UUID_AT, device);
	for (size_t i = 0; i < LENGTH(properties); i++) {
		unsigned offset = older ? properties[i].older : properties[i].offset;
		uint64_t value = properties[i].attribute == PCI_BUS ? (uint64_t)bus_of(device) : value_of(&properties[i]);
		for (unsigned byte = 0; offset > 0 && offset < bytes && byte < properties[i].bytes; byte++)
			to[offset + byte] = (unsigned char)(value >> 8 * byte);
	}
	return CUDA_SUCCESS;
}

API int cudaGetDeviceProperties(unsigned char *to, int device)
{
	gt_cudart_enter();
	return gt_cudart_leave(tell(to, device, PROPERTIES_BYTES, false));
}
SINCE_13(cudaGetDeviceProperties);

/* What programs of CUDA 12 call. */
API int cudaGetDeviceProperties_v2(unsigned char *to, int device)
{
	gt_cudart_enter();
	return gt_cudart_leave(tell(to, device, PROPERTIES_12_BYTES, true));
}

int gt_cudart_older_properties(unsigned char *to, int device, unsigned bytes)
{
	gt_cudart_enter();
	return gt_cudart_leave(tell(to, device, bytes, true));
}

#define ATTRIBUTES 148 /* numbers of attributes are below this */

int gt_cudart_attribute(unsigned number, uint64_t *value)
{
	if (number == 0 || number >= ATTRIBUTES)
		return CUDA_INVALID_VALUE;
	*value = 0;
	for (size_t i = 0; i < LENGTH(properties); i++)
		if (properties[i].attribute == number)
			*value = value_of(&properties[i]);
	return CUDA_SUCCESS;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	gt_cudart_enter();
	uint64_t answer = 0;
	if (!gt_cudart_is_device(device))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	int code = value ? gt_cudart_attribute((unsigned)attribute, &answer) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		*value = attribute == PCI_BUS ? bus_of(device) : (int)answer;
	return gt_cudart_leave(code);
}

/* ---- limits ---- */

enum { HEAP = 2, PENDING = 4, L2_FETCH = 5, L2_PERSISTING = 6 }; /* numbers of limits */
#define L2_FETCH_MAX 128

/* What the program may set, by number. Less than the least sets the least, which is an H100's. */
static struct {
	const char *name;
	size_t value, least;
	bool said;
} limits[] = {
	{"cudaLimitStackSize", 1 << 10, 0, false},
	{"cudaLimitPrintfFifoSize", 1 << 20, 1 << 19, false},
	[HEAP] = {"cudaLimitMallocHeapSize", GT_PTX_HEAP_BYTES, 4 << 20, false},
	{"cudaLimitDevRuntimeSyncDepth", 2, 0, false},
	[PENDING] = {"cudaLimitDevRuntimePendingLaunchCount", GT_PTX_PENDING, 0, false},
	[L2_FETCH] = {"cudaLimitMaxL2FetchGranularity", 64, 0, false},
	[L2_PERSISTING] = {"cudaLimitPersistingL2CacheSize", 0, 0, false},
};

API int cudaDeviceSetLimit(unsigned limit, size_t value)
{
	gt_cudart_enter();
	if (limit >= LENGTH(limits))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (value < limits[limit].least)
		value = limits[limit].least;
	if ((limit == L2_FETCH && value > L2_FETCH_MAX) || (limit == L2_PERSISTING && value > persisting_max()))
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
