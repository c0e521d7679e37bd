/* SPDX-License-Identifier: MIT */
/* What textures and surfaces are made of: texels in rows, slices and layers, and where each lies.
 *
 * NVIDIA does not document how CUDA arrays lie in memory. Assumed is its block-linear layout, as the
 * Tegra X1 Technical Reference Manual (section 20.1, "Block Linear") and the open-source drivers of
 * Mesa have it: 64 bytes by 8 rows are 512 successive bytes, a GOB; blocks are one GOB wide, some
 * high, and in 3D some deep. How many is assumed too: what covers the image, up to a limit. */
#ifndef GT_PTX_IMAGE_H
#define GT_PTX_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#define GT_PTX_GOB_BYTES 512
#define GT_PTX_GOB_WIDTH 64 /* bytes */
#define GT_PTX_GOB_ROWS	 8
#define GT_PTX_GOB_PIECE 16 /* bytes of a row that lie side by side */

/* The numbers of cudaChannelFormatKind. */
enum gt_ptx_channel { GT_PTX_CHANNEL_SIGNED, GT_PTX_CHANNEL_UNSIGNED, GT_PTX_CHANNEL_FLOAT };

struct gt_ptx_image {
	uint64_t address, bytes; /* in device memory */
	uint32_t width, height, depth; /* texels of a row, rows, slices or layers; each at least 1 */
	uint8_t dimensions;	       /* 1 to 3, without the layers */
	bool layered, cube;	       /* a cube has 6 layers, a layered one 6 for each of its own */
	uint8_t channels, channel_bytes; /* 1, 2 or 4 each */
	uint8_t kind;			 /* enum gt_ptx_channel */
	bool blocks; /* it lies in blocks of GOBs, else in rows */
	/* In blocks: how many GOBs high and slices deep one is, as powers of two; how many there are side by side, and one
	 * below the other. */
	uint8_t block_rows, block_slices;
	uint32_t blocks_wide, blocks_high;
	uint64_t pitch, slice; /* in rows: bytes from a row, a slice, to the next */
};

static inline uint32_t gt_ptx_texel_bytes(const struct gt_ptx_image *image)
{
	return (uint32_t)image->channels * image->channel_bytes;
}

/* Lays out the texels of a CUDA array whose shape is filled in: sets the fields below `kind`, and `bytes`. */
void gt_ptx_image_arrange(struct gt_ptx_image *image);

/* Bytes from the image's address to byte x of row y of slice z, all within the image. */
static inline uint64_t gt_ptx_image_offset(const struct gt_ptx_image *image, uint64_t x, uint64_t y, uint64_t z)
{
	if (!image->blocks)
		return z * image->slice + y * image->pitch + x;
	uint64_t gob_row = y / GT_PTX_GOB_ROWS;
	uint64_t deep = z >> image->block_slices, high = gob_row >> image->block_rows;
	uint64_t block = (deep * image->blocks_high + high) * image->blocks_wide + x / GT_PTX_GOB_WIDTH;
	uint64_t slice = (block << image->block_slices) + (z - (deep << image->block_slices));
	uint64_t gob = (slice << image->block_rows) + (gob_row - (high << image->block_rows));
	/* In a GOB: 16 bytes of a row, two rows of them, 32 bytes, four pairs of rows, 64 bytes. */
	uint64_t within = x % 16 + y % 2 * 16 + x / 16 % 2 * 32 + y / 2 % 4 * 64 + x / 32 % 2 * 256;

	return gob * GT_PTX_GOB_BYTES + within;
}

#endif
