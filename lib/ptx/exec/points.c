/* SPDX-License-Identifier: MIT */
/* Unfiltered fetches of a whole warp from one texture: what texture.c finds lane by lane, for all lanes at once. */
#include "ptx/exec/texture.h"

#include <math.h>

#define FAR 0x1p30f /* texels; beyond all images */

/* Coordinates that wrap, as parts of the extent: x less its whole part. Floats from 2^23 on are whole. */
static void wrap(float x[GT_WARP_SIZE])
{
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		float near = fabsf(x[i]) < 0x1p23f ? x[i] : 0;
		float whole = (float)(int32_t)near;
		x[i] = near - (whole > near ? whole - 1 : whole);
	}
}

/* The texels of one dimension. Returns the lanes that are inside, all unless there is a border. */
static uint32_t find_on_axis(const struct gt_ptx_texture *texture, unsigned dimension, int32_t n,
			     const float coordinates[GT_WARP_SIZE], int32_t texels[GT_WARP_SIZE])
{
	enum gt_ptx_address_mode mode = gt_ptx_mode_of(texture, dimension);
	float x[GT_WARP_SIZE];
	uint32_t inside = 0;

	for (int i = 0; i < GT_WARP_SIZE; i++)
		x[i] = coordinates[i];
	if (mode == GT_PTX_WRAP)
		wrap(x);
	for (int i = 0; i < GT_WARP_SIZE && texture->normalized; i++)
		x[i] *= (float)n;
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		float near = x[i] == x[i] ? x[i] : 0;
		near = near > FAR ? FAR : near < -FAR ? -FAR : near;
		int32_t texel = (int32_t)near;
		texels[i] = texel - ((float)texel > near);
	}
	for (int i = 0; i < GT_WARP_SIZE && mode == GT_PTX_BORDER; i++)
		inside |= (uint32_t)(texels[i] >= 0 && texels[i] < n) << i;
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		int32_t last = mode == GT_PTX_WRAP ? 0 : n - 1; /* what wraps is rounded up to n at most */
		texels[i] = texels[i] < 0 ? 0 : texels[i] >= n ? last : texels[i];
	}
	return mode == GT_PTX_BORDER ? inside : UINT32_MAX;
}

bool gt_ptx_find_points(const struct gt_ptx_texture *texture, const float *const coordinates[3],
			uint64_t offsets[GT_WARP_SIZE], uint32_t *inside)
{
	const struct gt_ptx_image *image = &texture->image;
	const uint32_t extent[3] = {image->width, image->height, image->depth};
	int32_t texels[3][GT_WARP_SIZE] = {{0}};
	uint32_t bytes = gt_ptx_texel_bytes(image);

	if (texture->linear || image->layered || image->cube)
		return false;
	for (unsigned d = 0; d < image->dimensions; d++)
		if (gt_ptx_mode_of(texture, d) == GT_PTX_MIRROR)
			return false;
	*inside = UINT32_MAX;
	for (unsigned d = 0; d < image->dimensions; d++)
		*inside &= find_on_axis(texture, d, (int32_t)extent[d], coordinates[d], texels[d]);
	for (int i = 0; i < GT_WARP_SIZE; i++)
		offsets[i] = gt_ptx_image_offset(image, (uint64_t)(uint32_t)texels[0][i] * bytes, (uint32_t)texels[1][i],
						 (uint32_t)texels[2][i]);
	return true;
}
