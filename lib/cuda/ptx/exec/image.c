/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/image.h"

/* Powers of two. */
#define BLOCK_ROWS_MAX	  4 /* GOBs: of an image without depth */
#define BLOCK_ROWS_MAX_3D 2
#define BLOCK_SLICES_MAX  4

static uint64_t units(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit;
}

/* The least power of two that is at least n, up to a limit. */
static uint8_t power_that_covers(uint64_t n, uint8_t limit)
{
	uint8_t power = 0;

	while (power < limit && UINT64_C(1) << power < n)
		power++;
	return power;
}

void gt_ptx_image_arrange(struct gt_ptx_image *image)
{
	uint64_t row = (uint64_t)image->width * gt_ptx_texel_bytes(image), gob_rows = units(image->height, GT_PTX_GOB_ROWS);
	bool deep = image->dimensions == 3;

	image->blocks = image->dimensions > 1;
	if (!image->blocks) {
		image->pitch = image->slice = units(row, GT_PTX_GOB_BYTES) * GT_PTX_GOB_BYTES;
		image->bytes = image->slice * image->depth;
		return;
	}
	image->block_rows = power_that_covers(gob_rows, deep ? BLOCK_ROWS_MAX_3D : BLOCK_ROWS_MAX);
	image->block_slices = deep ? power_that_covers(image->depth, BLOCK_SLICES_MAX) : 0;
	image->blocks_wide = (uint32_t)units(row, GT_PTX_GOB_WIDTH);
	image->blocks_high = (uint32_t)units(gob_rows, UINT64_C(1) << image->block_rows);
	image->bytes = ((units(image->depth, UINT64_C(1) << image->block_slices) * image->blocks_high * image->blocks_wide)
			<< (image->block_rows + image->block_slices)) * GT_PTX_GOB_BYTES;
}
