/* SPDX-License-Identifier: MIT */
/* Each test is a branch-free loop over one column, which is nearly free on valid rows. The invalid row is
 * searched only if the test fails. */
#include "stream/check.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/wide.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/status.h"

/* What the columns that rows of either kind have are tested by. */
struct extremes {
	uint32_t block;
	uint16_t warp;
	uint8_t space, operation; /* 1: some op names none. Spaces and operators are dense, so their maxima are enough */
};

GT_WIDE static struct extremes find_extremes(const struct gt_rows *rows)
{
	struct extremes most = {0};

	for (size_t i = 0; i < rows->n; i++)
		most.block = rows->block[i] > most.block ? rows->block[i] : most.block;
	for (size_t i = 0; i < rows->n; i++)
		most.warp = rows->warp[i] > most.warp ? rows->warp[i] : most.warp;
	for (size_t i = 0; i < rows->n; i++) {
		most.space |= (rows->op[i] & 0x1c) > (GT_SPACES - 1) << 2;
		most.operation |= rows->op[i] >> 5 > GT_OPERATORS - 1;
	}
	return most;
}

static int check_place(const struct gt_rows *rows, const struct extremes *most, const struct gt_kernel *kernel,
		       struct gt_error *error)
{
	uint64_t blocks = gt_kernel_blocks(kernel), warps = gt_kernel_warps(kernel);

	if (blocks > 0 && most->block >= blocks)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->block[i] >= blocks)
				return gt_fail(error, "row %zu: block %" PRIu32 ": the grid has %" PRIu64 " blocks", i + 1,
					       rows->block[i], blocks);
	if (warps > 0 && most->warp >= warps)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->warp[i] >= warps)
				return gt_fail(error, "row %zu: warp %u: a block has %" PRIu64 " warps", i + 1,
					       rows->warp[i], warps);
	return 0;
}

static int check_ops(const struct gt_rows *rows, const struct extremes *most, struct gt_error *error)
{
	if (most->space | most->operation)
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

/* Whether some row has no lanes or a wrong size; and whether some row has addresses in `lanes`. */
GT_WIDE static bool accesses_bad(const struct gt_rows *rows, bool *with_lanes)
{
	uint8_t large = 0;
	uint32_t idle = 0;
	uint64_t lanes = 0;

	for (size_t i = 0; i < rows->n; i++)
		idle |= rows->mask[i] == 0;
	for (size_t i = 0; i < rows->n; i++)
		large |= (uint8_t)(rows->size[i] - 1) >= GT_ACCESS_SIZE_MAX;
	for (size_t i = 0; i < rows->n; i++)
		lanes |= rows->stride[i] == GT_STRIDE_LANES;
	*with_lanes = lanes;
	return idle || large;
}

static int check_accesses(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error)
{
	uint32_t absent = absent_lanes(kernel);
	uint64_t last = gt_kernel_warps(kernel) - 1;
	bool with_lanes;

	if (!accesses_bad(rows, &with_lanes) && !absent && !with_lanes)
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

/* Whether some row may be bad: turns are looked at one by one. */
GT_WIDE static bool requests_bad(const struct gt_rows *rows)
{
	uint8_t bad = 0;
	uint64_t address = 0;

	for (size_t i = 0; i < rows->n; i++)
		bad |= (uint8_t)((uint8_t)(rows->sectors[i] - 1) >= 15) | (uint8_t)(rows->full[i] & ~rows->sectors[i]);
	for (size_t i = 0; i < rows->n; i++)
		bad |= rows->threads[i] > GT_WARP_SIZE;
	for (size_t i = 0; i < rows->n; i++)
		address |= rows->address[i];
	for (size_t i = 0; i < rows->n; i++)
		bad |= (rows->op[i] & 0x1c) == GT_SHARED << 2;
	return bad || address % GT_LINE != 0;
}

static bool is_turn(const struct gt_rows *rows, size_t i)
{
	return gt_op_space(rows->op[i]) == GT_SHARED && !(rows->address[i] | rows->sectors[i] | rows->full[i] | rows->threads[i]);
}

static int check_requests(const struct gt_rows *rows, struct gt_error *error)
{
	if (!requests_bad(rows))
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		if (is_turn(rows, i))
			continue;
		if (gt_op_space(rows->op[i]) == GT_SHARED)
			return gt_fail(error, "row %zu: a request on shared memory: expected a turn, with address, sectors, full and lanes of 0", i + 1);
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
	const struct extremes most = find_extremes(rows);

	if (check_place(rows, &most, kernel, error) != 0 || check_ops(rows, &most, error) != 0 ||
	    check_hints(rows, error) != 0)
		return -1;
	if (rows->kind == GT_ACCESSES)
		return check_accesses(rows, kernel, error);
	return check_requests(rows, error) != 0 ? -1 : check_status(rows, error);
}
