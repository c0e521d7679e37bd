/* SPDX-License-Identifier: MIT */
/* What a program asks a stream to do: done at once, or, while the stream is captured, kept as a
 * node of a graph. */
#ifndef GT_CUDART_WORK_H
#define GT_CUDART_WORK_H

#include "cuda/runtime/runtime.h"

/* The numbers of cudaGraphNodeType. */
enum gt_work_kind { GT_WORK_KERNEL, GT_WORK_COPY, GT_WORK_FILL, GT_WORK_HOST, GT_WORK_GRAPH, GT_WORK_EMPTY,
		    GT_WORK_WAIT, GT_WORK_RECORD, GT_WORK_ALLOCATE = 10, GT_WORK_FREE = 11, GT_WORK_CONDITION = 13 };

struct gt_kernel_work {
	const void *function; /* host address or handle */
	struct gt_dim3 grid, block;
	size_t shared;
	void **arguments; /* one a parameter */
	struct gt_wishes wishes;
	int device; /* of a node: 1 + that of its kernel; 0: the thread's */
};

/* cudaMemcpyKind */
enum gt_copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

struct gt_array;

struct gt_position {
	size_t x, y, z;
};

/* Rows of `width` bytes, `height` to a slice. */
struct gt_copy_work {
	void *to;
	const void *from;
	size_t to_pitch, from_pitch, to_slice, from_slice; /* bytes from a row, a slice, to the next */
	size_t width, height, depth;
	unsigned kind;
	/* Arrays in place of memory, or NULL; positions in them: bytes, rows, slices. */
	const struct gt_array *to_array, *from_array;
	struct gt_position to_position, from_position;
};

struct gt_fill_work {
	void *to;
	size_t pitch;
	uint32_t value, element; /* element: 1, 2 or 4 bytes */
	size_t width, height;	  /* elements in a row, rows */
};

struct gt_host_work {
	void (*function)(void *);
	void *data;
};

struct gt_graph;
struct gt_graph_memory;
struct gt_cuda_event;

/* Which of the bodies run: by cudaGraphConditionalNodeType, and the value at the handle, an address of the device. */
struct gt_condition_work {
	uint64_t handle;
	unsigned type, size;
	struct gt_graph **bodies; /* `size` of them, that the node has for itself; NULL: to be made */
};

struct gt_work {
	enum gt_work_kind kind;
	union {
		struct gt_kernel_work kernel;
		struct gt_copy_work copy;
		struct gt_fill_work fill;
		struct gt_host_work host;
		struct gt_graph *graph; /* a copy that the node has for itself */
		struct gt_cuda_event *event;
		struct gt_graph_memory *memory;
		struct gt_condition_work condition;
	} u;
};

/* Each returns a code, and expects gt_cudart_enter() to have been called. */
int gt_cudart_copy(const struct gt_copy_work *copy);
int gt_cudart_fill(const struct gt_fill_work *fill);
int gt_cudart_do(const struct gt_work *work);

/* A copy that outlives the caller's arguments; gt_work_free() frees what it holds. */
int gt_work_keep(struct gt_work *kept, const struct gt_work *work);
void gt_work_free(struct gt_work *work);

/* bytes in one row */
struct gt_work gt_copy_of(void *to, const void *from, size_t bytes, unsigned kind);

#endif
