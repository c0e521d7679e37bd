/* SPDX-License-Identifier: MIT */
/* Texture and surface objects, and which texels a fetch from a texture takes, with what weights: the
 * CUDA Programming Guide's appendix "Texture Fetching". */
#ifndef GT_PTX_TEXTURE_H
#define GT_PTX_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/ptx/exec/memory.h"
#include "stream/rows.h"

/* What textures and surfaces are made of: texels in rows, slices and layers, and where each lies.
 *
 * NVIDIA does not document how CUDA arrays lie in memory. Assumed is its block-linear layout, as the
 * Tegra X1 Technical Reference Manual (section 20.1, "Block Linear") and the open-source drivers of
 * Mesa have it: 64 bytes by 8 rows are 512 successive bytes, a GOB; blocks are one GOB wide, some
 * high, and in 3D some deep. How many is assumed too: what covers the image, up to a limit. */

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

/* Where a GOB of a block is, in bytes: `blocks` before it, then as many GOBs of its own block. */
static inline uint64_t gt_ptx_gob_offset(const struct gt_ptx_image *image, uint64_t blocks, uint64_t gobs)
{
	return ((blocks << (image->block_slices + image->block_rows)) + gobs) * GT_PTX_GOB_BYTES;
}

/* What byte x of a row, row y and slice z add to an offset in the image. In a GOB: 16 bytes of a row, two rows of them, 32 bytes, four pairs
 * of rows, 64 bytes. */
static inline uint64_t gt_ptx_column_offset(const struct gt_ptx_image *image, uint64_t x)
{
	if (!image->blocks)
		return x;
	return gt_ptx_gob_offset(image, x / GT_PTX_GOB_WIDTH, 0) + x % 16 + x / 16 % 2 * 32 + x / 32 % 2 * 256;
}

static inline uint64_t gt_ptx_row_offset(const struct gt_ptx_image *image, uint64_t y)
{
	const uint64_t gob_row = y / GT_PTX_GOB_ROWS, high = gob_row >> image->block_rows;

	if (!image->blocks)
		return y * image->pitch;
	return gt_ptx_gob_offset(image, high * image->blocks_wide, gob_row - (high << image->block_rows)) + y % 2 * 16 + y / 2 % 4 * 64;
}

static inline uint64_t gt_ptx_slice_offset(const struct gt_ptx_image *image, uint64_t z)
{
	const uint64_t deep = z >> image->block_slices;

	if (!image->blocks)
		return z * image->slice;
	return gt_ptx_gob_offset(image, deep * image->blocks_high * image->blocks_wide, (z - (deep << image->block_slices)) << image->block_rows);
}

/* Bytes from the image's address to byte x of row y of slice z, all within the image. */
static inline uint64_t gt_ptx_image_offset(const struct gt_ptx_image *image, uint64_t x, uint64_t y, uint64_t z)
{
	return gt_ptx_slice_offset(image, z) + gt_ptx_row_offset(image, y) + gt_ptx_column_offset(image, x);
}

/* ---- textures ---- */

#define GT_PTX_WEIGHT_STEPS 256.0 /* weights have 8 bits of fraction */
#define GT_PTX_BELOW_1	    0x1.fffffep-1F

/* The numbers of cudaTextureAddressMode. */
enum gt_ptx_address_mode { GT_PTX_WRAP, GT_PTX_CLAMP, GT_PTX_MIRROR, GT_PTX_BORDER };

struct gt_ptx_texture {
	struct gt_ptx_image image;
	bool surface;	 /* the rest is a texture's */
	bool normalized; /* coordinates are fractions of the extent */
	bool linear;	 /* texels are interpolated; they are floats then, or scaled */
	bool scaled;	 /* integers are read as floats from 0 or -1 to 1 */
	bool srgb;	 /* the first three channels, bytes that are scaled, are converted from sRGB */
	uint8_t modes[3]; /* enum gt_ptx_address_mode */
	float border[4];
	/* Of a mipmapped array: every level as a texture of its own, from the largest; else NULL. Owned once it is added. */
	struct gt_ptx_texture *levels;
	uint8_t n_levels;
	/* Of a single row that has a height of 1: the same texture with one dimension, as a fetch of '1d' takes it; else NULL. Owned
	 * once it is added. */
	struct gt_ptx_texture *row;
	bool between; /* levels are interpolated, else the nearest is taken */
	float bias, least, most; /* what is added to a level, and the limits of the sum */
};

/* The objects that a device memory knows. A handle is never given twice, and is of the memory's until the
 * object is removed. -1 when memory is short. */
int gt_ptx_texture_add(struct gt_ptx_memory *memory, const struct gt_ptx_texture *texture, uint64_t *handle);
/* The object of a handle; NULL if there is none. */
const struct gt_ptx_texture *gt_ptx_texture_of(const struct gt_ptx_memory *memory, uint64_t handle);
/* False if there is none. */
bool gt_ptx_texture_remove(struct gt_ptx_memory *memory, uint64_t handle);

/* The address mode of a dimension: wrapping and mirroring are for normalized coordinates alone, and else clamping. */
static inline enum gt_ptx_address_mode gt_ptx_mode_of(const struct gt_ptx_texture *texture, unsigned dimension)
{
	enum gt_ptx_address_mode mode = (enum gt_ptx_address_mode)texture->modes[dimension];

	return texture->normalized || mode == GT_PTX_BORDER ? mode : GT_PTX_CLAMP;
}

