/* SPDX-License-Identifier: MIT */
/* The grid, the block and the cluster of a launch, and their limits. */
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/launch/scan.h"
#include "stream/kernel.h"

/* True for (x, ...); a parenthesis may also begin an expression, as in (4+4)*2. */
static bool is_list(const char *at)
{
	size_t depth = 1;

	if (*at++ != '(')
		return false;
	for (; *at && depth > 0; at++) {
		if (*at == ',' && depth == 1)
			return true;
		depth += *at == '(';
		depth -= *at == ')';
	}
	return false;
}

static const uint32_t grid_limits[3] = {INT32_MAX, 65535, 65535}, block_limits[3] = {1024, 1024, 64},
		      cluster_limits[3] = {GT_PTX_CLUSTER_BLOCKS, GT_PTX_CLUSTER_BLOCKS, GT_PTX_CLUSTER_BLOCKS};

/* N or (x[,y[,z]]) */
static int read_extent(const struct gt_ptx_launch_line *call, const char **at, const uint32_t limits[3], uint32_t extent[3],
		       struct gt_error *error)
{
	uint64_t count = 0;
	int n = 0;

	extent[0] = extent[1] = extent[2] = 1;
	bool list = is_list(*at);
	if (list)
		(*at)++;
	do {
		if (gt_ptx_launch_count(call, at, 1, limits[n], &count, error) != 0)
			return -1;
		extent[n++] = (uint32_t)count;
	} while (list && n < 3 && gt_scan_char(at, ','));
	return list ? gt_ptx_launch_want(at, ")", error) : 0;
}

int gt_ptx_launch_shape(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	const char *block;
	uint64_t shared = 0;

	if (gt_ptx_launch_want(at, "<<<", error) != 0 || read_extent(call, at, grid_limits, call->grid, error) != 0 ||
	    gt_ptx_launch_want(at, ",", error) != 0)
		return -1;
	block = *at;
	if (read_extent(call, at, block_limits, call->block, error) != 0)
		return -1;
	gt_scan_blanks(at);
	if (**at == ',') {
		(*at)++;
		if (gt_ptx_launch_count(call, at, 0, GT_PTX_LAUNCH_SHARED, &shared, error) != 0)
			return -1;
		if (gt_scan_char(at, ',') && read_extent(call, at, cluster_limits, call->cluster, error) != 0)
			return -1;
	}
	call->dynamic_shared = (uint32_t)shared;
	if ((uint64_t)call->block[0] * call->block[1] * call->block[2] > GT_BLOCK_THREADS_MAX)
		return gt_ptx_launch_fail_at(block, error, "more than 1024 threads a block");
	if ((uint64_t)call->grid[0] * call->grid[1] > UINT32_MAX / call->grid[2])
		return gt_ptx_launch_fail_at(block, error, "more than 2^32 blocks");
	return gt_ptx_launch_want(at, ">>>", error);
}

int gt_ptx_shape_read(const char *text, bool block, uint32_t *shape, struct gt_error *error)
{
	const struct gt_ptx_launch_line none = {0};
	char list[64];
	const char *at = list;

	if (text[strspn(text, "0123456789,")] || snprintf(list, sizeof list, "(%s)", text) >= (int)sizeof list)
		return gt_fail(error, "'%s': expected X, X,Y or X,Y,Z", text);
	if (read_extent(&none, &at, block ? block_limits : grid_limits, shape, error) != 0)
		return -1;
	if (*at)
		return gt_fail(error, "'%s': expected X, X,Y or X,Y,Z", text);
	if (block && (uint64_t)shape[0] * shape[1] * shape[2] > GT_BLOCK_THREADS_MAX)
		return gt_fail(error, "'%s': more than 1024 threads a block", text);
	return 0;
}
