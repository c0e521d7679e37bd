/* SPDX-License-Identifier: MIT */
#include "order/limits.h"

#include <inttypes.h>

#define WARPS_MAX (GT_BLOCK_THREADS_MAX / GT_WARP_SIZE)

struct gt_order_limits gt_order_limits_of(const struct gt_kernel *kernel)
{
	uint64_t threads = gt_kernel_threads(kernel);
	unsigned rest = (unsigned)(threads % GT_WARP_SIZE);

	return (struct gt_order_limits){
		.blocks = kernel->grid[0] ? gt_kernel_blocks(kernel) : UINT32_MAX,
		.warps = threads ? gt_kernel_warps(kernel) : WARPS_MAX,
		.absent_lanes = rest ? UINT32_MAX << rest : 0,
	};
}

int gt_order_refuse(const struct gt_order_limits *limits, const struct gt_kernel *kernel, const struct gt_trace_access *access,
		    struct gt_error *error)
{
	if (access->mask == 0)
		return gt_fail(error, "an access without an active lane");
	if (access->size == 0 || access->size > GT_ACCESS_SIZE_MAX)
		return gt_fail(error, "size %u: expected 1 to %d bytes a lane", access->size,
			       GT_ACCESS_SIZE_MAX);
	if (!gt_op_valid(access->op))
		return gt_fail(error, "op 0x%02x: no such operation", access->op);
	if (!gt_hint_valid(access->hint))
		return gt_fail(error, "hint 0x%04x: no such hint", access->hint);
	if (!access->addresses && access->stride == GT_STRIDE_LANES)
		return gt_fail(error, "an access without addresses");
	if (access->block >= limits->blocks)
		return gt_fail(error,
			       "block %" PRIu32 ": the grid of launch %" PRIu64 " has %" PRIu64 " blocks",
			       access->block, kernel->id, limits->blocks);
	if (access->warp >= limits->warps)
		return gt_fail(error,
			       "warp %u (from thread %u on): a block of launch %" PRIu64 " has %" PRIu64
			       " warps",
			       access->warp, access->warp * GT_WARP_SIZE, kernel->id, limits->warps);
	return gt_fail(error,
		       "lanes 0x%08" PRIx32 " of warp %u: a block of launch %" PRIu64 " has %" PRIu64
		       " threads",
		       access->mask, access->warp, kernel->id, gt_kernel_threads(kernel));
}
