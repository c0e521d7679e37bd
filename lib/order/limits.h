/* SPDX-License-Identifier: MIT */
/* What an access of a launch may be: blocks, warps and lanes that the launch has, and fields that mean something. */
#ifndef GT_ORDER_LIMITS_H
#define GT_ORDER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/hint.h"
#include "stream/kernel.h"
#include "stream/op.h"
#include "stream/rows.h"
#include "stream/trace.h"

struct gt_order_limits {
	uint64_t blocks;       /* a block must be below */
	uint64_t warps;	       /* a warp must be below */
	uint32_t absent_lanes; /* lanes that the last warp does not have */
};

/* Those of a launch. An unknown shape has CUDA's limits; the highest block number is excluded, so that the number of blocks fits
 * its field. */
struct gt_order_limits gt_order_limits_of(const struct gt_kernel *kernel);

static inline bool gt_order_allows(const struct gt_order_limits *limits, const struct gt_trace_access *access)
{
	uint32_t absent = access->warp + 1U == limits->warps ? limits->absent_lanes : 0;

	return access->block < limits->blocks && access->warp < limits->warps && access->mask != 0 &&
	       (access->mask & absent) == 0 && (uint8_t)(access->size - 1) < GT_ACCESS_SIZE_MAX &&
	       gt_op_valid(access->op) && gt_hint_valid(access->hint) && (access->addresses || access->stride != GT_STRIDE_LANES);
}

/* Says why an access is not allowed; returns -1. */
int gt_order_refuse(const struct gt_order_limits *limits, const struct gt_kernel *kernel, const struct gt_trace_access *access,
		    struct gt_error *error);

#endif
