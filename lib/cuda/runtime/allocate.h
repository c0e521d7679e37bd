/* SPDX-License-Identifier: MIT */
/* What a pointer points to. */
#ifndef GT_RUNTIME_ALLOCATE_H
#define GT_RUNTIME_ALLOCATE_H

/* cudaMemoryType */
enum gt_pointer_type { GT_POINTER_UNREGISTERED, GT_POINTER_HOST, GT_POINTER_DEVICE, GT_POINTER_MANAGED };

struct gt_pointer {
	enum gt_pointer_type type;
	int device; /* -2: of none */
	void *device_pointer, *host_pointer; /* NULL: there is none */
};

struct gt_pointer gt_cudart_pointer(const void *pointer);

#endif
