/* SPDX-License-Identifier: MIT */
/* Steps that fetch from textures, and load from surfaces and store to them: where each lane's texels are, by itself or with its warp,
 * and of which mip level. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/texture.h"
#include "cuda/ptx/exec/warp.h"
#include "stream/op.h"

/* The footprints of a warp: of each corner the lanes that are inside, and by lane what struct gt_ptx_footprint has. */
struct texture_warp {
	unsigned n;
	uint32_t inside[8];
	uint64_t offset[8][GT_WARP_SIZE];
	double weight[8][GT_WARP_SIZE];
};

/* ---- the texels of a whole warp ---- */

/* Fetches of a whole warp from one texture: what texture.c finds lane by lane, for all lanes at once. */

#define FAR 0x1p30f /* texels; beyond all images */

/* Coordinates that wrap, as parts of the extent: x less its whole part, and below 1. Floats from 2^23 on are whole. */
GT_INLINE void wrap(float x[GT_WARP_SIZE])
{
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		float near = fabsf(x[i]) < 0x1p23f ? x[i] : 0;
		float whole = (float)(int32_t)near;
		const float part = near - (whole > near ? whole - 1 : whole);
		x[i] = part < 1 ? part : GT_PTX_BELOW_1;
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
GT_INLINE uint32_t settle_texels(int32_t texels[GT_WARP_SIZE], int32_t n, enum gt_ptx_address_mode mode)
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
GT_INLINE void find_offsets(const struct gt_ptx_image *of, unsigned dimension, const int32_t texels[GT_WARP_SIZE],
			    uint64_t offsets[GT_WARP_SIZE])
{
	const struct gt_ptx_image image = *of; /* which the loops do not change */
	const uint32_t bytes = gt_ptx_texel_bytes(&image);

	for (int i = 0; i < GT_WARP_SIZE && dimension == 0; i++)
		offsets[i] = gt_ptx_column_offset(&image, (uint64_t)(uint32_t)texels[i] * bytes);
	for (int i = 0; i < GT_WARP_SIZE && dimension == 1; i++)
		offsets[i] = gt_ptx_row_offset(&image, (uint32_t)texels[i]);
	for (int i = 0; i < GT_WARP_SIZE && dimension == 2; i++)
		offsets[i] = gt_ptx_slice_offset(&image, (uint32_t)texels[i]);
}

/* The first texels of coordinates in texels, with their neighbours and the weights of these, which have a fraction beyond a float's. */
GT_INLINE void find_neighbours(const float x[GT_WARP_SIZE], struct axis *axis)
{
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const double at = (double)x[i] - 0.5;
		int32_t texel = (int32_t)at;
		texel -= (double)texel > at;
		axis->texels[0][i] = texel;
		axis->texels[1][i] = texel + 1;
		axis->weight[i] = (double)(int32_t)((at - (double)texel) * GT_PTX_WEIGHT_STEPS + 0.5);
	}
}

/* The texels of coordinates in texels. */
GT_INLINE void find_texels(const float x[GT_WARP_SIZE], int32_t texels[GT_WARP_SIZE])
{
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const int32_t texel = (int32_t)x[i];
		texels[i] = texel - ((float)texel > x[i]);
	}
}

GT_WIDE static void find_on_axis(const struct gt_ptx_texture *texture, unsigned dimension, int32_t n,
				 const float coordinates[GT_WARP_SIZE], struct axis *axis)
{
	enum gt_ptx_address_mode mode = gt_ptx_mode_of(texture, dimension);
	float x[GT_WARP_SIZE];

	for (int i = 0; i < GT_WARP_SIZE; i++)
		x[i] = coordinates[i];
	if (mode == GT_PTX_WRAP)
		wrap(x);
	for (int i = 0; i < GT_WARP_SIZE && texture->normalized; i++)
		x[i] *= (float)n;
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const float number = x[i] == x[i] ? x[i] : 0;
		const float below = number > FAR ? FAR : number;
		x[i] = below < -FAR ? -FAR : below;
	}
	if (texture->linear)
		find_neighbours(x, axis);
	else
		find_texels(x, axis->texels[0]);
	for (unsigned second = 0; second <= texture->linear; second++) {
		axis->inside[second] = settle_texels(axis->texels[second], n, mode);
		find_offsets(&texture->image, dimension, axis->texels[second], axis->offsets[second]);
	}
	/* What is clamped is at a texel, not between two. */
	for (int i = 0; i < GT_WARP_SIZE && texture->linear && mode == GT_PTX_CLAMP; i++)
		axis->weight[i] = axis->texels[0][i] == axis->texels[1][i] ? 0 : axis->weight[i];
}

