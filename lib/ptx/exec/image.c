/* SPDX-License-Identifier: MIT */
#include "ptx/exec/image.h"

#define BLOCK_ROWS_MAX	  16 /* GOBs: of an image without depth */
#define BLOCK_ROWS_MAX_3D 4
#define BLOCK_SLICES_MAX  16

/* The least power of two with which `unit` times it covers n, up to a limit. */
static uint32_t power_that_covers(uint64_t n, uint32_t unit, uint32_t limit)
{
	uint32_t power = 1;

	while (power < limit && (uint64_t)power * unit < n)
		power *= 2;
	return power;
}

static uint64_t units(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit;
}

void gt_ptx_image_arrange(struct gt_ptx_image *image)
{
	uint64_t row = (uint64_t)image->width * gt_ptx_texel_bytes(image);
	bool deep = image->dimensions == 3;

	image->block_rows = image->block_slices = 0;
	if (image->dimensions == 1) {
		image->pitch = image->slice = units(row, GT_PTX_GOB_BYTES) * GT_PTX_GOB_BYTES;
		image->bytes = image->slice * image->depth;
		return;
	}
	image->block_rows = power_that_covers(image->height, GT_PTX_GOB_ROWS, deep ? BLOCK_ROWS_MAX_3D : BLOCK_ROWS_MAX);
	image->block_slices = deep ? power_that_covers(image->depth, 1, BLOCK_SLICES_MAX) : 1;
	image->pitch = image->slice = 0;
	image->bytes = units(row, GT_PTX_GOB_WIDTH) * GT_PTX_GOB_WIDTH *
		       units(image->height, GT_PTX_GOB_ROWS * image->block_rows) * GT_PTX_GOB_ROWS * image->block_rows *
		       units(image->depth, image->block_slices) * image->block_slices;
}

uint64_t gt_ptx_image_offset(const struct gt_ptx_image *image, uint64_t x, uint64_t y, uint64_t z)
{
	uint64_t rows = image->block_rows, slices = image->block_slices;

	if (rows == 0)
		return z * image->slice + y * image->pitch + x;
	uint64_t gob_row = y / GT_PTX_GOB_ROWS;
	uint64_t wide = units((uint64_t)image->width * gt_ptx_texel_bytes(image), GT_PTX_GOB_WIDTH);
	uint64_t high = units(image->height, GT_PTX_GOB_ROWS * rows);
	uint64_t block = (z / slices * high + gob_row / rows) * wide + x / GT_PTX_GOB_WIDTH;
	uint64_t gob = (block * slices + z % slices) * rows + gob_row % rows;
	/* In a GOB: 16 bytes of a row, two rows of them, 32 bytes, four pairs of rows, 64 bytes. */
	uint64_t within = x % 16 + y % 2 * 16 + x / 16 % 2 * 32 + y / 2 % 4 * 64 + x / 32 % 2 * 256;

	return gob * GT_PTX_GOB_BYTES + within;
}
