/* SPDX-License-Identifier: MIT */
/* What a program says of a node, and the work that it is. */
#ifndef GT_RUNTIME_GRAPH_NODES_H
#define GT_RUNTIME_GRAPH_NODES_H

#include "cuda/runtime/work.h"

struct gt_kernel_parameters {
	const void *function;
	struct gt_dim3 grid, block;
	unsigned shared;
	void **arguments, **extra;
};

struct gt_fill_parameters {
	void *to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

/* cudaMemPoolProps, as far as it is looked at. */
struct gt_pool_properties {
	int allocation_type, handle_types;
	struct {
		int type, id;
	} location;
	void *security;
	size_t max_bytes;
	unsigned char rest[56];
};

/* cudaMemAllocNodeParams */
struct gt_allocation_parameters {
	struct gt_pool_properties pool;
	const void *accesses;
	size_t n_accesses, bytes;
	void *pointer; /* that the node allocates */
};

/* cudaConditionalNodeParams */
struct gt_condition_parameters {
	uint64_t handle;
	unsigned type, size;
	struct gt_graph **bodies; /* of the node, for the program to fill */
};

/* cudaGraphNodeParams */
struct gt_node_parameters {
	int type, reserved[3];
	union {
		long long words[29];
		struct gt_kernel_parameters kernel;
		struct {
			int flags, reserved[3];
			struct gt_volume_copy copy;
		} copy;
		struct gt_fill_parameters fill;
		struct gt_host_work host;
		struct gt_graph *child;
		struct gt_cuda_event *event;
		struct gt_allocation_parameters allocation;
		void *pointer; /* to be freed */
		struct gt_condition_parameters condition;
	} u;
	long long last;
};
/* The work of a node that frees. Returns a code. */
int gt_graph_free_work(struct gt_work *work, const void *pointer);

#endif