/* A corner of all lanes: where it is, and which are inside. */
static void find_corner(unsigned dimensions, const struct axis axes[3], unsigned corner, struct texture_warp *points)
{
	uint64_t *offset = points->offset[corner];

	points->inside[corner] = UINT32_MAX;
	for (int i = 0; i < GT_WARP_SIZE; i++)
		offset[i] = 0;
	for (unsigned d = 0; d < dimensions; d++) {
		unsigned second = corner >> d & 1;
		points->inside[corner] &= axes[d].inside[second];
		for (int i = 0; i < GT_WARP_SIZE; i++)
			offset[i] += axes[d].offsets[second][i];
	}
}

/* Finds them. coordinates: of 32 lanes each. False if the texture is not of a kind for which this is done. */
static bool find_texture_warp(const struct gt_ptx_texture *texture, const float *const coordinates[3], struct texture_warp *points)
{
	const struct gt_ptx_image *image = &texture->image;
	const uint32_t extent[3] = {image->width, image->height, image->depth};
	struct axis axes[3];

	if (image->layered || image->cube || (texture->linear && gt_ptx_borders_row(texture)))
		return false;
	for (unsigned d = 0; d < image->dimensions; d++)
		if (gt_ptx_mode_of(texture, d) == GT_PTX_MIRROR)
			return false;
	for (unsigned d = 0; d < image->dimensions; d++)
		find_on_axis(texture, d, (int32_t)extent[d], coordinates[d], &axes[d]);
	points->n = texture->linear ? 1U << image->dimensions : 1;
	for (unsigned k = 0; k < points->n; k++)
		find_corner(image->dimensions, axes, k, points);
	double(*const weight)[GT_WARP_SIZE] = points->weight;
	for (unsigned d = image->dimensions; d < 3; d++)
		memset(axes[d].weight, 0, sizeof axes[d].weight);
	for (int i = 0; i < GT_WARP_SIZE && texture->linear; i++)
		gt_ptx_weights_of(points->n, GT_PTX_WEIGHT_STEPS, (const double[3]){axes[0].weight[i], axes[1].weight[i], axes[2].weight[i]},
				  (double *[8]){&weight[0][i], &weight[1][i], &weight[2][i], &weight[3][i], &weight[4][i], &weight[5][i],
						&weight[6][i], &weight[7][i]});
	return true;
}

/* ---- mip levels ---- */

/* The levels of mipmapped arrays: which one a fetch takes, or which two. */

/* The level that a fetch takes, or two and the weight of the second. */
struct mip_levels {
	const struct gt_ptx_texture *first, *second; /* second: NULL if its weight is 0 */
	double weight; /* in steps */
};

/* A level in steps, of which a GPU knows no fractions. */
static double level_steps(float level)
{
	return isnan(level) ? 0 : trunc(fmin(fmax((double)level, -1e6), 1e6) * GT_PTX_WEIGHT_STEPS);
}

static struct mip_levels mip_levels_at(const struct gt_ptx_texture *texture, float level)
{
	if (!texture->levels)
		return (struct mip_levels){texture, NULL, 0};
	const double last = (texture->n_levels - 1) * GT_PTX_WEIGHT_STEPS;
	/* The lower limit counts, if it is above the upper one. */
	double steps = fmin(level_steps(level) + level_steps(texture->bias), level_steps(texture->most));
	steps = fmin(fmax(fmax(steps, level_steps(texture->least)), 0), last);
	const unsigned lower = (unsigned)((steps + (texture->between ? 0 : GT_PTX_WEIGHT_STEPS / 2)) / GT_PTX_WEIGHT_STEPS);
	struct mip_levels between = {&texture->levels[lower], NULL, 0};
	if (texture->between)
		between.weight = steps - lower * GT_PTX_WEIGHT_STEPS;
	if (between.weight > 0)
		between.second = &texture->levels[lower + 1];
	return between;
}

