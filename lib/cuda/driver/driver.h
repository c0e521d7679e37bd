/* SPDX-License-Identifier: MIT */
/* The driver API. Its handles are the runtime's: a CUstream is a stream of cudaStreamCreate, a CUfunction or CUkernel a struct
 * gt_function, so that a program may mix both. Its calls do what the runtime's like does, and return codes of their own. */
#ifndef GT_DRIVER_DRIVER_H
#define GT_DRIVER_DRIVER_H

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* CUresult, where it is not the number of a cudaError_t. */
enum {
	CU_NOT_INITIALIZED = 3,
	CU_INVALID_CONTEXT = 201,
	CU_INVALID_SOURCE = 300,
	CU_FILE_NOT_FOUND = 301,
	CU_NOT_FOUND = 500,
	CU_PRIMARY_CONTEXT_ACTIVE = 708,
	CU_CONTEXT_IS_DESTROYED = 709,
};

/* Begins a call, and ends it with a code of the runtime or the driver. gt_driver_begin returns CUDA_SUCCESS, or what the call
 * must return: it needs cuInit and a context. gt_driver_begin_anywhere is for calls that need no context, gt_driver_begin_of for those
 * of a stream or an event: one that was created has its own, the others are the thread's. */
int gt_driver_begin(void);
int gt_driver_begin_of(const void *handle);
int gt_driver_begin_anywhere(void);
int gt_driver_end(int code);

/* A call that is an expression: a code. */
#define DRIVER(NAME, PARAMETERS, CALL)                                                            \
	API int NAME PARAMETERS                                                                    \
	{                                                                                          \
		int code = gt_driver_begin();                                                      \
		return gt_driver_end(code == CUDA_SUCCESS ? (CALL) : code);                        \
	}
/* The same without a context. */
#define DRIVER_ANYWHERE(NAME, PARAMETERS, CALL)                                                   \
	API int NAME PARAMETERS                                                                    \
	{                                                                                          \
		int code = gt_driver_begin_anywhere();                                             \
		return gt_driver_end(code == CUDA_SUCCESS ? (CALL) : code);                        \
	}
/* The same with the context of a stream or an event. */
#define DRIVER_OF(HANDLE, NAME, PARAMETERS, CALL)                                                 \
	API int NAME PARAMETERS                                                                    \
	{                                                                                          \
		int code = gt_driver_begin_of(HANDLE);                                             \
		return gt_driver_end(code == CUDA_SUCCESS ? (CALL) : code);                        \
	}

/* The context that calls of this thread use; NULL: none. */
struct gt_context *gt_driver_context(void);

/* Unloads the modules that were loaded in a context. */
void gt_driver_unload(const struct gt_context *context);

/* A device address as the runtime's calls take it. */
static inline void *gt_driver_pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* ---- copies of boxes between memory and arrays ---- */

/* CUmemorytype */
enum gt_box_place { GT_BOX_HOST = 1, GT_BOX_DEVICE, GT_BOX_ARRAY, GT_BOX_UNIFIED };

/* One side of a CUDA_MEMCPY3D. */
struct gt_box_side {
	size_t x, y, z, level; /* bytes, rows, slices; of a mipmap */
	enum gt_box_place place;
	void *host;
	uint64_t device;
	struct gt_array *array;
	void *reserved; /* of a CUDA_MEMCPY3D_PEER: the context */
	size_t pitch, height;
};

/* CUDA_MEMCPY3D */
struct gt_box_copy {
	struct gt_box_side from, to;
	size_t width, height, depth;
};

/* The work that a copy is. Returns a code. */
int gt_driver_box(struct gt_work *work, const struct gt_box_copy *copy);

#endif
