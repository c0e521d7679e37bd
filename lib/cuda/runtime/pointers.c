/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/pointers.h"

#include "cuda/runtime/runtime.h"

#define NO_DEVICE (-2)

/* What lies elsewhere in this process, if device memory could not be mapped at its own address, are variables. */
static void *host_of(const void *pointer, enum gt_pointer_type type)
{
	return type == GT_POINTER_MANAGED ? gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), 1) : (void *)(uintptr_t)pointer;
}

static enum gt_pointer_type type_of(const void *pointer)
{
	static const enum gt_pointer_type types[] = {
		[GT_PTX_OF_DEVICE] = GT_POINTER_DEVICE, [GT_PTX_OF_HOST] = GT_POINTER_HOST, [GT_PTX_MANAGED] = GT_POINTER_MANAGED};
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(pointer), 1);

	return one ? types[one->kind] : GT_POINTER_UNREGISTERED;
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
		.host_pointer = type == GT_POINTER_DEVICE ? NULL : host_of(pointer, type),
	};
}