/* As an H100 has the length of a step in texels: the longest part, 11/32 of the next and a quarter of the shortest. */
static double length_of(const double step[3])
{
	const double x = fabs(step[0]), y = fabs(step[1]), z = fabs(step[2]), longest = fmax(x, fmax(y, z)), shortest = fmin(x, fmin(y, z));

	return longest + (x + y + z - longest - shortest) * 11 / 32 + shortest / 4;
}

/* The logarithm of a length, in steps: the 8 bits behind the first are the index of a table of an H100, which has what exceeds a straight line. */
static double logarithm_of(double length)
{
	static const char excess[] = "abcccddeeeffggghhhiiijjjkkklllmmmmnnnnooooppppqqqqqrrrrrsssssstt"
				     "ttttuuuuuuuuvvvvvvvvvvvwwwwwwwwwwwwwwwwwwwwwwwwwxxxwwwwwwwwwwwww"
				     "wwwwwwwwwwwwwvvvvvvvvvvvvuuuuuuuuuttttttttssssssssrrrrrrqqqqqqpp"
				     "ppppooooonnnnnmmmmmlllllkkkkjjjjjiiiihhhhggggffffeeeeddddcccbbba";
	int exponent;
	const int place = (int)((2 * frexp(length, &exponent) - 1) * GT_PTX_WEIGHT_STEPS);

	return (exponent - 1) * GT_PTX_WEIGHT_STEPS + place + (excess[place] - 'a');
}

/* The level at which a step of one pixel is a step of one texel; gradients: of the coordinates, by x and y of the picture. The longest of both steps
 * and of 11/16 of the diagonals counts, as an H100 has it. */
static float mip_level_of(const struct gt_ptx_texture *texture, float gradients[2][3])
{
	const uint32_t extent[3] = {texture->image.width, texture->image.height, texture->image.depth};
	double steps[4][3] = {{0}};

	for (unsigned d = 0; d < texture->image.dimensions; d++) {
		for (unsigned by = 0; by < 2; by++)
			steps[by][d] = (double)(gradients[by][d] * (float)extent[d]);
		steps[2][d] = (steps[0][d] + steps[1][d]) * 11 / 16;
		steps[3][d] = (steps[0][d] - steps[1][d]) * 11 / 16;
	}
	const double longest = fmax(fmax(length_of(steps[0]), length_of(steps[1])), fmax(length_of(steps[2]), length_of(steps[3])));
	return longest > 0 && longest < HUGE_VAL ? (float)(logarithm_of(longest) / GT_PTX_WEIGHT_STEPS) : longest > 0 ? HUGE_VALF : -HUGE_VALF;
}

/* ---- steps ---- */

/* Fetches from textures, loads from and stores to surfaces. */

#define CORNERS 16 /* of two levels */

/* The texels that the lanes of a warp take: corner by corner, as they are traced. */
struct gathered {
	uint32_t masks[CORNERS]; /* lanes that have a texel there */
	uint64_t addresses[CORNERS][GT_WARP_SIZE];
	uint8_t bytes[GT_WARP_SIZE]; /* of a lane's texels */
};

/* The texture or surface of a lane, and its texels in this process; NULL after a fault. */
static const struct gt_ptx_texture *object_of(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
					      bool surface, unsigned char **texels)
{
	const struct gt_ptx_fetch *fetch = op->with.fetch;
	const struct gt_ptx_geometry *geometry = fetch->geometry;
	uint64_t handle = ((const uint64_t *)gt_ptx_lanes(warp, fetch->handle))[lane];
	const struct gt_ptx_texture *texture = gt_ptx_texture_of(warp->core->memory, handle);

	if (!texture || texture->surface != surface) {
		gt_ptx_fault(warp, op, lane, "0x%" PRIx64 " is no %s object", handle, surface ? "surface" : "texture");
		return NULL;
	}
	if (texture->row && geometry->dimensions == 1 && !geometry->layered)
		texture = texture->row; /* CUDA's sample volumeRender fetches so */
	const struct gt_ptx_image *image = &texture->image;
	/* To a surface, the faces of a cube are layers. */
	bool like = geometry->dimensions == image->dimensions &&
		    (surface ? geometry->layered == (image->layered || image->cube)
			     : geometry->layered == image->layered && geometry->cube == image->cube);
	if (!like) {
		gt_ptx_fault(warp, op, lane, "the %s object 0x%" PRIx64 " is not of the shape '%s'",
			     surface ? "surface" : "texture", handle, geometry->name);
		return NULL;
	}
	*texels = gt_ptx_at(warp->core->memory, image->address, image->bytes);
	if (!*texels)
		gt_ptx_fault(warp, op, lane, "the memory of the %s object 0x%" PRIx64 " has been freed",
			     surface ? "surface" : "texture", handle);
	return *texels ? texture : NULL;
}

