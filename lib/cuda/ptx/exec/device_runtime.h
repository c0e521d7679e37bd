/* SPDX-License-Identifier: MIT */
/* The device's runtime: functions that kernels call and that have no PTX, by name, and the steps that stand for them; and the
 * launches that kernels make. */
#ifndef GT_PTX_DEVICE_RUNTIME_H
#define GT_PTX_DEVICE_RUNTIME_H

#include <string.h>

#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/exec/warp.h"
#include "cuda/ptx/text/module.h"

struct gt_ptx_runtime_function {
	const char *name; /* without the prefix of its family */
	gt_ptx_step *run;
	bool uses_heap, launches;
};

/* NULL if there is none of that name. *driver: it is one that libcudadevrt calls, with error codes of its own; the op's
 * `choice` says so. */
const struct gt_ptx_runtime_function *gt_ptx_runtime_function_named(const char *name, bool *driver);
/* Whether the name is of the second interface for launches by kernels, that of CUDA 12. */
bool gt_ptx_runtime_is_second(const char *name);

/* The place of a call's argument or result, of call->arguments or call->returns; NULL if there are fewer. */
static inline unsigned char *gt_ptx_call_place(const struct gt_ptx_warp *warp, const struct gt_ptx_place *places, size_t n,
					       size_t i, unsigned lane)
{
	if (i >= n)
		return NULL;
	if (places[i].in_slot)
		return warp->arena + places[i].at + lane * places[i].bytes;
	return warp->local + lane * warp->local_stride + warp->local_at + places[i].at;
}

/* An argument that is a number; 0 if there is none. */
static inline uint64_t gt_ptx_call_argument(const struct gt_ptx_warp *warp, const struct gt_ptx_call *call, size_t i, unsigned lane)
{
	const unsigned char *place = gt_ptx_call_place(warp, call->arguments, call->n_arguments, i, lane);
	uint64_t value = 0;

	if (place)
		memcpy(&value, place, call->arguments[i].bytes < sizeof value ? call->arguments[i].bytes : sizeof value);
	return value;
}

/* Gives the caller its result, if it takes one. */
static inline void gt_ptx_call_result(const struct gt_ptx_warp *warp, const struct gt_ptx_call *call, unsigned lane, uint64_t value)
{
	unsigned char *place = gt_ptx_call_place(warp, call->returns, call->n_returns, 0, lane);

	if (place)
		memcpy(place, &value, call->returns[0].bytes < sizeof value ? call->returns[0].bytes : sizeof value);
}

/* ---- launches ---- */

/* Launches that kernels make. A kernel asks for a buffer, writes the parameters of the child into it, and launches it; the
 * child is run later (launch/nested.h). Buffers are a pool in the device's memory, of as many as may be pending at a time. */

#define GT_PTX_POOL_NAME "launch_pool"
#define GT_PTX_PENDING_MAX 1000000
#define GT_PTX_BUFFER_BYTES 4096   /* of a child's parameters, at most */
#define GT_PTX_DEPTH_MAX 24	   /* levels of launches below the host's, by the first interface */

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

/* An executable graph that a kernel launches, and the handle that says when it runs. */
struct gt_ptx_graph_launch {
	uint64_t graph, stream;
	struct gt_ptx_graph_launch *next;
};

/* What a launch has launched, in the order of the calls. */
struct gt_ptx_launched {
	struct gt_ptx_children children, tails; /* tails: to be run when all of the children are done */
	struct gt_ptx_graph_launch *graphs;
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
