/* SPDX-License-Identifier: MIT */
#include "stream/kernel.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
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

int gt_kernel_same_device(const struct gt_kernel *kernel, uint32_t *first, struct gt_error *error)
{
	if (*first == 0)
		*first = kernel->device + 1;
	if (*first == kernel->device + 1)
		return 0;
	return gt_fail(error, "kernel %" PRIu64 " ran on device %" PRIu32 ", and others on device %" PRIu32 ": the caches of one "
			      "device are modelled; choose one with gtrace-record --device", kernel->id, kernel->device, *first - 1);
}

static const char *const property_names[GT_PROPERTIES] = {"normal", "streaming", "persisting"};

const char *gt_window_format(const struct gt_window *window, char buffer[GT_WINDOW_TEXT])
{
	snprintf(buffer, GT_WINDOW_TEXT, "0x%" PRIx64 ",%" PRIu64 ",%" PRIu32 ",%s,%s", window->base, window->bytes,
		 window->hit_ratio, property_names[window->hit], property_names[window->miss]);
	return buffer;
}

static int property_named(const char *name, enum gt_property *property)
{
	for (unsigned i = 0; i < GT_PROPERTIES; i++) {
		if (strcmp(name, property_names[i]) != 0)
			continue;
		*property = (enum gt_property)i;
		return 0;
	}
	return -1;
}

/* A number up to a comma, decimal or after 0x hexadecimal; moves past both. */
static int next_number(const char **text, uint64_t *number)
{
	char *end;
	bool hex = strncmp(*text, "0x", 2) == 0;
	const char *digits = *text + 2 * hex;

	errno = 0;
	*number = strtoull(digits, &end, hex ? 16 : 10);
	if (!(hex ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits)) || *end != ',' || errno == ERANGE)
		return -1;
	*text = end + 1;
	return 0;
}

int gt_window_parse(const char *text, struct gt_window *window)
{
	char hit[16], miss[16], beyond;
	struct gt_window read = {0};
	uint64_t ratio;

	if (next_number(&text, &read.base) != 0 || next_number(&text, &read.bytes) != 0 || next_number(&text, &ratio) != 0 ||
	    sscanf(text, "%15[a-z],%15[a-z]%c", hit, miss, &beyond) != 2 || read.bytes == 0 || ratio > GT_RATIO_ONE ||
	    read.base + read.bytes < read.base || property_named(hit, &read.hit) != 0 || property_named(miss, &read.miss) != 0)
		return -1;
	read.hit_ratio = (uint32_t)ratio;
	*window = read;
	return 0;
}

int gt_kernel_check(const struct gt_kernel *kernel, struct gt_error *error)
{
	if (check_shape("grid", kernel->grid, UINT64_C(1) << 32, error) != 0)
		return -1;
	for (unsigned k = 0; k < 3 && kernel->cluster[0] > 0; k++)
		if (kernel->cluster[k] == 0 || kernel->grid[k] % kernel->cluster[k] != 0)
			return gt_fail(error, "clusters of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " do not divide the grid", kernel->cluster[0],
				       kernel->cluster[1], kernel->cluster[2]);
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