/* One row a corner; where lanes have texels of several sizes, one a size. */
static int trace(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gathered *gathered,
		 enum gt_action action)
{
	if (!(warp->core->traced >> GT_TEXTURE & 1))
		return 0;
	for (unsigned k = 0; k < CORNERS; k++)
		for (uint32_t rest = gathered->masks[k]; rest;) {
			unsigned bytes = gathered->bytes[gt_ptx_lowest(rest)];
			uint32_t alike = 0;
			for (uint32_t m = rest; m; m &= m - 1)
				alike |= (uint32_t)(gathered->bytes[gt_ptx_lowest(m)] == bytes) << gt_ptx_lowest(m);
			rest &= ~alike;
			if (gt_ptx_trace(warp, op, alike, gt_op(action, GT_TEXTURE, GT_OPERATOR_NONE), 0, bytes,
					 gathered->addresses[k], 0, gt_ptx_stride_plain(gathered->addresses[k], alike)) != 0)
				return -1;
		}
	return 0;
}

static struct gt_ptx_spot spot_of(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, unsigned lane)
{
	struct gt_ptx_spot spot = {.texels = fetch->texels};

	for (unsigned d = 0; d < fetch->geometry->coordinates; d++)
		memcpy(fetch->texels ? (void *)&spot.at[d] : (void *)&spot.coordinates[d],
		       (const uint32_t *)gt_ptx_lanes(warp, fetch->coordinates[d]) + lane, sizeof spot.at[d]);
	if (fetch->layer)
		spot.layer = ((const uint32_t *)gt_ptx_lanes(warp, fetch->layer))[lane];
	return spot;
}

/* The corners in the order in which tld4 has them: counter-clockwise from the lower left, y going down. Values are those of the filter. */
static void gather(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint,
		   const unsigned char *texels, unsigned channel, uint32_t values[4])
{
	static const unsigned corners[4] = {2, 3, 1, 0};
	uint32_t of_corner[4];

	for (unsigned i = 0; i < 4; i++) {
		gt_ptx_read_corner(texture, footprint, corners[i], texels, of_corner);
		values[i] = gt_ptx_gathered(texture, channel, of_corner[channel]);
	}
}

static void put_values(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, unsigned lane, const uint32_t values[4])
{
	for (unsigned k = 0; k < 4; k++)
		if (fetch->values[k])
			((uint32_t *)gt_ptx_lanes(warp, fetch->values[k]))[lane] = values[k];
}

/* The level that a lane asks for. */
static float level_of(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, unsigned lane,
		      const struct gt_ptx_texture *texture)
{
	float gradients[2][3] = {{0}};

	if (fetch->level && fetch->texels)
		return (float)((const int32_t *)gt_ptx_lanes(warp, fetch->level))[lane];
	if (fetch->level)
		return ((const float *)gt_ptx_lanes(warp, fetch->level))[lane];
	if (!fetch->gradients[0][0])
		return 0;
	for (unsigned by = 0; by < 2; by++)
		for (unsigned d = 0; d < fetch->geometry->dimensions; d++)
			gradients[by][d] = ((const float *)gt_ptx_lanes(warp, fetch->gradients[by][d]))[lane];
	return mip_level_of(texture, gradients);
}

