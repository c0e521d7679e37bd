/* SPDX-License-Identifier: MIT */
/* The other calls of CUDA's runtime in kernels: errors, streams, events, and what the device is. Launches run in the order in
 * which they were made, whatever their streams, so that events have nothing to wait for. */
#include <inttypes.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/nested.h"
#include "cuda/ptx/exec/service.h"

/* Handles of streams and events. Those that CUDA defines: the default ones, tail launch, fire and forget. */
#define STREAMS 5
#define HANDLE UINT64_C(0x100)

bool gt_ptx_is_stream(uint64_t stream)
{
	return stream < STREAMS || stream == HANDLE;
}

/* The driver's functions have error codes of their own, which libcudadevrt translates. */
static int driver_code(int code)
{
	static const struct {
		int code, driver;
	} codes[] = {{GT_PTX_INVALID_VALUE, 1}, {GT_PTX_INVALID_CONFIGURATION, 7}, {GT_PTX_DEPTH_EXCEEDED, 5},
		     {GT_PTX_PENDING_EXCEEDED, 12}};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].code == code)
			return codes[i].driver;
	return 0;
}

void gt_ptx_give_code(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, int code)
{
	if (code != GT_PTX_OK)
		warp->last_error[lane] = code;
	gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)(op->choice ? driver_code(code) : code));
}

const struct gt_ptx_op *gt_ptx_last_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)warp->last_error[lane]);
		if (!op->choice) /* the driver's function leaves the error, and has another to set it */
			warp->last_error[lane] = 0;
	}
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_peek_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		gt_ptx_call_result(warp, op->with.call, gt_ptx_lowest(m), (uint64_t)warp->last_error[gt_ptx_lowest(m)]);
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_set_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		warp->last_error[lane] = (int)gt_ptx_call_argument(warp, op->with.call, 0, lane);
		gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)warp->last_error[lane]);
	}
	return op + 1;
}

/* Writes a value where the first argument points to. */
static void tell(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t value, unsigned bytes)
{
	uint64_t address = gt_ptx_call_argument(warp, op->with.call, 0, lane);
	unsigned char *place = address ? gt_ptx_place_at(warp, lane, address, bytes) : NULL;

	if (place)
		memcpy(place, &value, bytes);
	gt_ptx_give_code(warp, op, lane, place ? GT_PTX_OK : GT_PTX_INVALID_VALUE);
}

const struct gt_ptx_op *gt_ptx_create_handle(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), HANDLE, 8);
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_use_handle(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		bool known = true;
		for (size_t i = 0; i < op->with.call->n_arguments && i < 2; i++)
			known &= gt_ptx_is_stream(gt_ptx_call_argument(warp, op->with.call, i, lane));
		gt_ptx_give_code(warp, op, lane, known ? GT_PTX_OK : GT_PTX_INVALID_VALUE);
	}
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_count_devices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), warp->core->launch->devices, 4);
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_this_device(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), warp->core->launch->device, 4);
	return op + 1;
}

/* (value, number, ...): what the host's runtime says of the device. */
static const struct gt_ptx_op *ask(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
				   int (*answer)(unsigned number, uint64_t *value), unsigned bytes)
{
	if (!answer)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "a question about the device, which nothing is known of here");
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t value;
		if (answer((unsigned)gt_ptx_call_argument(warp, op->with.call, 1, lane), &value) == 0)
			tell(warp, op, lane, value, bytes);
		else
			gt_ptx_give_code(warp, op, lane, GT_PTX_INVALID_VALUE);
	}
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_ask_attribute(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return ask(warp, op, mask, warp->core->launch->attribute, 4);
}

const struct gt_ptx_op *gt_ptx_ask_limit(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return ask(warp, op, mask, warp->core->launch->limit, 8);
}

/* (handle, value): a handle is the address of its value. */
const struct gt_ptx_op *gt_ptx_set_condition(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t handle = gt_ptx_call_argument(warp, op->with.call, 0, lane);
		uint32_t value = (uint32_t)gt_ptx_call_argument(warp, op->with.call, 1, lane);
		unsigned char *place = gt_ptx_at(warp->core->memory, handle, sizeof value);
		if (!place)
			return gt_ptx_fault(warp, op, lane, "cudaGraphSetConditional of 0x%" PRIx64 ", which is no handle", handle);
		memcpy(place, &value, sizeof value);
	}
	return op + 1;
}