/* Whether a row of texels has the border below it: a GPU filters between both, at a height of 0. */
static inline bool gt_ptx_borders_row(const struct gt_ptx_texture *texture)
{
	return texture->image.dimensions == 1 && !texture->image.layered && gt_ptx_mode_of(texture, 1) == GT_PTX_BORDER;
}

/* The texels that a fetch takes. Corner k is the second texel of dimension d if bit d of k is set. */
struct gt_ptx_footprint {
	unsigned n;	    /* 1, 2, 4 or 8 */
	uint32_t inside;    /* bit k: corner k is a texel; else it has the border's colour */
	uint64_t offset[8]; /* of the corners inside, from the image's address */
	double weight[8]; /* in steps */
};

/* To the nearest whole number, of two the one that is farther from 0. */
static inline double gt_ptx_whole_steps(double x)
{
	return (double)(int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* The weights of the corners, in steps, whose sum is `whole`, from those of the second texels in each dimension, of a whole. An H100 divides it
 * among the slices, then among the columns of each, then among their rows: what is not rounded gets the rest. */
static inline void gt_ptx_weights_of(unsigned n, double whole, const double second[3], double *const weights[8])
{
	const double back = n > 4 ? gt_ptx_whole_steps(whole * second[2] / GT_PTX_WEIGHT_STEPS) : 0;
	const double of_slices[2] = {whole - back, back};

	for (unsigned slice = 0; slice < (n + 3) / 4; slice++) {
		const double right = n > 1 ? gt_ptx_whole_steps(of_slices[slice] * second[0] / GT_PTX_WEIGHT_STEPS) : 0;
		const double left = of_slices[slice] - right;
		const double below = gt_ptx_whole_steps(right * second[1] / GT_PTX_WEIGHT_STEPS);
		const double above = gt_ptx_whole_steps(left * (GT_PTX_WEIGHT_STEPS - second[1]) / GT_PTX_WEIGHT_STEPS);
		*weights[4 * slice] = n < 4 ? left : above;
		*weights[4 * slice + 1] = n < 4 ? right : right - below;
		*weights[4 * slice + 2] = left - above;
		*weights[4 * slice + 3] = below;
	}
}

/* Where a fetch is. */
struct gt_ptx_spot {
	bool texels;	 /* by whole texels, else by floats */
	int32_t at[3];
	float coordinates[3];
	uint32_t layer;
};

/* The footprint of a fetch; `bilinear`: with the neighbours, whatever the filter; `whole`: the sum of the weights, in steps. */
void gt_ptx_find_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_spot *spot, bool bilinear, double whole,
			   struct gt_ptx_footprint *footprint);
/* The four channels of a corner, as the bits of floats or integers. `texels`: of the image, in this process. */
void gt_ptx_read_corner(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint, unsigned corner,
			const unsigned char *texels, uint32_t values[4]);
/* All corners together, weighed. */
void gt_ptx_read_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint,
			   const unsigned char *texels, uint32_t values[4]);
/* The same of parts: adds the weighed corners to sums, and gives the values of the sums. */
void gt_ptx_add_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint, const unsigned char *texels,
			  double sum[4]);
void gt_ptx_filtered(const struct gt_ptx_texture *texture, const double sum[4], uint32_t values[4]);
/* A channel of a corner as it leaves the filter without being weighed. */
uint32_t gt_ptx_gathered(const struct gt_ptx_texture *texture, unsigned channel, uint32_t value);

/* ---- fetches ---- */

/* Operations on textures and surfaces, as the decoder makes them. */

/* How textures and surfaces of one kind are addressed. */
struct gt_ptx_geometry {
	const char *name; /* "a2d" */
	uint8_t dimensions;
	bool layered, cube;
	uint8_t coordinates; /* without the layer */
};

/* What a surface does with coordinates beyond its ends. */
enum gt_ptx_beyond { GT_PTX_BEYOND_TRAP, GT_PTX_BEYOND_CLAMP, GT_PTX_BEYOND_ZERO };

enum gt_ptx_image_figure {
	GT_PTX_FIGURE_WIDTH,
	GT_PTX_FIGURE_HEIGHT,
	GT_PTX_FIGURE_DEPTH,
	GT_PTX_FIGURE_LAYERS,
	GT_PTX_FIGURES
};

#define GT_PTX_NO_GATHER 4

/* Of slots, each of 32 lanes. */
struct gt_ptx_fetch {
	const struct gt_ptx_geometry *geometry; /* NULL: of a query */
	uint32_t handle, layer, coordinates[3]; /* handle: 64 bits; layer 0: there is none */
	uint32_t level;				 /* of tex.level: a float, or an integer with whole texels; 0: not said */
	uint32_t gradients[2][3];		 /* of tex.grad; 0: not said */
	uint32_t values[4];			 /* results, or what is stored; 0: not wanted */
	uint32_t resident;			 /* of textures: a predicate that becomes true; 0: not wanted */
	uint8_t n, size;			 /* of surfaces: elements, and bytes of each */
	bool texels;				 /* coordinates are whole texels, not floats */
	uint8_t gather;				 /* the channel that tld4 gathers; GT_PTX_NO_GATHER: a plain fetch */
	enum gt_ptx_beyond beyond;
	enum gt_ptx_image_figure figure; /* of a query */
};

#endif