/* The texels of a lane in one level, whose weight is `whole`; they are the corners from `first` on. NULL if its memory has been freed. */
static const unsigned char *find_in_level(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, unsigned lane,
					  const struct gt_ptx_texture *texture, double whole, unsigned first, struct gathered *gathered,
					  struct gt_ptx_footprint *footprint)
{
	const struct gt_ptx_image *image = &texture->image;
	const unsigned char *texels = gt_ptx_at(warp->core->memory, image->address, image->bytes);
	struct gt_ptx_spot spot = spot_of(warp, fetch, lane);

	if (!texels)
		return NULL;
	gt_ptx_find_footprint(texture, &spot, fetch->gather != GT_PTX_NO_GATHER, whole, footprint);
	for (unsigned k = 0; k < footprint->n; k++) {
		gathered->masks[first + k] |= (footprint->inside >> k & 1) << lane;
		gathered->addresses[first + k][lane] = image->address + footprint->offset[k];
	}
	gathered->bytes[lane] = (uint8_t)gt_ptx_texel_bytes(image);
	return texels;
}

/* What one lane fetches; -1 if a level's memory has been freed. */
static int fetch_lane(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, unsigned lane,
		      const struct gt_ptx_texture *texture, struct gathered *gathered)
{
	const struct mip_levels between = mip_levels_at(texture, level_of(warp, fetch, lane, texture));
	const double weights[2] = {GT_PTX_WEIGHT_STEPS - between.weight, between.weight};
	const struct gt_ptx_texture *const levels[2] = {between.first, between.second};
	struct gt_ptx_footprint footprint;
	double sum[4] = {0};
	uint32_t values[4];

	for (unsigned i = 0; i < 2 && levels[i]; i++) {
		const unsigned char *texels =
			find_in_level(warp, fetch, lane, levels[i], weights[i], i * CORNERS / 2, gathered, &footprint);
		if (!texels)
			return -1;
		if (between.second)
			gt_ptx_add_footprint(levels[i], &footprint, texels, sum);
		else if (fetch->gather != GT_PTX_NO_GATHER)
			gather(levels[i], &footprint, texels, fetch->gather, values);
		else
			gt_ptx_read_footprint(levels[i], &footprint, texels, values);
	}
	if (between.second)
		gt_ptx_filtered(between.first, sum, values);
	put_values(warp, fetch, lane, values);
	return 0;
}

/* 1, 2 or 4 bytes. */
static inline uint32_t read_bits(const unsigned char *at, unsigned bytes)
{
	uint32_t word;
	uint16_t half;

	if (bytes == 1)
		return *at;
	if (bytes == 2) {
		memcpy(&half, at, sizeof half);
		return half;
	}
	memcpy(&word, at, sizeof word);
	return word;
}

/* A channel of texels that is not converted, of the lanes of a mask; 0 of those that are not inside. */
static void read_channels(const struct gt_ptx_image *image, unsigned channel, const unsigned char *texels, const uint64_t offset[GT_WARP_SIZE],
			  uint32_t mask, uint32_t inside, uint32_t *values)
{
	const unsigned char *from = texels + channel * image->channel_bytes;
	const unsigned bytes = image->channel_bytes;
	const uint32_t sign = image->kind == GT_PTX_CHANNEL_SIGNED ? UINT32_C(1) << (8 * bytes - 1) : 0;

	for (unsigned lane = 0; lane < GT_WARP_SIZE && (mask & inside) == UINT32_MAX && bytes == sizeof *values; lane++)
		memcpy(&values[lane], from + offset[lane], sizeof *values);
	if ((mask & inside) == UINT32_MAX && bytes == sizeof *values)
		return;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint32_t bits = inside >> lane & 1 ? read_bits(from + offset[lane], bytes) : 0;
		values[lane] = (bits ^ sign) - sign;
	}
}

/* All channels of a texel of each lane, as they are. */
static void read_texels(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, uint32_t mask, const struct gt_ptx_image *image,
			const unsigned char *texels, const uint64_t offset[GT_WARP_SIZE], uint32_t inside)
{
	for (unsigned k = 0; k < 4; k++)
		if (fetch->values[k])
			read_channels(image, k, texels, offset, mask, k < image->channels ? inside : 0, gt_ptx_lanes(warp, fetch->values[k]));
}

