/* SPDX-License-Identifier: MIT */
/* Allocation of device and host memory, what is known of a pointer, memory pools, and virtual memory management. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/calls.h"

enum { LOCATION_DEVICE = 1, READ_WRITE = 3 }; /* CUmemLocationType, CUmemAccess_flags */

/* CUmemLocation */
struct location {
	int type, id;
};

/* ---- allocation ---- */

/* The address that a call of the runtime has found. */
static int address_of(uint64_t *to, int code, void *const *pointer)
{
	if (code == CUDA_SUCCESS)
		*to = gt_cudart_address(*pointer);
	return code;
}

static int allocate(uint64_t *to, size_t bytes)
{
	void *pointer = NULL;

	if (!to || bytes == 0)
		return CUDA_INVALID_VALUE;
	const int forbidden = gt_stream_outside_captures();
	return forbidden ? forbidden : address_of(to, gt_cudart_allocate(&pointer, bytes, "cuMemAlloc"), &pointer);
}

static int allocate_pitch(uint64_t *to, size_t *pitch, size_t width, size_t rows, unsigned element)
{
	void *pointer = NULL;

	if (!to || !pitch || width == 0 || rows == 0 || (element != 4 && element != 8 && element != 16))
		return CUDA_INVALID_VALUE;
	const int forbidden = gt_stream_outside_captures();
	return forbidden ? forbidden : address_of(to, gt_cudart_allocate_rows(&pointer, pitch, width, rows, "cuMemAllocPitch"), &pointer);
}

static int allocate_managed(uint64_t *to, size_t bytes)
{
	void *pointer = NULL;

	if (!to || bytes == 0)
		return CUDA_INVALID_VALUE;
	return address_of(to, gt_cudart_allocate_shared(&pointer, bytes, GT_PTX_MANAGED, "cuMemAllocManaged"), &pointer);
}

static int allocate_host(void **to, size_t bytes, unsigned flags)
{
	if (!to || bytes == 0 || flags > 7) /* all of CU_MEMHOSTALLOC_... */
		return CUDA_INVALID_VALUE;
	gt_cudart.memory.flags = flags;
	int code = gt_cudart_allocate_shared(to, bytes, GT_PTX_OF_HOST, "cuMemHostAlloc");
	gt_cudart.memory.flags = 0;
	return code;
}

DRIVER(cuMemAlloc_v2, (uint64_t *to, size_t bytes), allocate(to, bytes))
DRIVER(cuMemAllocPitch_v2, (uint64_t *to, size_t *pitch, size_t width, size_t rows, unsigned element),
       allocate_pitch(to, pitch, width, rows, element))
DRIVER(cuMemAllocManaged, (uint64_t *to, size_t bytes, unsigned flags), ((void)flags, allocate_managed(to, bytes)))
DRIVER(cuMemAllocHost_v2, (void **to, size_t bytes), allocate_host(to, bytes, 0))
DRIVER(cuMemHostAlloc, (void **to, size_t bytes, unsigned flags), allocate_host(to, bytes, flags))
DRIVER(cuMemFree_v2, (uint64_t address), gt_cudart_release(gt_driver_pointer(address)))
DRIVER(cuMemFreeHost, (void *pointer), gt_cudart_release(pointer))
DRIVER(cuMemGetInfo_v2, (size_t *left, size_t *total), cudaMemGetInfo(left, total))
DRIVER(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags), cudaHostRegister(pointer, bytes, flags))
DRIVER(cuMemHostUnregister, (void *pointer), cudaHostUnregister(pointer))
DRIVER(cuMemHostGetFlags, (unsigned *flags, void *pointer), cudaHostGetFlags(flags, pointer))

static int device_address(uint64_t *to, void *host)
{
	void *pointer = NULL;

	return to ? address_of(to, cudaHostGetDevicePointer(&pointer, host, 0), &pointer) : CUDA_INVALID_VALUE;
}

DRIVER(cuMemHostGetDevicePointer_v2, (uint64_t *to, void *host, unsigned flags), ((void)flags, device_address(to, host)))

