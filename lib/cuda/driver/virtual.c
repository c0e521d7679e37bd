/* SPDX-License-Identifier: MIT */
/* Virtual memory management: ranges of addresses, memory without addresses, and what is mapped where. A range is one allocation
 * as soon as it is reserved, so that a kernel may access it before memory is mapped to it. Memory that is unmapped keeps what it
 * holds. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

#define GRANULARITY ((size_t)2 << 20)
enum { LOCATION_DEVICE = 1, READ_WRITE = 3 };

struct location {
	int type, id;
};

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
		return CUDA_MEMORY_ALLOCATION;
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