/* Whether a texel inside is read as its bits: neither scaled nor a half. */
static bool reads_bits(const struct gt_ptx_texture *texture)
{
	return !texture->scaled && (texture->image.kind != GT_PTX_CHANNEL_FLOAT || texture->image.channel_bytes == 4);
}

/* The weighed texels of each lane, of an image of floats of 32 bits of which all corners are inside, as gt_ptx_add_footprint adds them. */
static void filter_floats(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, uint32_t mask, const struct gt_ptx_texture *texture,
			  const unsigned char *texels, const struct texture_warp *points)
{
	double sums[GT_WARP_SIZE][4] = {{0}};
	float values[GT_WARP_SIZE] = {0};
	uint32_t filtered[4];

	for (unsigned c = 0; c < texture->image.channels; c++) {
		if (!fetch->values[c])
			continue;
		for (unsigned k = 0; k < points->n; k++) {
			uint32_t bits[GT_WARP_SIZE] = {0};
			read_channels(&texture->image, c, texels, points->offset[k], mask, UINT32_MAX, bits);
			memcpy(values, bits, sizeof values);
			for (int i = 0; i < GT_WARP_SIZE; i++)
				sums[i][c] += points->weight[k][i] == 0 ? 0 : points->weight[k][i] * (double)values[i];
		}
	}
	for (uint32_t m = mask; m; m &= m - 1) {
		gt_ptx_filtered(texture, sums[gt_ptx_lowest(m)], filtered);
		put_values(warp, fetch, gt_ptx_lowest(m), filtered);
	}
}

/* The lanes all of whose corners are inside. */
static uint32_t inside_of(const struct texture_warp *points)
{
	uint32_t inside = UINT32_MAX;

	for (unsigned k = 0; k < points->n; k++)
		inside &= points->inside[k];
	return inside;
}

/* What all lanes fetch from one texture. False if that has to be done lane by lane. */
static bool fetch_points(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, uint32_t mask,
			 const struct gt_ptx_texture *texture, const unsigned char *texels, struct gathered *gathered)
{
	const float *coordinates[3] = {0};
	struct texture_warp points;

	if (fetch->texels || fetch->gather != GT_PTX_NO_GATHER || texture->levels)
		return false;
	for (unsigned d = 0; d < fetch->geometry->coordinates; d++)
		coordinates[d] = gt_ptx_lanes(warp, fetch->coordinates[d]);
	if (!find_texture_warp(texture, coordinates, &points))
		return false;
	memset(gathered->bytes, (int)gt_ptx_texel_bytes(&texture->image), sizeof gathered->bytes);
	for (unsigned k = 0; k < points.n; k++) {
		gathered->masks[k] = mask & points.inside[k];
		for (int i = 0; i < GT_WARP_SIZE && (warp->core->traced >> GT_TEXTURE & 1); i++)
			gathered->addresses[k][i] = texture->image.address + points.offset[k][i];
	}
	const bool floats = texture->image.kind == GT_PTX_CHANNEL_FLOAT, inside = !(mask & ~inside_of(&points));
	if (points.n == 1 && reads_bits(texture) && (inside || !floats)) {
		read_texels(warp, fetch, mask, &texture->image, texels, points.offset[0], points.inside[0]);
		return true;
	}
	if (points.n > 1 && floats && reads_bits(texture) && inside) {
		filter_floats(warp, fetch, mask, texture, texels, &points);
		return true;
	}
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct gt_ptx_footprint footprint;
		uint32_t values[4];
		footprint.n = points.n;
		footprint.inside = 0;
		for (unsigned k = 0; k < points.n; k++) {
			footprint.inside |= (points.inside[k] >> lane & 1) << k;
			footprint.offset[k] = points.offset[k][lane];
			footprint.weight[k] = points.weight[k][lane];
		}
		gt_ptx_read_footprint(texture, &footprint, texels, values);
		put_values(warp, fetch, lane, values);
	}
	return true;
}