static int range_of(uint64_t *begin, size_t *bytes, uint64_t address)
{
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, address, 1);

	if (!one)
		return CU_NOT_FOUND;
	if (begin)
		*begin = one->address;
	if (bytes)
		*bytes = one->bytes;
	return CUDA_SUCCESS;
}

DRIVER(cuMemGetAddressRange_v2, (uint64_t *begin, size_t *bytes, uint64_t address), range_of(begin, bytes, address))

/* Hints, which change nothing here. */
DRIVER(cuMemAdvise, (uint64_t address, size_t bytes, int advice, int device),
       ((void)address, (void)bytes, (void)advice, (void)device, CUDA_SUCCESS))
DRIVER(cuMemAdvise_v2, (uint64_t address, size_t bytes, int advice, struct location at),
       ((void)address, (void)bytes, (void)advice, (void)at, CUDA_SUCCESS))
DRIVER_OF(stream, cuMemPrefetchAsync, (uint64_t address, size_t bytes, int device, void *stream),
	  ((void)address, (void)bytes, (void)device, (void)stream, CUDA_SUCCESS))
DRIVER_OF(stream, cuMemPrefetchAsync_v2, (uint64_t address, size_t bytes, struct location at, unsigned flags, void *stream),
	  ((void)address, (void)bytes, (void)at, (void)flags, (void)stream, CUDA_SUCCESS))

extern int cudaMemPrefetchBatchAsync(void *const *pointers, const size_t *bytes, size_t n, const void *places, const size_t *first,
				     size_t n_places, unsigned long long flags, const void *stream);
extern int cudaMemDiscardBatchAsync(void *const *pointers, const size_t *bytes, size_t n, unsigned long long flags, const void *stream);

#define HINTS void *const *pointers, const size_t *bytes, size_t n
#define PLACES const void *places, const size_t *first, size_t n_places, unsigned long long flags, const void *stream
DRIVER(cuMemPrefetchBatchAsync, (HINTS, PLACES), cudaMemPrefetchBatchAsync(pointers, bytes, n, places, first, n_places, flags, stream))
DRIVER_OF(stream, cuMemDiscardBatchAsync, (HINTS, unsigned long long flags, const void *stream),
	  cudaMemDiscardBatchAsync(pointers, bytes, n, flags, stream))
DRIVER(cuMemDiscardAndPrefetchBatchAsync, (HINTS, PLACES),
       cudaMemPrefetchBatchAsync(pointers, bytes, n, places, first, n_places, flags, stream))

/* ---- pointers ---- */

/* CUpointer_attribute */
enum { CONTEXT = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, SYNC_MEMOPS = 6, BUFFER_ID, IS_MANAGED, DEVICE_ORDINAL,
       IPC_CAPABLE, RANGE_START, RANGE_SIZE, MAPPED, HANDLE_TYPES, DIRECT_CAPABLE, ACCESS_FLAGS, POOL };
enum { TYPE_HOST = 1, TYPE_DEVICE };

/* The value of an attribute and its size. Returns a code. */
static int attribute_of(int attribute, uint64_t address, uint64_t *value, size_t *bytes)
{
	struct gt_pointer about = gt_cudart_pointer(gt_driver_pointer(address));
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(about.device_pointer), 1);

	if (about.type == GT_POINTER_UNREGISTERED)
		return CUDA_INVALID_VALUE;
	*bytes = sizeof(uint64_t);
	switch (attribute) {
	case CONTEXT:
		*value = gt_cudart_address(gt_context_primary(about.device));
		return CUDA_SUCCESS;
	case DEVICE_POINTER:
		*value = gt_cudart_address(about.device_pointer);
		return CUDA_SUCCESS;
	case HOST_POINTER:
		*value = gt_cudart_address(about.host_pointer);
		return about.host_pointer ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	case BUFFER_ID:
	case RANGE_START:
		*value = one->address;
		return CUDA_SUCCESS;
	case RANGE_SIZE:
		*value = one->bytes;
		return CUDA_SUCCESS;
	case HANDLE_TYPES:
	case POOL:
		*value = 0;
		return CUDA_SUCCESS;
	default:
		break;
	}
	*bytes = sizeof(uint32_t);
	switch (attribute) {
	case MEMORY_TYPE:
		*value = about.type == GT_POINTER_HOST ? TYPE_HOST : TYPE_DEVICE;
		return CUDA_SUCCESS;
	case DEVICE_ORDINAL:
		*value = (uint64_t)about.device;
		return CUDA_SUCCESS;
	case ACCESS_FLAGS:
		*value = READ_WRITE;
		return CUDA_SUCCESS;
	case IS_MANAGED:
		*value = about.type == GT_POINTER_MANAGED;
		return CUDA_SUCCESS;
	case SYNC_MEMOPS:
		*value = 1;
		return CUDA_SUCCESS;
	case MAPPED:
	case IPC_CAPABLE:
	case DIRECT_CAPABLE:
		*bytes = 1; /* a bool */
		*value = attribute == MAPPED;
		return CUDA_SUCCESS;
	default:
		return CUDA_INVALID_VALUE;
	}
}

