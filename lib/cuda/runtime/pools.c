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

/* cudaMemLocationType, cudaMemAllocationType, cudaMemAccessFlags */
enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_NUMA, LOCATION_NUMA_CURRENT, LOCATIONS };
enum { PINNED = 1, MANAGED };
enum { READ_WRITE = 3 };

/* Where the memory of a pool lies: on a device, by its number; in the host; or managed. */
enum { IN_HOST = GT_TRACING_DEVICES, IS_MANAGED, PLACES };

/* The number of its call tells a freed allocation from its successor at the same address. */
struct taken {
	uint64_t address, bytes, call;
};

struct pool {
	int place;
	uint32_t access; /* bit d: device d was given it; of pools that are no device's */
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

static struct pool defaults[PLACES];
static struct pool *chosen[PLACES]; /* NULL: the default */

static bool is_pool(const struct pool *pool)
{
	for (int place = 0; place < PLACES; place++)
		if (pool == &defaults[place])
			return true;
	return gt_is(GT_POOL, pool);
}

static bool is_place(int place)
{
	return gt_cudart_is_device(place) || place == IN_HOST || place == IS_MANAGED;
}

static struct pool *default_of(int place)
{
	if (!is_place(place))
		return NULL;
	if (defaults[place].reuse[0] == 0)
		defaults[place] = (struct pool){.reuse = {1, 1, 1}, .place = place};
	return &defaults[place];
}

static struct pool *chosen_of(int place)
{
	return is_place(place) && chosen[place] ? chosen[place] : default_of(place);
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
	int code = gt_cudart_is_device(pool->place)
			   ? gt_cudart_allocate_on(pool->place, pointer, bytes, "cudaMallocAsync")
			   : gt_cudart_allocate_shared(pointer, bytes, pool->place == IN_HOST ? GT_PTX_OF_HOST : GT_PTX_MANAGED, "cudaMallocAsync");
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
	int code = gt_cudart_is_device(pool->place) ? gt_graph_allocate(&work, pool->place, pointer, bytes, "cudaMallocAsync")
						    : gt_cudart_refuse("a node of a graph that allocates from a memory pool of the host, or a managed one");
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

static int tell(struct pool **to, struct pool *(*of)(int), int place)
{
	gt_cudart_enter();
	struct pool *pool = of(place);
	if (!to || !pool)
		return gt_cudart_leave(to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*to = pool;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGetDefaultMemPool(struct pool **pool, int device)
{
	return tell(pool, default_of, gt_cudart_is_device(device) ? device : -1);
}

API int cudaDeviceGetMemPool(struct pool **pool, int device)
{
	return tell(pool, chosen_of, gt_cudart_is_device(device) ? device : -1);
}

static int choose(int place, struct pool *pool)
{
	gt_cudart_enter();
	if (!is_pool(pool) || !is_place(place))
		return gt_cudart_leave(is_pool(pool) ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	chosen[place] = pool;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceSetMemPool(int device, struct pool *pool)
{
	return choose(gt_cudart_is_device(device) ? device : -1, pool);
}

/* -1: there is none. Managed memory may prefer any place, and lies in one. */
static int place_of(const struct location *location, int type)
{
	if (!location || location->type < LOCATION_NONE || location->type >= LOCATIONS)
		return -1;
	if (type == MANAGED)
		return IS_MANAGED;
	if (type != PINNED || location->type == LOCATION_NONE)
		return -1;
	if (location->type == LOCATION_DEVICE)
		return gt_cudart_is_device(location->id) ? location->id : -1;
	return location->type == LOCATION_NUMA && location->id < 0 ? -1 : IN_HOST;
}

API int cudaMemGetDefaultMemPool(struct pool **pool, const struct location *location, int type)
{
	return tell(pool, default_of, place_of(location, type));
}

API int cudaMemGetMemPool(struct pool **pool, const struct location *location, int type)
{
	return tell(pool, chosen_of, place_of(location, type));
}

API int cudaMemSetMemPool(const struct location *location, int type, struct pool *pool)
{
	return choose(place_of(location, type), pool);
}

API int cudaMemPoolCreate(struct pool **pool, const struct gt_pool_properties *properties)
{
	gt_cudart_enter();
	if (!pool || !properties)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	const struct location at = {properties->location.type, properties->location.id};
	const int place = place_of(&at, properties->allocation_type);
	if (place < 0)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (properties->handle_types != 0)
		return gt_cudart_leave(gt_cudart_refuse("a memory pool shared with other processes"));
	*pool = gt_handle_made(GT_POOL, malloc(sizeof **pool));
	if (!*pool)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	**pool = (struct pool){.reuse = {1, 1, 1}, .place = place, .max_bytes = properties->max_bytes};
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* Its allocations stay valid. */
API int cudaMemPoolDestroy(struct pool *pool)
{
	gt_cudart_enter();
	if (!gt_is(GT_POOL, pool))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (int place = 0; place < PLACES; place++)
		if (chosen[place] == pool)
			chosen[place] = NULL;
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

/* A device that is given access to a pool has it to all memory of the pool's device; all have it to memory of the host. */
API int cudaMemPoolSetAccess(struct pool *pool, const struct access *access, size_t n)
{
	gt_cudart_enter();
	if (!is_pool(pool) || (!access && n > 0))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (access[i].location.type != LOCATION_DEVICE || !gt_cudart_is_device(access[i].location.id))
			return gt_cudart_leave(CUDA_INVALID_DEVICE);
	for (size_t i = 0; i < n; i++) {
		const bool of_device = gt_cudart_is_device(pool->place);
		uint32_t *has = of_device ? &gt_cudart.peers[access[i].location.id] : &pool->access;
		const uint32_t bit = UINT32_C(1) << (of_device ? pool->place : access[i].location.id);
		*has = access[i].flags == READ_WRITE ? *has | bit : *has & ~bit;
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaMemPoolGetAccess(int *flags, const struct pool *pool, const struct location *location)
{
	gt_cudart_enter();
	if (!flags || !is_pool(pool) || !location || location->type != LOCATION_DEVICE || !gt_cudart_is_device(location->id))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	bool has = gt_cudart_is_device(pool->place)
			   ? location->id == pool->place || gt_cudart.peers[location->id] >> pool->place & 1
			   : pool->place == IS_MANAGED || pool->access >> location->id & 1;
	*flags = has ? READ_WRITE : 0;
	return gt_cudart_leave(CUDA_SUCCESS);
}

ALSO(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);
ALSO(cudaMallocAsync, cudaMallocAsync_ptsz);
ALSO(cudaFreeAsync, cudaFreeAsync_ptsz);