/* Whole texels of a row that are read as they are, which is what tex1Dfetch does, for all lanes at once. False if it is another fetch. */
static bool fetch_row(const struct gt_ptx_warp *warp, const struct gt_ptx_fetch *fetch, uint32_t mask, const struct gt_ptx_texture *texture,
		      const unsigned char *texels, struct gathered *gathered)
{
	const struct gt_ptx_image *image = &texture->image;
	const enum gt_ptx_address_mode mode = gt_ptx_mode_of(texture, 0);
	const bool has_border = mode == GT_PTX_BORDER;
	const uint32_t bytes = gt_ptx_texel_bytes(image);
	const int64_t last = (int64_t)image->width - 1;
	uint64_t offset[GT_WARP_SIZE];
	uint32_t inside = 0;

	if (!fetch->texels || fetch->gather != GT_PTX_NO_GATHER || texture->levels || image->dimensions != 1 || image->layered ||
	    !reads_bits(texture) || (has_border ? image->kind == GT_PTX_CHANNEL_FLOAT : mode != GT_PTX_CLAMP))
		return false;
	const int32_t *at = gt_ptx_lanes(warp, fetch->coordinates[0]);
	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const int64_t texel = at[i] < 0 ? 0 : at[i] > last ? last : at[i];
		inside |= (uint32_t)(!has_border || texel == at[i]) << i;
		offset[i] = (uint64_t)texel * bytes;
	}
	gathered->masks[0] = mask & inside;
	memset(gathered->bytes, (int)bytes, sizeof gathered->bytes);
	for (int i = 0; i < GT_WARP_SIZE && (warp->core->traced >> GT_TEXTURE & 1); i++)
		gathered->addresses[0][i] = image->address + offset[i];
	read_texels(warp, fetch, mask, image, texels, offset, inside);
	return true;
}

static const struct gt_ptx_op *fetch_texels(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_fetch *fetch = op->with.fetch;
	const uint64_t *handles = gt_ptx_lanes(warp, fetch->handle);
	const struct gt_ptx_texture *texture = NULL;
	unsigned char *texels = NULL;
	struct gathered gathered;

	memset(gathered.masks, 0, sizeof gathered.masks);
	for (uint32_t rest = mask; rest;) {
		unsigned first = gt_ptx_lowest(rest);
		uint32_t alike = 0;
		for (uint32_t m = rest; m; m &= m - 1)
			alike |= (uint32_t)(handles[gt_ptx_lowest(m)] == handles[first]) << gt_ptx_lowest(m);
		rest &= ~alike;
		texture = object_of(warp, op, first, false, &texels);
		if (!texture)
			return NULL;
		if (alike == mask && (fetch_row(warp, fetch, mask, texture, texels, &gathered) ||
				      fetch_points(warp, fetch, mask, texture, texels, &gathered)))
			break;
		for (uint32_t m = alike; m; m &= m - 1)
			if (fetch_lane(warp, fetch, gt_ptx_lowest(m), texture, &gathered) != 0)
				return gt_ptx_fault(warp, op, gt_ptx_lowest(m), "the memory of a level of the texture object 0x%" PRIx64
						    " has been freed", handles[first]);
	}
	if (fetch->resident)
		gt_ptx_set_predicate(warp, fetch->resident, mask, mask);
	return trace(warp, op, &gathered, GT_LOAD) != 0 ? NULL : op + 1;
}

/* Brings a coordinate into [0, limit]. False if it was not there and does not have to be. */
static bool settle_texel(int64_t *at, int64_t limit, enum gt_ptx_beyond beyond)
{
	bool inside = *at >= 0 && *at <= limit;

	*at = *at < 0 ? 0 : *at > limit ? limit : *at;
	return inside || beyond == GT_PTX_BEYOND_CLAMP;
}