static int tell(void *to, int attribute, uint64_t address)
{
	uint64_t value = 0;
	size_t bytes = 0;
	int code = to ? attribute_of(attribute, address, &value, &bytes) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, &value, bytes);
	return code;
}

DRIVER(cuPointerGetAttribute, (void *to, int attribute, uint64_t address), tell(to, attribute, address))

/* A pointer that is unknown has the value 0 for each. */
static int tell_all(unsigned n, const int *attributes, void **to, uint64_t address)
{
	uint64_t value;
	size_t bytes;

	if (!attributes || !to)
		return CUDA_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++) {
		value = 0;
		bytes = attributes[i] == MEMORY_TYPE || attributes[i] == DEVICE_ORDINAL ? sizeof(uint32_t) : sizeof value;
		if (attribute_of(attributes[i], address, &value, &bytes) != CUDA_SUCCESS)
			value = attributes[i] == DEVICE_ORDINAL ? UINT32_MAX - 1 : 0; /* CU_DEVICE_INVALID */
		memcpy(to[i], &value, bytes);
	}
	return CUDA_SUCCESS;
}

DRIVER(cuPointerGetAttributes, (unsigned n, const int *attributes, void **to, uint64_t address),
       tell_all(n, attributes, to, address))

/* Copies are done when they are asked for, whatever the program wishes. */
DRIVER(cuPointerSetAttribute, (const void *value, int attribute, uint64_t address),
       ((void)address, value && attribute == SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_INVALID_VALUE))

ALSO(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz);
ALSO(cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz);
ALSO(cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync_ptsz);
ALSO(cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz);
ALSO(cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz);

/* ---- memory pools, and allocation in the order of a stream; the structures are the runtime's ---- */

struct pool;
extern int cudaMallocFromPoolAsync(void **pointer, size_t bytes, struct pool *pool, void *stream);
extern int cudaMallocAsync(void **pointer, size_t bytes, void *stream);
extern int cudaFreeAsync(void *pointer, void *stream);
extern int cudaDeviceGetDefaultMemPool(struct pool **pool, int device);
extern int cudaDeviceGetMemPool(struct pool **pool, int device);
extern int cudaDeviceSetMemPool(int device, struct pool *pool);
extern int cudaMemGetDefaultMemPool(struct pool **pool, const struct location *location, int type);
extern int cudaMemGetMemPool(struct pool **pool, const struct location *location, int type);
extern int cudaMemSetMemPool(const struct location *location, int type, struct pool *pool);
extern int cudaMemPoolCreate(struct pool **pool, const void *properties);
extern int cudaMemPoolDestroy(struct pool *pool);
extern int cudaMemPoolTrimTo(struct pool *pool, size_t bytes);
extern int cudaMemPoolGetAttribute(struct pool *pool, int attribute, void *value);
extern int cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value);
extern int cudaMemPoolSetAccess(struct pool *pool, const void *access, size_t n);
extern int cudaMemPoolGetAccess(int *flags, const struct pool *pool, const void *location);

DRIVER_OF(stream, cuMemAllocAsync, (uint64_t *to, size_t bytes, void *stream),
	  to && bytes > 0 ? cudaMallocAsync((void **)to, bytes, stream) : CUDA_INVALID_VALUE)
