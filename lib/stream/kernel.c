/* SPDX-License-Identifier: MIT */
#include "stream/kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/rows.h"

const char *const gt_order_names[GT_ORDERS] = {"none", "block", "an"};

/* The product of three sizes below 2^32, or UINT64_MAX when it does not fit. */
static uint64_t volume(const uint32_t size[3])
{
	uint64_t plane = (uint64_t)size[0] * size[1], all;

	return __builtin_mul_overflow(plane, size[2], &all) ? UINT64_MAX : all;
}

uint64_t gt_kernel_blocks(const struct gt_kernel *kernel)
{
	return volume(kernel->grid);
}

uint64_t gt_kernel_threads(const struct gt_kernel *kernel)
{
	return volume(kernel->block);
}

uint64_t gt_kernel_warps(const struct gt_kernel *kernel)
{
	return (gt_kernel_threads(kernel) + GT_WARP_SIZE - 1) / GT_WARP_SIZE;
}

/* A shape is wholly known or wholly unknown: 0 in one direction only would be an empty launch. */
static int check_shape(const char *what, const uint32_t size[3], uint64_t max, struct gt_error *error)
{
	if (size[0] == 0)
		return size[1] || size[2] ? gt_fail(error, "a %s without a first dimension", what) : 0;
	if (size[1] == 0 || size[2] == 0 || volume(size) > max)
		return gt_fail(error, "a %s of %" PRIu32 "x%" PRIu32 "x%" PRIu32 ": expected 1 to %" PRIu64 " in all",
			       what, size[0], size[1], size[2], max);
	return 0;
}

int gt_kernel_check(const struct gt_kernel *kernel, struct gt_error *error)
{
	if (check_shape("grid", kernel->grid, UINT64_C(1) << 32, error) != 0)
		return -1;
	return check_shape("block", kernel->block, GT_BLOCK_THREADS_MAX, error);
}

int gt_kernel_copy(struct gt_kernel *to, const struct gt_kernel *from, struct gt_error *error)
{
	unsigned char *extra = NULL;

	if (from->extra_bytes > 0) {
		extra = malloc(from->extra_bytes);
		if (!extra)
			return gt_fail_memory(error, "a kernel's fields");
		memcpy(extra, from->extra, from->extra_bytes);
	}
	free(to->extra);
	*to = *from;
	to->extra = extra;
	return 0;
}

void gt_kernel_clear(struct gt_kernel *kernel)
{
	free(kernel->extra);
	memset(kernel, 0, sizeof *kernel);
}
