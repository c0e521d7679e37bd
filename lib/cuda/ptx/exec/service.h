/* SPDX-License-Identifier: MIT */
/* Functions of the device's runtime that have no PTX, by name, and the steps that stand for them. */
#ifndef GT_PTX_SERVICE_H
#define GT_PTX_SERVICE_H

#include <string.h>

#include "cuda/ptx/exec/warp.h"

struct gt_ptx_service {
	const char *name; /* without the prefix of its family */
	gt_ptx_step *run;
	bool uses_heap, launches;
};

/* NULL if there is none of that name. *driver: it is one that libcudadevrt calls, with error codes of its own; the op's
 * `choice` says so. */
const struct gt_ptx_service *gt_ptx_service_named(const char *name, bool *driver);

/* For calls that return an error: keeps it for cudaGetLastError, and gives it to the caller. */
void gt_ptx_give_code(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, int code);
/* Whether a handle is a stream or an event. */
bool gt_ptx_is_stream(uint64_t handle);

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

gt_ptx_step gt_ptx_print, gt_ptx_assert, gt_ptx_malloc, gt_ptx_malloc_aligned, gt_ptx_heap_return,
	gt_ptx_configured_buffer, gt_ptx_plain_buffer, gt_ptx_launch_configured, gt_ptx_launch_plain, gt_ptx_last_error,
	gt_ptx_peek_error, gt_ptx_set_error, gt_ptx_create_handle, gt_ptx_use_handle, gt_ptx_count_devices, gt_ptx_this_device,
	gt_ptx_ask_attribute, gt_ptx_ask_limit, gt_ptx_set_condition;

#endif
