/* SPDX-License-Identifier: MIT */
/* Each test is a branch-free loop over one column, which is nearly free on valid rows. The invalid row is
 * searched only if the test fails. */
#include "stream/check.h"

#include <inttypes.h>

#include "stream/hint.h"
#include "stream/op.h"
#include "stream/status.h"

static uint32_t greatest_block(const struct gt_rows *rows)
{
	uint32_t most = 0;

	for (size_t i = 0; i < rows->n; i++)
		most = rows->block[i] > most ? rows->block[i] : most;
	return most;
}

static uint16_t greatest_warp(const struct gt_rows *rows)
{
	uint16_t most = 0;

	for (size_t i = 0; i < rows->n; i++)
		most = rows->warp[i] > most ? rows->warp[i] : most;
	return most;
}

static int check_place(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error)
{
	uint64_t blocks = gt_kernel_blocks(kernel), warps = gt_kernel_warps(kernel);

	if (blocks > 0 && greatest_block(rows) >= blocks)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->block[i] >= blocks)
				return gt_fail(error, "row %zu: block %" PRIu32 ": the grid has %" PRIu64 " blocks", i + 1,
					       rows->block[i], blocks);
	if (warps > 0 && greatest_warp(rows) >= warps)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->warp[i] >= warps)
				return gt_fail(error, "row %zu: warp %u: a block has %" PRIu64 " warps", i + 1,
					       rows->warp[i], warps);
	return 0;
}

static int check_ops(const struct gt_rows *rows, struct gt_error *error)
{
	/* Spaces and operators are dense, so for nearly every batch two maxima are enough. */
	unsigned space = 0, operation = 0;

	for (size_t i = 0; i < rows->n; i++) {
		space |= (rows->op[i] & 0x1c) > (GT_SPACES - 1) << 2;
		operation |= rows->op[i] >> 5 > GT_OPERATORS - 1;
	}
	if (space | operation)
		for (size_t i = 0; i < rows->n; i++)
			if (!gt_op_valid(rows->op[i]))
				return gt_fail(error, "row %zu: op 0x%02x: no such operation", i + 1, rows->op[i]);
	return 0;
}

static int check_hints(const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; rows->has_hints && i < rows->n; i++)
		if (!gt_hint_valid(rows->hint[i]))
			return gt_fail(error, "row %zu: hint 0x%04x: no such hint", i + 1, rows->hint[i]);
	return 0;
}

/* Lanes of the last, partial warp that no thread has; 0 if the block is made of whole warps. */
static uint32_t absent_lanes(const struct gt_kernel *kernel)
{
	unsigned rest = (unsigned)(gt_kernel_threads(kernel) % GT_WARP_SIZE);

	return rest ? ~(uint32_t)0 << rest : 0;
}

static int check_accesses(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error)
{
	uint32_t absent = absent_lanes(kernel);
	uint64_t last = gt_kernel_warps(kernel) - 1;
	unsigned bad = 0, with_lanes = 0;

	for (size_t i = 0; i < rows->n; i++)
		bad |= (unsigned)(rows->mask[i] == 0) | (unsigned)((uint8_t)(rows->size[i] - 1) >= GT_ACCESS_SIZE_MAX);
	for (size_t i = 0; i < rows->n; i++)
		with_lanes |= rows->stride[i] == GT_STRIDE_LANES;
	if (!bad && !absent && !with_lanes)
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t lanes = (uint64_t)__builtin_popcount(rows->mask[i]);
		if (rows->mask[i] == 0)
			return gt_fail(error, "row %zu: no active lane", i + 1);
		if ((uint8_t)(rows->size[i] - 1) >= GT_ACCESS_SIZE_MAX)
			return gt_fail(error, "row %zu: %u bytes a lane: expected 1 to %d", i + 1, rows->size[i],
				       GT_ACCESS_SIZE_MAX);
		if (absent && rows->warp[i] == last && rows->mask[i] & absent)
			return gt_fail(error, "row %zu: lane mask 0x%08" PRIx32 ": warp %u has %d threads", i + 1,
				       rows->mask[i], rows->warp[i], __builtin_ctz(absent));
		if (rows->stride[i] == GT_STRIDE_LANES &&
		    (rows->base[i] > rows->n_lanes || lanes > rows->n_lanes - rows->base[i]))
			return gt_fail(error, "row %zu: %" PRIu64 " addresses at %" PRIu64 ": the batch has %zu", i + 1,
				       lanes, rows->base[i], rows->n_lanes);
	}
	return 0;
}

static int check_requests(const struct gt_rows *rows, struct gt_error *error)
{
	unsigned sectors = 0, threads = 0;
	uint64_t address = 0;

	for (size_t i = 0; i < rows->n; i++)
		sectors |= (unsigned)(rows->sectors[i] == 0) | (unsigned)(rows->sectors[i] > 15) |
			   (unsigned)(rows->full[i] & ~rows->sectors[i]);
	for (size_t i = 0; i < rows->n; i++)
		threads |= rows->threads[i] > GT_WARP_SIZE;
	for (size_t i = 0; i < rows->n; i++)
		address |= rows->address[i] & (GT_LINE - 1);
	if (!sectors && !threads && !address)
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->sectors[i] == 0 || rows->sectors[i] > 15 || rows->full[i] & ~rows->sectors[i])
			return gt_fail(error, "row %zu: sectors 0x%x, full 0x%x: expected 0x1 to 0xf, and a subset of them",
				       i + 1, rows->sectors[i], rows->full[i]);
		if (rows->threads[i] > GT_WARP_SIZE)
			return gt_fail(error, "row %zu: %u lanes: a warp has %d", i + 1, rows->threads[i], GT_WARP_SIZE);
		if (rows->address[i] % GT_LINE != 0)
			return gt_fail(error, "row %zu: address 0x%" PRIx64 ": expected a multiple of %d", i + 1,
				       rows->address[i], GT_LINE);
	}
	return 0;
}

static int check_status(const struct gt_rows *rows, struct gt_error *error)
{
	unsigned bad = 0;

	if (!rows->has_status)
		return 0;
	for (size_t i = 0; i < rows->n; i++)
		bad |= rows->status[i] >= GT_STATUSES;
	for (size_t i = 0; bad && i < rows->n; i++)
		if (rows->status[i] >= GT_STATUSES)
			return gt_fail(error, "row %zu: status %u: no such status", i + 1, rows->status[i]);
	return 0;
}

int gt_rows_check(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error)
{
	if (check_place(rows, kernel, error) != 0 || check_ops(rows, error) != 0 || check_hints(rows, error) != 0)
		return -1;
	if (rows->kind == GT_ACCESSES)
		return check_accesses(rows, kernel, error);
	return check_requests(rows, error) != 0 ? -1 : check_status(rows, error);
}
