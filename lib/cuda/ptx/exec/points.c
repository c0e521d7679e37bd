/* SPDX-License-Identifier: MIT */
/* Fetches of a whole warp from one texture: what texture.c finds lane by lane, for all lanes at once. */
#include "cuda/ptx/exec/texture.h"

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

/* One dimension of the texels of a warp, as of a lane's footprint. */
struct axis {
	int32_t texels[2][GT_WARP_SIZE];
	uint64_t offsets[2][GT_WARP_SIZE]; /* of texels that are 0 in the other dimensions */
	uint32_t inside[2]; /* lanes; all unless there is a border */
	double weight[GT_WARP_SIZE];
};

/* Brings texels into [0, n). Returns the lanes that were there, or all if there is no border. */
static uint32_t settle(int32_t texels[GT_WARP_SIZE], int32_t n, enum gt_ptx_address_mode mode)
{
	uint32_t inside = 0;

	for (int i = 0; i < GT_WARP_SIZE && mode == GT_PTX_BORDER; i++)
		inside |= (uint32_t)(texels[i] >= 0 && texels[i] < n) << i;
	/* What wraps is one texel beyond the ends at most: a neighbour, or a coordinate that is rounded up to n. */
	int32_t below = mode == GT_PTX_WRAP ? n - 1 : 0, above = mode == GT_PTX_WRAP ? 0 : n - 1;
	for (int i = 0; i < GT_WARP_SIZE; i++)
		texels[i] = texels[i] < 0 ? below : texels[i] >= n ? above : texels[i];
	return mode == GT_PTX_BORDER ? inside : UINT32_MAX;
}

/* The offset of a texel is the sum of its offsets in each dimension. */
static void find_offsets(const struct gt_ptx_image *image, unsigned dimension, const int32_t texels[GT_WARP_SIZE],
			 uint64_t offsets[GT_WARP_SIZE])
{
	uint32_t bytes = gt_ptx_texel_bytes(image);

	for (int i = 0; i < GT_WARP_SIZE; i++) {
		uint64_t at = (uint32_t)texels[i];
		offsets[i] = dimension == 0   ? gt_ptx_image_offset(image, at * bytes, 0, 0)
			     : dimension == 1 ? gt_ptx_image_offset(image, 0, at, 0)
					      : gt_ptx_image_offset(image, 0, 0, at);
	}
}

static void find_on_axis(const struct gt_ptx_texture *texture, unsigned dimension, int32_t n,
			 const float coordinates[GT_WARP_SIZE], struct axis *axis)
{
	enum gt_ptx_address_mode mode = gt_ptx_mode_of(texture, dimension);
	double shift = texture->linear ? 0.5 : 0;
	float x[GT_WARP_SIZE];

	for (int i = 0; i < GT_WARP_SIZE; i++)
		x[i] = coordinates[i];
	if (mode == GT_PTX_WRAP)
		wrap(x);
	for (int i = 0; i < GT_WARP_SIZE && texture->normalized; i++)
		x[i] *= (float)n;
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		float near = x[i] == x[i] ? x[i] : 0;
		near = near > FAR ? FAR : near < -FAR ? -FAR : near;
		double at = (double)near - shift;
		int32_t texel = (int32_t)at;
		texel -= (double)texel > at;
		axis->texels[0][i] = texel;
		axis->texels[1][i] = texel + 1;
		if (!texture->linear)
			continue;
		axis->weight[i] = (double)(int32_t)((at - (double)texel) * GT_PTX_WEIGHT_STEPS + 0.5) / GT_PTX_WEIGHT_STEPS;
	}
	for (unsigned second = 0; second <= texture->linear; second++) {
		axis->inside[second] = settle(axis->texels[second], n, mode);
		find_offsets(&texture->image, dimension, axis->texels[second], axis->offsets[second]);
	}
}

/* A corner of all lanes: where it is, which are inside, its weights. */
static void find_corner(unsigned dimensions, const struct axis axes[3], unsigned corner, struct gt_ptx_points *points)
{
	uint64_t *offset = points->offset[corner];
	double *weight = points->weight[corner];

	points->inside[corner] = UINT32_MAX;
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		offset[i] = 0;
		weight[i] = 1;
	}
	for (unsigned d = 0; d < dimensions; d++) {
		unsigned second = corner >> d & 1;
		points->inside[corner] &= axes[d].inside[second];
		for (int i = 0; i < GT_WARP_SIZE; i++)
			offset[i] += axes[d].offsets[second][i];
		for (int i = 0; i < GT_WARP_SIZE && points->n > 1; i++)
			weight[i] *= second ? axes[d].weight[i] : 1 - axes[d].weight[i];
	}
}

bool gt_ptx_find_points(const struct gt_ptx_texture *texture, const float *const coordinates[3], struct gt_ptx_points *points)
{
	const struct gt_ptx_image *image = &texture->image;
	const uint32_t extent[3] = {image->width, image->height, image->depth};
	struct axis axes[3];

	if (image->layered || image->cube)
		return false;
	for (unsigned d = 0; d < image->dimensions; d++)
		if (gt_ptx_mode_of(texture, d) == GT_PTX_MIRROR)
			return false;
	for (unsigned d = 0; d < image->dimensions; d++)
		find_on_axis(texture, d, (int32_t)extent[d], coordinates[d], &axes[d]);
	points->n = texture->linear ? 1U << image->dimensions : 1;
	for (unsigned k = 0; k < points->n; k++)
		find_corner(image->dimensions, axes, k, points);
	return true;
}
