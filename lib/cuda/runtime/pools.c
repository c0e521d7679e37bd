/* SPDX-License-Identifier: MIT */
/* Memory pools. Freed memory is released at once, so the release threshold is only stored. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* cudaMemPoolAttr; the first three are ints, the others 64-bit integers. */
enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH, ATTRIBUTES };

enum { LOCATION_DEVICE = 1, PINNED = 1, READ_WRITE = 3 }; /* cudaMemLocationType, cudaMemAllocationType, cudaMemAccessFlags */

/* The number of its call tells a freed allocation from its successor at the same address. */
struct taken {
	uint64_t address, bytes, call;
};

struct pool {
	int device;
	int reuse[REUSE_LAST];
	uint64_t threshold, high, reserved_high, max_bytes; /* max_bytes 0: none */
	struct taken *taken;
	size_t n;
};

struct location {
	int type, id;
};

struct access {
	struct location location;
	int flags;
};

static struct pool defaults[GT_TRACING_DEVICES]; /* of each device */
static struct pool *chosen[GT_TRACING_DEVICES];	 /* NULL: the default */

static bool is_pool(const struct pool *pool)
{
	for (int device = 0; device < GT_TRACING_DEVICES; device++)
		if (pool == &defaults[device])
			return true;
	return gt_is(GT_POOL, pool);
}

static struct pool *default_of(int device)
{
	if (!gt_cudart_is_device(device))
		return NULL;
	if (defaults[device].reuse[0] == 0)
		defaults[device] = (struct pool){.reuse = {1, 1, 1}, .device = device};
	return &defaults[device];
}

static struct pool *chosen_of(int device)
{
	return gt_cudart_is_device(device) && chosen[device] ? chosen[device] : default_of(device);
}

/* Removes freed allocations, and adds up the others. */
static uint64_t used(struct pool *pool)
{
	uint64_t bytes = 0;
	size_t left = 0;

	for (size_t i = 0; i < pool->n; i++) {
		const struct gt_ptx_allocation *live =
			gt_ptx_containing(&gt_cudart.memory, pool->taken[i].address, pool->taken[i].bytes);
		if (!live || live->call != pool->taken[i].call)
			continue;
		bytes += pool->taken[i].bytes;
		pool->taken[left++] = pool->taken[i];
	}
	pool->n = left;
	return bytes;
}

static int take(struct pool *pool, void **pointer, size_t bytes)
{
	uint64_t before = used(pool);
	struct taken *grown = gt_resized(pool->taken, pool->n + 1, sizeof *grown);

	if (!grown)
		return CUDA_MEMORY_ALLOCATION;
	pool->taken = grown;
	if (pool->max_bytes > 0 && bytes > gt_pool_reserved(pool->max_bytes) - before)
		return CUDA_MEMORY_ALLOCATION;
	int code = gt_cudart_allocate_on(pool->device, pointer, bytes, "cudaMallocAsync");
	if (code != CUDA_SUCCESS || bytes == 0)
		return code;
	struct taken *made = &pool->taken[pool->n++];
	*made = (struct taken){.address = (uint64_t)(uintptr_t)*pointer, .bytes = bytes};
	made->call = gt_ptx_containing(&gt_cudart.memory, made->address, bytes)->call;
	if (before + bytes > pool->high)
		pool->high = before + bytes;
	if (gt_pool_reserved(before + bytes) > pool->reserved_high)
		pool->reserved_high = gt_pool_reserved(before + bytes);
	return code;
}

