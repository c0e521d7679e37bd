/* SPDX-License-Identifier: MIT */
/* Texture and surface objects, and which texels a fetch from a texture takes, with what weights: the
 * CUDA Programming Guide's appendix "Texture Fetching". */
#ifndef GT_PTX_TEXTURE_H
#define GT_PTX_TEXTURE_H

#include "cuda/ptx/exec/image.h"
#include "cuda/ptx/exec/memory.h"
#include "stream/rows.h"

#define GT_PTX_WEIGHT_STEPS 256.0 /* weights have 8 bits of fraction */

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

/* The level that a fetch takes, or two and the weight of the second. */
struct gt_ptx_between {
	const struct gt_ptx_texture *first, *second; /* second: NULL if its weight is 0 */
	double weight;
};
struct gt_ptx_between gt_ptx_levels_at(const struct gt_ptx_texture *texture, float level);
/* The level at which a step of one pixel is a step of one texel; gradients: of the coordinates, by x and y of the picture. */
float gt_ptx_level_of(const struct gt_ptx_texture *texture, float gradients[2][3]);

/* The objects that a device memory knows. A handle is never given twice, and is of the memory's until the
 * object is removed. -1 when memory is short. */
int gt_ptx_texture_add(struct gt_ptx_memory *memory, const struct gt_ptx_texture *texture, uint64_t *handle);
/* The object of a handle; NULL if there is none. */
const struct gt_ptx_texture *gt_ptx_texture_of(const struct gt_ptx_memory *memory, uint64_t handle);
/* False if there is none. */
bool gt_ptx_texture_remove(struct gt_ptx_memory *memory, uint64_t handle);
void gt_ptx_textures_free(struct gt_ptx_memory *memory);

/* The address mode of a dimension: wrapping and mirroring are for normalized coordinates alone, and else clamping. */
static inline enum gt_ptx_address_mode gt_ptx_mode_of(const struct gt_ptx_texture *texture, unsigned dimension)
{
	enum gt_ptx_address_mode mode = (enum gt_ptx_address_mode)texture->modes[dimension];

	return texture->normalized || mode == GT_PTX_BORDER ? mode : GT_PTX_CLAMP;
}

/* The texels that a fetch takes. Corner k is the second texel of dimension d if bit d of k is set. */
struct gt_ptx_footprint {
	unsigned n;	    /* 1, 2, 4 or 8 */
	uint32_t inside;    /* bit k: corner k is a texel; else it has the border's colour */
	uint64_t offset[8]; /* of the corners inside, from the image's address */
	double weight[8]; /* if there are several */
};

/* Where a fetch is. */
struct gt_ptx_spot {
	bool texels;	 /* by whole texels, else by floats */
	int32_t at[3];
	float coordinates[3];
	uint32_t layer;
};

/* The footprint of a fetch; `bilinear`: with the neighbours, whatever the filter. */
void gt_ptx_find_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_spot *spot, bool bilinear,
			   struct gt_ptx_footprint *footprint);
/* The four channels of a corner, as the bits of floats or integers. `texels`: of the image, in this process. */
void gt_ptx_read_corner(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint, unsigned corner,
			const unsigned char *texels, uint32_t values[4]);
/* All corners together, weighed. */
void gt_ptx_read_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint,
			   const unsigned char *texels, uint32_t values[4]);

/* Values become those between them and others, which are floats; weight: of the others. */
void gt_ptx_mix(uint32_t values[4], const uint32_t others[4], double weight);

/* The footprints of a warp: of each corner the lanes that are inside, and as above by lane. */
struct gt_ptx_points {
	unsigned n;
	uint32_t inside[8];
	uint64_t offset[8][GT_WARP_SIZE];
	double weight[8][GT_WARP_SIZE];
};

/* Finds them. coordinates: of 32 lanes each. False if the texture is not of a kind for which this is done. */
bool gt_ptx_find_points(const struct gt_ptx_texture *texture, const float *const coordinates[3], struct gt_ptx_points *points);

#endif
