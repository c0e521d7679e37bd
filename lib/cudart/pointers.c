/* SPDX-License-Identifier: MIT */
#include "cudart/pointers.h"

#include <string.h>

#include "cudart/runtime.h"

#define NO_DEVICE (-2)

/* The calls whose allocations are not device memory alone. */
static const struct {
	const char *call;
	enum gt_pointer_type type;
} types[] = {
	{"cudaHostAlloc ", GT_POINTER_HOST},
	{"cuMemHostAlloc ", GT_POINTER_HOST},
	{"cudaMallocManaged ", GT_POINTER_MANAGED},
	{"cuMemAllocManaged ", GT_POINTER_MANAGED},
};

/* The type follows from the allocation's name, which is that of its call. */
static enum gt_pointer_type type_of(const void *pointer)
{
	if (!gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), 1))
		return GT_POINTER_UNREGISTERED;
	const char *name = gt_ptx_nearest(&gt_cudart.memory, gt_cudart_address(pointer))->name;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strncmp(name, types[i].call, strlen(types[i].call)) == 0)
			return types[i].type;
	return GT_POINTER_DEVICE;
}

/* Memory of the host counts as the first device's. */
static int device_of(const void *pointer)
{
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(pointer), 1);

	if (!one)
		return NO_DEVICE;
	return one->owner == GT_PTX_EVERYONE ? 0 : (int)one->owner;
}

struct gt_pointer gt_cudart_pointer(const void *pointer)
{
	void *registered = gt_cudart_registered(pointer), *same = (void *)(uintptr_t)pointer;
	enum gt_pointer_type type = registered ? GT_POINTER_HOST : type_of(pointer);

	return (struct gt_pointer){
		.type = type,
		.device = device_of(registered ? registered : pointer),
		.device_pointer = type == GT_POINTER_UNREGISTERED ? NULL : registered ? registered : same,
		.host_pointer = type == GT_POINTER_DEVICE ? NULL : same,
	};
}