API int cudaMallocFromPoolAsync(void **pointer, size_t bytes, struct pool *pool, void *stream)
{
	struct gt_work work;

	gt_cudart_enter();
	if (!is_pool(pool) || !pointer)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (gt_stream_check(stream) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (!gt_stream_captured(stream))
		return gt_cudart_leave(take(pool, pointer, bytes));
	int code = gt_graph_allocate(&work, pool->device, pointer, bytes, "cudaMallocAsync");
	if (code != CUDA_SUCCESS)
		return gt_cudart_leave(code);
	code = gt_stream_ask(stream, &work);
	gt_work_free(&work);
	return gt_cudart_leave(code);
}

/* From the pool of the stream's device. */
API int cudaMallocAsync(void **pointer, size_t bytes, void *stream)
{
	int device = 0;
	const int code = cudaStreamGetDevice(stream, &device);

	if (code != CUDA_SUCCESS)
		return code;
	gt_cudart_enter();
	struct pool *pool = chosen_of(device);
	gt_cudart_leave(CUDA_SUCCESS);
	return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}

API int cudaFreeAsync(void *pointer, void *stream)
{
	struct gt_work work;

	gt_cudart_enter();
	if (gt_stream_check(stream) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (!gt_stream_captured(stream))
		return gt_cudart_leave(gt_cudart_release(pointer));
	int code = gt_graph_free_work(&work, pointer);
	return gt_cudart_leave(code == CUDA_SUCCESS ? gt_stream_ask(stream, &work) : code);
}

/* ---- pools ---- */

static int tell(struct pool **to, struct pool *(*of)(int), int device)
{
	gt_cudart_enter();
	struct pool *pool = of(device);
	if (!to || !pool)
		return gt_cudart_leave(to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*to = pool;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGetDefaultMemPool(struct pool **pool, int device)
{
	return tell(pool, default_of, device);
}

API int cudaDeviceGetMemPool(struct pool **pool, int device)
{
	return tell(pool, chosen_of, device);
}

API int cudaDeviceSetMemPool(int device, struct pool *pool)
{
	gt_cudart_enter();
	if (!is_pool(pool) || !gt_cudart_is_device(device))
		return gt_cudart_leave(is_pool(pool) ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	chosen[device] = pool;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The pools of a place are those of a device, for memory that stays there. */
static int device_of(const struct location *location, int type)
{
	return location && location->type == LOCATION_DEVICE && type == PINNED ? location->id : -1;
}

API int cudaMemGetDefaultMemPool(struct pool **pool, const struct location *location, int type)
{
	return tell(pool, default_of, device_of(location, type));
}

API int cudaMemGetMemPool(struct pool **pool, const struct location *location, int type)
{
	return tell(pool, chosen_of, device_of(location, type));
}

API int cudaMemSetMemPool(const struct location *location, int type, struct pool *pool)
{
	return cudaDeviceSetMemPool(device_of(location, type), pool);
}

API int cudaMemPoolCreate(struct pool **pool, const struct gt_pool_properties *properties)
{
	gt_cudart_enter();
	if (!pool || !properties || properties->allocation_type != PINNED || properties->location.type != LOCATION_DEVICE ||
	    !gt_cudart_is_device(properties->location.id))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (properties->handle_types != 0)
		return gt_cudart_leave(gt_cudart_refuse("a memory pool shared with other processes"));
	*pool = gt_handle_made(GT_POOL, malloc(sizeof **pool));
	if (!*pool)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	**pool = (struct pool){.reuse = {1, 1, 1}, .device = properties->location.id, .max_bytes = properties->max_bytes};
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* Its allocations stay valid. */
API int cudaMemPoolDestroy(struct pool *pool)
{
	gt_cudart_enter();
	if (!gt_is(GT_POOL, pool))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (int device = 0; device < gt_cudart_devices(); device++)
		if (chosen[device] == pool)
			chosen[device] = NULL;
	free(pool->taken);
	gt_handle_free(pool);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaMemPoolTrimTo(struct pool *pool, size_t bytes)
{
	(void)bytes;
	gt_cudart_enter();
	return gt_cudart_leave(is_pool(pool) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API int cudaMemPoolGetAttribute(struct pool *pool, int attribute, void *value)
{
	uint64_t is;

	gt_cudart_enter();
	if (!is_pool(pool) || !value || attribute < REUSE_FIRST || attribute >= ATTRIBUTES)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (attribute <= REUSE_LAST) {
		memcpy(value, &pool->reuse[attribute - REUSE_FIRST], sizeof(int));
		return gt_cudart_leave(CUDA_SUCCESS);
	}
	if (attribute == RELEASE_THRESHOLD)
		is = pool->threshold;
	else
		is = attribute == RESERVED	  ? gt_pool_reserved(used(pool))
		     : attribute == RESERVED_HIGH ? pool->reserved_high
		     : attribute == USED	  ? used(pool)
						  : pool->high;
	memcpy(value, &is, sizeof is);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The high-water marks can only be set to 0, and then restart from the present use. */
API int cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value)
{
	uint64_t wanted;

	gt_cudart_enter();
	if (!is_pool(pool) || !value || attribute < REUSE_FIRST || attribute >= ATTRIBUTES || attribute == RESERVED ||
	    attribute == USED)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (attribute <= REUSE_LAST) {
		memcpy(&pool->reuse[attribute - REUSE_FIRST], value, sizeof(int));
		return gt_cudart_leave(CUDA_SUCCESS);
	}
	memcpy(&wanted, value, sizeof wanted);
	if (attribute == RELEASE_THRESHOLD)
		pool->threshold = wanted;
	else if (wanted != 0)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	else if (attribute == RESERVED_HIGH)
		pool->reserved_high = gt_pool_reserved(used(pool));
	else
		pool->high = used(pool);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* A device that is given access to a pool has it to all memory of the pool's device. */
API int cudaMemPoolSetAccess(const struct pool *pool, const struct access *access, size_t n)
{
	gt_cudart_enter();
	if (!is_pool(pool) || (!access && n > 0))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (access[i].location.type != LOCATION_DEVICE || !gt_cudart_is_device(access[i].location.id))
			return gt_cudart_leave(CUDA_INVALID_DEVICE);
	for (size_t i = 0; i < n; i++) {
		uint32_t *peers = &gt_cudart.peers[access[i].location.id], bit = UINT32_C(1) << pool->device;
		*peers = access[i].flags == READ_WRITE ? *peers | bit : *peers & ~bit;
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaMemPoolGetAccess(int *flags, const struct pool *pool, const struct location *location)
{
	gt_cudart_enter();
	if (!flags || !is_pool(pool) || !location || location->type != LOCATION_DEVICE || !gt_cudart_is_device(location->id))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	bool has = location->id == pool->device || gt_cudart.peers[location->id] >> pool->device & 1;
	*flags = has ? READ_WRITE : 0;
	return gt_cudart_leave(CUDA_SUCCESS);
}

ALSO(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);
ALSO(cudaMallocAsync, cudaMallocAsync_ptsz);
ALSO(cudaFreeAsync, cudaFreeAsync_ptsz);