DRIVER_OF(stream, cuMemAllocFromPoolAsync, (uint64_t *to, size_t bytes, struct pool *pool, void *stream),
	  to && bytes > 0 ? cudaMallocFromPoolAsync((void **)to, bytes, pool, stream) : CUDA_INVALID_VALUE)
DRIVER_OF(stream, cuMemFreeAsync, (uint64_t address, void *stream), cudaFreeAsync(gt_driver_pointer(address), stream))
DRIVER_ANYWHERE(cuDeviceGetDefaultMemPool, (struct pool **pool, int device), cudaDeviceGetDefaultMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceGetMemPool, (struct pool **pool, int device), cudaDeviceGetMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceSetMemPool, (int device, struct pool *pool), cudaDeviceSetMemPool(device, pool))
DRIVER_ANYWHERE(cuMemGetDefaultMemPool, (struct pool **pool, const struct location *location, int type),
		cudaMemGetDefaultMemPool(pool, location, type))
DRIVER_ANYWHERE(cuMemGetMemPool, (struct pool **pool, const struct location *location, int type),
		cudaMemGetMemPool(pool, location, type))
DRIVER_ANYWHERE(cuMemSetMemPool, (const struct location *location, int type, struct pool *pool),
		cudaMemSetMemPool(location, type, pool))
DRIVER_ANYWHERE(cuMemPoolCreate, (struct pool **pool, const void *properties), cudaMemPoolCreate(pool, properties))
DRIVER_ANYWHERE(cuMemPoolDestroy, (struct pool *pool), cudaMemPoolDestroy(pool))
DRIVER_ANYWHERE(cuMemPoolTrimTo, (struct pool *pool, size_t bytes), cudaMemPoolTrimTo(pool, bytes))
DRIVER_ANYWHERE(cuMemPoolGetAttribute, (struct pool *pool, int attribute, void *value),
		cudaMemPoolGetAttribute(pool, attribute, value))
DRIVER_ANYWHERE(cuMemPoolSetAttribute, (struct pool *pool, int attribute, const void *value),
		cudaMemPoolSetAttribute(pool, attribute, value))
DRIVER_ANYWHERE(cuMemPoolSetAccess, (struct pool *pool, const void *access, size_t n),
		cudaMemPoolSetAccess(pool, access, n))
DRIVER_ANYWHERE(cuMemPoolGetAccess, (int *flags, const struct pool *pool, const void *location),
		cudaMemPoolGetAccess(flags, pool, location))

ALSO(cuMemAllocAsync, cuMemAllocAsync_ptsz);
ALSO(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz);
ALSO(cuMemFreeAsync, cuMemFreeAsync_ptsz);

/* ---- virtual memory management ---- */

/* Ranges of addresses, memory without addresses, and what is mapped where. A range is one allocation
 * as soon as it is reserved, so that a kernel may access it before memory is mapped to it. Memory that is unmapped keeps what it
 * holds. */

#define GRANULARITY ((size_t)2 << 20)


/* CUmemAllocationProp */
struct properties {
	int type, handle_types;
	struct location location;
	void *security;
	unsigned char rest[8];
};

struct access {
	struct location location;
	int flags;
};

struct range {
	uint64_t at, bytes;
	struct range *next;
};

struct physical {
	struct properties properties;
	size_t bytes;
	uint64_t at;	     /* where it is mapped; 0: nowhere */
	unsigned char *kept; /* what it holds while it is not; NULL: zeros */
	unsigned uses;	     /* handles that were not released */
	struct physical *next;
};

static struct range *ranges;
static struct physical *physicals;

static bool is_whole(size_t bytes)
{
	return bytes > 0 && bytes % GRANULARITY == 0;
}

static unsigned char *host_at(uint64_t address, size_t bytes)
{
	return gt_ptx_at(&gt_cudart.memory, address, bytes);
}

/* ---- ranges ---- */