/* Where a lane accesses a surface: 1, 0 if beyond its ends, or -1 after a fault. */
static int place_on_surface(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, unsigned char **place,
			    uint64_t *address)
{
	const struct gt_ptx_fetch *fetch = op->with.fetch;
	struct gt_ptx_spot spot = spot_of(warp, fetch, lane);
	unsigned char *texels;
	const struct gt_ptx_texture *texture = object_of(warp, op, lane, true, &texels);
	int64_t bytes = fetch->size * fetch->n, at[3] = {spot.at[0], 0, fetch->layer ? (int64_t)spot.layer : 0};

	if (!texture)
		return -1;
	const struct gt_ptx_image *image = &texture->image;
	for (unsigned d = 1; d < image->dimensions; d++)
		at[d] = spot.at[d];
	int64_t row = (int64_t)image->width * gt_ptx_texel_bytes(image);
	if (at[0] % bytes != 0 || bytes > row) {
		gt_ptx_fault(warp, op, lane,
			     "an access of %" PRId64 " bytes at byte %" PRId64 " of a surface's row of %" PRId64
			     " bytes: a multiple of its size expected, and a row that holds it",
			     bytes, at[0], row);
		return -1;
	}
	bool inside = settle_texel(&at[0], row / bytes * bytes - bytes, fetch->beyond);
	inside = settle_texel(&at[1], image->height - 1, fetch->beyond) && inside;
	inside = settle_texel(&at[2], image->depth - 1, fetch->beyond) && inside;
	if (!inside && fetch->beyond == GT_PTX_BEYOND_TRAP) {
		gt_ptx_fault(warp, op, lane,
			     "an access of %" PRId64 " bytes at byte %d beyond a surface of %u by %u by %u texels of %u bytes",
			     bytes, spot.at[0], image->width, image->height, image->depth, gt_ptx_texel_bytes(image));
		return -1;
	}
	uint64_t offset = gt_ptx_image_offset(image, (uint64_t)at[0], (uint64_t)at[1], (uint64_t)at[2]);
	*place = texels + offset;
	*address = image->address + offset;
	return inside;
}

/* Moves what each lane has there; the lanes beyond the ends load zeros and store nothing. */
static const struct gt_ptx_op *access_surface(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
					      enum gt_action action)
{
	const struct gt_ptx_fetch *fetch = op->with.fetch;
	struct gathered gathered;

	memset(gathered.masks, 0, sizeof gathered.masks);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		unsigned char *place;
		int inside = place_on_surface(warp, op, lane, &place, &gathered.addresses[0][lane]);
		if (inside < 0)
			return NULL;
		gathered.masks[0] |= (uint32_t)inside << lane;
		gathered.bytes[lane] = (uint8_t)(fetch->size * fetch->n);
		for (unsigned k = 0; k < fetch->n; k++) {
			unsigned char *value =
				fetch->values[k] ? (unsigned char *)gt_ptx_lanes(warp, fetch->values[k]) + lane * fetch->size : NULL;
			if (action == GT_STORE && inside)
				memcpy(place + k * fetch->size, value, fetch->size);
			else if (action == GT_LOAD && value && inside)
				memcpy(value, place + k * fetch->size, fetch->size);
			else if (action == GT_LOAD && value)
				memset(value, 0, fetch->size);
		}
	}
	return trace(warp, op, &gathered, action) != 0 ? NULL : op + 1;
}

static const struct gt_ptx_op *load_surface(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return access_surface(warp, op, mask, GT_LOAD);
}

static const struct gt_ptx_op *store_surface(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return access_surface(warp, op, mask, GT_STORE);
}

static const struct gt_ptx_op *query_image(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_fetch *fetch = op->with.fetch;
	const uint64_t *handles = gt_ptx_lanes(warp, fetch->handle);
	uint32_t *values = gt_ptx_lanes(warp, fetch->values[0]);

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		const struct gt_ptx_texture *texture = gt_ptx_texture_of(warp->core->memory, handles[lane]);
		if (!texture)
			return gt_ptx_fault(warp, op, lane, "0x%" PRIx64 " is no texture or surface object", handles[lane]);
		const struct gt_ptx_image *image = &texture->image;
		bool layers = image->layered || image->cube;
		const uint32_t figures[GT_PTX_FIGURES] = {
			[GT_PTX_FIGURE_WIDTH] = image->width,
			[GT_PTX_FIGURE_HEIGHT] = image->dimensions > 1 ? image->height : 0,
			[GT_PTX_FIGURE_DEPTH] = image->dimensions > 2 ? image->depth : 0,
			[GT_PTX_FIGURE_LAYERS] = !layers ? 0 : image->cube && !texture->surface ? image->depth / 6 : image->depth,
		};
		values[lane] = figures[fetch->figure];
	}
	return op + 1;
}

const struct gt_ptx_texture_steps gt_ptx_texture_steps = {
	.fetch = fetch_texels,
	.load_surface = load_surface,
	.store_surface = store_surface,
	.query = query_image,
};
