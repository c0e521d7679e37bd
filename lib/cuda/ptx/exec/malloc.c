/* SPDX-License-Identifier: MIT */
/* malloc and free of kernels: the lanes of a warp one after the other. What the hardware's allocator reads and writes itself is
 * not known, and not traced. */
#include <inttypes.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/heap.h"
#include "cuda/ptx/exec/service.h"
#include "cuda/ptx/exec/stray.h"

static const struct gt_ptx_op *take(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, bool aligned)
{
	const struct gt_ptx_call *call = op->with.call;
	struct gt_ptx_core *core = warp->core;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t bytes = gt_ptx_call_argument(warp, call, 0, lane), address = 0;
		uint64_t alignment = aligned ? gt_ptx_call_argument(warp, call, 1, lane) : GT_PTX_HEAP_UNIT;
		if ((alignment & (alignment - 1)) != 0)
			return gt_ptx_fault(warp, op, lane, "malloc aligned to %" PRIu64 " bytes, which is not a power of two",
					    alignment);
		if (gt_ptx_heap_take(core->memory, bytes, alignment, &address, core->error) != 0) {
			core->failed = true;
			return NULL;
		}
		gt_ptx_call_result(warp, call, lane, address);
	}
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_malloc(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return take(warp, op, mask, false);
}

const struct gt_ptx_op *gt_ptx_malloc_aligned(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return take(warp, op, mask, true);
}

const struct gt_ptx_op *gt_ptx_heap_return(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_core *core = warp->core;
	char text[GT_PTX_HEAP_TEXT];
	bool any = false;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t address = gt_ptx_call_argument(warp, op->with.call, 0, lane);
		if (address == 0)
			continue;
		if (gt_ptx_heap_give(core->memory, address) == 0) {
			any = true;
			continue;
		}
		bool inside = gt_ptx_in_heap(core->memory, address);
		gt_ptx_fault(warp, op, lane, "free of 0x%" PRIx64 "%s%s", address, inside ? " " : ", which is not in the device's heap",
			     inside ? gt_ptx_heap_describe(core->memory, address, text) : "");
		if (!gt_ptx_leave_out(warp, op))
			return NULL;
	}
	if (any)
		gt_ptx_forget_allocations(core->program, core->machine->module->n_functions);
	return op + 1;
}
