/* SPDX-License-Identifier: MIT */
/* Launches that kernels make. A kernel asks for a buffer, writes the parameters of the child into it, and launches it; the
 * child is run later (launch/nested.h). Buffers are a pool in the device's memory, of as many as may be pending at a time. */
#ifndef GT_PTX_NESTED_H
#define GT_PTX_NESTED_H

#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/text/module.h"

#define GT_PTX_POOL_NAME "launch_pool"
#define GT_PTX_PENDING 2048	   /* cudaLimitDevRuntimePendingLaunchCount's default */
#define GT_PTX_PENDING_MAX 1000000
#define GT_PTX_BUFFER_BYTES 4096   /* of a child's parameters, at most */
#define GT_PTX_DEPTH_MAX 24	   /* levels of launches below the host's */

/* Codes of cudaError_t that a kernel is given. */
enum {
	GT_PTX_OK = 0,
	GT_PTX_INVALID_VALUE = 1,
	GT_PTX_INVALID_CONFIGURATION = 9,
	GT_PTX_DEPTH_EXCEEDED = 65,
	GT_PTX_PENDING_EXCEEDED = 69,
};

/* A launch that is pending. */
struct gt_ptx_child {
	const struct gt_ptx_function *kernel;
	uint32_t grid[3], block[3], dynamic_shared;
	unsigned char *parameters; /* owned */
	uint64_t parent;	   /* the number of the launch that made it */
	unsigned depth;
	size_t buffer; /* that it keeps until it is done */
	struct gt_ptx_child *next;
};

struct gt_ptx_children {
	struct gt_ptx_child *first, *last;
};

/* What a launch has launched, in the order of the calls. */
struct gt_ptx_launched {
	struct gt_ptx_children children, tails; /* tails: to be run when all of the children are done */
};

struct gt_ptx_pool;

/* How many launches may be pending. Can be set until a kernel that launches was run: then -1. */
int gt_ptx_pool_resize(struct gt_ptx_memory *memory, uint64_t pending);
/* Makes the pool if there is none. */
int gt_ptx_pool_open(struct gt_ptx_memory *memory, struct gt_error *error);
void gt_ptx_pool_close(struct gt_ptx_memory *memory);

/* Gives back the buffers that were asked for and not used in a launch. */
void gt_ptx_pool_end_launch(struct gt_ptx_memory *memory);
/* Gives back a child's buffer. */
void gt_ptx_pool_give(struct gt_ptx_memory *memory, size_t buffer);
void gt_ptx_child_free(struct gt_ptx_child *child);
void gt_ptx_launched_clear(struct gt_ptx_memory *memory, struct gt_ptx_launched *launched);

#endif
