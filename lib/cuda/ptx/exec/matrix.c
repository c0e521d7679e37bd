/* SPDX-License-Identifier: MIT */
/* ldmatrix, stmatrix, movmatrix: matrices of 8 x 8 elements of 16 bits. A row is 16 bytes at the address of one lane;
 * lane l has the elements 2 (l % 4) and the next of row l / 4 in a register. */
#include "cuda/ptx/exec/matrix.h"

#include <string.h>

#include "cuda/ptx/exec/access.h"

#define ROW_BYTES 16

bool gt_ptx_whole_warp(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (mask == GT_PTX_FULL)
		return true;
	gt_ptx_fault(warp, op, gt_ptx_lowest(mask),
		     "an instruction on matrices by the lanes 0x%08x alone: all 32 of a warp have to execute it", mask);
	return false;
}

/* Where the rows of a matrix lie, 8 rows each; records the access. False after a fault. */
static bool reach_rows(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_reach *reach)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned rows = 8U * access->n;
	const uint32_t lanes = rows == GT_WARP_SIZE ? GT_PTX_FULL : (UINT32_C(1) << rows) - 1;

	if (gt_ptx_reach(warp, op, lanes, reach, ROW_BYTES) != 0)
		return false;
	if (reach->space != GT_PTX_SHARED) {
		gt_ptx_fault(warp, op, 0, "0x%llx is no address of shared memory",
			     (unsigned long long)(reach->lanes[0] + reach->offset));
		return false;
	}
	return gt_ptx_note(warp, op, lanes, reach, ROW_BYTES) == 0;
}

/* Row and column of a lane's element of a register, 0 or 1. */
static void element_of(unsigned lane, unsigned i, bool transposed, unsigned *row, unsigned *column)
{
	*row = transposed ? 2 * (lane % 4) + i : lane / 4;
	*column = transposed ? lane / 4 : 2 * (lane % 4) + i;
}

const struct gt_ptx_op *gt_ptx_load_matrices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	uint16_t matrices[4][8][8];
	struct gt_ptx_reach reach;

	if (!gt_ptx_whole_warp(warp, op, mask) || !reach_rows(warp, op, &reach))
		return NULL;
	/* All rows first: a result may take the place of the addresses. */
	for (unsigned lane = 0; lane < 8U * access->n; lane++)
		memcpy(matrices[lane / 8][lane % 8], gt_ptx_place_of(&reach, lane), ROW_BYTES);
	for (unsigned k = 0; k < access->n; k++) {
		uint32_t *lanes = gt_ptx_lanes(warp, access->slots[k]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			lanes[lane] = 0;
			for (unsigned i = 0, row, column; i < 2; i++) {
				element_of(lane, i, op->choice, &row, &column);
				lanes[lane] |= (uint32_t)matrices[k][row][column] << 16 * i;
			}
		}
	}
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_store_matrices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	uint16_t matrices[4][8][8];
	struct gt_ptx_reach reach;

	if (!gt_ptx_whole_warp(warp, op, mask) || !reach_rows(warp, op, &reach))
		return NULL;
	for (unsigned k = 0; k < access->n; k++) {
		const uint32_t *lanes = gt_ptx_lanes(warp, access->slots[k]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			for (unsigned i = 0, row, column; i < 2; i++) {
				element_of(lane, i, op->choice, &row, &column);
				matrices[k][row][column] = (uint16_t)(lanes[lane] >> 16 * i);
			}
	}
	for (unsigned lane = 0; lane < 8U * access->n; lane++)
		memcpy(gt_ptx_place_of(&reach, lane), matrices[lane / 8][lane % 8], ROW_BYTES);
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_transpose(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	uint32_t *lanes_d = gt_ptx_lanes(warp, op->d), from[GT_WARP_SIZE];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	memcpy(from, gt_ptx_lanes(warp, op->a), sizeof from);
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
		lanes_d[lane] = 0;
		for (unsigned i = 0, row, column; i < 2; i++) {
			element_of(lane, i, true, &row, &column);
			lanes_d[lane] |= (from[4 * row + column / 2] >> 16 * (column % 2) & 0xffff) << 16 * i;
		}
	}
	return op + 1;
}