/* Addresses take no memory of a device. */
static int reserve(uint64_t *to, size_t bytes, uint64_t wish, uint64_t flags)
{
	void *pointer = NULL;

	if (!to || !is_whole(bytes) || flags != 0)
		return CUDA_INVALID_VALUE;
	(void)wish; /* a wish only, which a device need not fulfil */
	struct range *made = calloc(1, sizeof *made);
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	gt_cudart.memory.limit += bytes;
	int code = gt_cudart_allocate_shared(&pointer, bytes, GT_PTX_OF_DEVICE, "cuMemAddressReserve");
	if (code != CUDA_SUCCESS) {
		gt_cudart.memory.limit -= bytes;
		free(made);
		return code;
	}
	*made = (struct range){gt_cudart_address(pointer), bytes, ranges};
	ranges = made;
	*to = made->at;
	return CUDA_SUCCESS;
}

static int free_range(uint64_t at, size_t bytes)
{
	struct range **place = &ranges;

	while (*place && ((*place)->at != at || (*place)->bytes != bytes))
		place = &(*place)->next;
	if (!*place)
		return CUDA_INVALID_VALUE;
	for (const struct physical *one = physicals; one; one = one->next)
		if (one->at >= at && one->at < at + bytes)
			return CUDA_INVALID_VALUE;
	struct range *gone = *place;
	*place = gone->next;
	free(gone);
	int code = gt_cudart_release(gt_driver_pointer(at));
	gt_cudart.memory.limit -= bytes;
	return code;
}

/* Its alignment is that of an allocation, or what is asked for if that is a page or less. */
DRIVER(cuMemAddressReserve, (uint64_t *to, size_t bytes, size_t alignment, uint64_t wish, unsigned long long flags),
       alignment > GT_PTX_ALIGNMENT ? gt_cudart_refuse("cuMemAddressReserve with an alignment")
				    : reserve(to, bytes, wish, flags))
DRIVER(cuMemAddressFree, (uint64_t at, size_t bytes), free_range(at, bytes))

/* ---- memory ---- */

static bool is_plain(const struct properties *properties)
{
	return properties && properties->type == 1 && properties->location.type == LOCATION_DEVICE &&
	       gt_cudart_is_device(properties->location.id);
}

static int create(struct physical **to, size_t bytes, const struct properties *properties, uint64_t flags)
{
	if (!to || !is_whole(bytes) || flags != 0 || !properties)
		return CUDA_INVALID_VALUE;
	if (!is_plain(properties))
		return gt_cudart_refuse("cuMemCreate of memory that is not a device's");
	if (bytes > gt_cudart.memory.limit - gt_cudart.memory.live_bytes)
		return gt_cudart_no_room("cuMemCreate", bytes);
	struct physical *made = calloc(1, sizeof *made);
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	*made = (struct physical){.properties = *properties, .bytes = bytes, .uses = 1, .next = physicals};
	*to = physicals = made;
	gt_cudart.memory.limit -= bytes;
	return CUDA_SUCCESS;
}

static struct physical *known(const struct physical *handle)
{
	struct physical *one = physicals;

	while (one && one != handle)
		one = one->next;
	return one;
}

/* Frees memory that has neither a handle nor an address. */
static void collect(struct physical *gone)
{
	struct physical **place = &physicals;

	if (gone->uses > 0 || gone->at)
		return;
	while (*place != gone)
		place = &(*place)->next;
	*place = gone->next;
	gt_cudart.memory.limit += gone->bytes;
	free(gone->kept);
	free(gone);
}

static int release(struct physical *handle)
{
	struct physical *one = known(handle);

	if (!one || one->uses == 0)
		return CUDA_INVALID_VALUE;
	one->uses--;
	collect(one);
	return CUDA_SUCCESS;
}

/* The memory that is mapped at an address. */
static struct physical *mapped_at(uint64_t address)
{
	struct physical *one = physicals;

	while (one && (!one->at || address < one->at || address >= one->at + one->bytes))
		one = one->next;
	return one;
}

static int retain(struct physical **to, const void *address)
{
	struct physical *one = mapped_at(gt_cudart_address(address));

	if (!to || !one)
		return CUDA_INVALID_VALUE;
	one->uses++;
	*to = one;
	return CUDA_SUCCESS;
}

static int properties_of(struct properties *to, const struct physical *handle)
{
	const struct physical *one = known(handle);

	if (!to || !one)
		return CUDA_INVALID_VALUE;
	*to = one->properties;
	return CUDA_SUCCESS;
}

