/* SPDX-License-Identifier: MIT */
/* Allocation of device and host memory, and what is known of a pointer. */
#include <string.h>

#include "cuda/runtime/calls.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/pointers.h"

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
	return address_of(to, gt_cudart_allocate(&pointer, bytes, "cuMemAlloc"), &pointer);
}

static int allocate_pitch(uint64_t *to, size_t *pitch, size_t width, size_t rows, unsigned element)
{
	void *pointer = NULL;

	if (!to || !pitch || width == 0 || rows == 0 || (element != 4 && element != 8 && element != 16))
		return CUDA_INVALID_VALUE;
	return address_of(to, gt_cudart_allocate_rows(&pointer, pitch, width, rows, "cuMemAllocPitch"), &pointer);
}

static int allocate_managed(uint64_t *to, size_t bytes)
{
	void *pointer = NULL;

	if (!to || bytes == 0)
		return CUDA_INVALID_VALUE;
	return address_of(to, gt_cudart_allocate_shared(&pointer, bytes, GT_PTX_MANAGED, "cuMemAllocManaged"), &pointer);
}

static int allocate_host(void **to, size_t bytes)
{
	return to && bytes > 0 ? gt_cudart_allocate_shared(to, bytes, GT_PTX_OF_HOST, "cuMemHostAlloc") : CUDA_INVALID_VALUE;
}

DRIVER(cuMemAlloc_v2, (uint64_t *to, size_t bytes), allocate(to, bytes))
DRIVER(cuMemAllocPitch_v2, (uint64_t *to, size_t *pitch, size_t width, size_t rows, unsigned element),
       allocate_pitch(to, pitch, width, rows, element))
DRIVER(cuMemAllocManaged, (uint64_t *to, size_t bytes, unsigned flags), ((void)flags, allocate_managed(to, bytes)))
DRIVER(cuMemAllocHost_v2, (void **to, size_t bytes), allocate_host(to, bytes))
DRIVER(cuMemHostAlloc, (void **to, size_t bytes, unsigned flags), ((void)flags, allocate_host(to, bytes)))
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
struct location {
	int type, id;
};
DRIVER(cuMemAdvise_v2, (uint64_t address, size_t bytes, int advice, struct location at),
       ((void)address, (void)bytes, (void)advice, (void)at, CUDA_SUCCESS))
DRIVER(cuMemPrefetchAsync, (uint64_t address, size_t bytes, int device, void *stream),
       ((void)address, (void)bytes, (void)device, (void)stream, CUDA_SUCCESS))
DRIVER(cuMemPrefetchAsync_v2, (uint64_t address, size_t bytes, struct location at, unsigned flags, void *stream),
       ((void)address, (void)bytes, (void)at, (void)flags, (void)stream, CUDA_SUCCESS))

/* ---- pointers ---- */

/* CUpointer_attribute */
enum { CONTEXT = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, SYNC_MEMOPS = 6, BUFFER_ID, IS_MANAGED, DEVICE_ORDINAL,
       IPC_CAPABLE, RANGE_START, RANGE_SIZE, MAPPED, HANDLE_TYPES, DIRECT_CAPABLE, ACCESS_FLAGS, POOL };
enum { TYPE_HOST = 1, TYPE_DEVICE };
#define READ_WRITE 3

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

ALSO(cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz);
ALSO(cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz);