DRIVER(cuMemCreate, (struct physical **to, size_t bytes, const struct properties *properties, unsigned long long flags),
       create(to, bytes, properties, flags))
DRIVER(cuMemRelease, (struct physical *handle), release(handle))
DRIVER(cuMemRetainAllocationHandle, (struct physical **to, const void *address), retain(to, address))
DRIVER(cuMemGetAllocationPropertiesFromHandle, (struct properties *to, const struct physical *handle), properties_of(to, handle))
DRIVER(cuMemGetAllocationGranularity, (size_t *bytes, const struct properties *properties, int option),
       !bytes || !is_plain(properties) ? CUDA_INVALID_VALUE : ((void)option, *bytes = GRANULARITY, CUDA_SUCCESS))

/* ---- both together ---- */

static int map(uint64_t at, size_t bytes, size_t offset, struct physical *handle, uint64_t flags)
{
	struct physical *one = known(handle);
	const struct range *range = ranges;

	while (range && (at < range->at || at - range->at >= range->bytes || bytes > range->bytes - (at - range->at)))
		range = range->next;
	if (!one || !range || flags != 0 || !is_whole(bytes) || at % GT_PTX_ALIGNMENT != 0)
		return CUDA_INVALID_VALUE;
	if (one->at || offset != 0 || bytes != one->bytes)
		return gt_cudart_refuse("cuMemMap of memory in part, or to a second address");
	for (const struct physical *other = physicals; other; other = other->next)
		if (other->at && other->at < at + bytes && at < other->at + other->bytes)
			return CUDA_INVALID_VALUE;
	unsigned char *host = host_at(at, bytes);
	gt_cudart.memory.changes++;
	if (one->kept)
		memcpy(host, one->kept, bytes);
	else
		memset(host, 0, bytes);
	free(one->kept);
	one->kept = NULL;
	one->at = at;
	return CUDA_SUCCESS;
}

/* Only memory that has a handle can be mapped again. */
static int unmap(uint64_t at, size_t bytes)
{
	struct physical *one;

	for (uint64_t next = at; next < at + bytes; next += one->bytes) {
		one = mapped_at(next);
		if (!one || one->at != next || one->bytes > at + bytes - next)
			return CUDA_INVALID_VALUE;
	}
	for (uint64_t next = at, length; next < at + bytes; next += length) {
		one = mapped_at(next);
		length = one->bytes;
		if (one->uses > 0) {
			one->kept = malloc(one->bytes);
			if (!one->kept)
				return CUDA_MEMORY_ALLOCATION;
			memcpy(one->kept, host_at(next, one->bytes), one->bytes);
		}
		one->at = 0;
		collect(one);
	}
	return CUDA_SUCCESS;
}

DRIVER(cuMemMap, (uint64_t at, size_t bytes, size_t offset, struct physical *handle, unsigned long long flags),
       map(at, bytes, offset, handle, flags))
DRIVER(cuMemUnmap, (uint64_t at, size_t bytes), unmap(at, bytes))

/* All devices have access to what is mapped; less of it is refused. */
static int set_access(uint64_t at, size_t bytes, const struct access *access, size_t n)
{
	for (uint64_t next = at; next < at + bytes; next += GRANULARITY)
		if (!mapped_at(next))
			return CUDA_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		if (access[i].location.type != LOCATION_DEVICE || !gt_cudart_is_device(access[i].location.id))
			return CUDA_INVALID_DEVICE;
		if (access[i].flags != READ_WRITE)
			return gt_cudart_refuse("cuMemSetAccess that takes access away");
	}
	return CUDA_SUCCESS;
}

DRIVER(cuMemSetAccess, (uint64_t at, size_t bytes, const struct access *access, size_t n),
       access && n > 0 ? set_access(at, bytes, access, n) : CUDA_INVALID_VALUE)
DRIVER(cuMemGetAccess, (unsigned long long *flags, const struct location *location, uint64_t at),
       !flags || !location ? CUDA_INVALID_VALUE : (*flags = mapped_at(at) ? READ_WRITE : 0, CUDA_SUCCESS))
