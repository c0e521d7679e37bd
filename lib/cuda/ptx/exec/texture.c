/* SPDX-License-Identifier: MIT */
/* Textures and surfaces: how an image lies in memory, the objects that a device knows, and the texels that a fetch from a texture
 * takes, with their weights. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/texture.h"

/* ---- images ---- */

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

/* ---- objects, and the texels of a fetch ---- */

/* ---- the objects of a memory ---- */

static void discard(struct gt_ptx_texture *texture)
{
	if (texture) {
		free(texture->levels);
		free(texture->row);
	}
	free(texture);
}

static bool is_row(const struct gt_ptx_texture *texture)
{
	const struct gt_ptx_image *image = &texture->image;

	return image->dimensions == 2 && image->height == 1 && !image->layered && !image->cube && !texture->surface &&
	       !texture->levels;
}

/* A copy of so many textures; NULL when memory is short. */
static struct gt_ptx_texture *copy_of(const struct gt_ptx_texture *texture, size_t n)
{
	struct gt_ptx_texture *copy = malloc(n * sizeof *copy);

	if (copy)
		memcpy(copy, texture, n * sizeof *copy);
	return copy;
}

int gt_ptx_texture_add(struct gt_ptx_memory *memory, const struct gt_ptx_texture *texture, uint64_t *handle)
{
	struct gt_ptx_texture **grown =
		gt_grown(memory->textures, memory->n_textures, &memory->textures_capacity, sizeof *grown);
	if (!grown)
		return -1;
	memory->textures = grown;
	struct gt_ptx_texture *added = copy_of(texture, 1);
	if (!added)
		return -1;
	added->levels = texture->levels ? copy_of(texture->levels, texture->n_levels) : NULL;
	added->row = is_row(texture) ? copy_of(texture, 1) : NULL;
	if (added->row)
		added->row->image.dimensions = 1;
	if ((texture->levels && !added->levels) || (is_row(texture) && !added->row)) {
		discard(added);
		return -1;
	}
	memory->textures[memory->n_textures++] = added;
	*handle = memory->n_textures;
	return 0;
}

const struct gt_ptx_texture *gt_ptx_texture_of(const struct gt_ptx_memory *memory, uint64_t handle)
{
	return handle - 1 < memory->n_textures ? memory->textures[handle - 1] : NULL;
}

bool gt_ptx_texture_remove(struct gt_ptx_memory *memory, uint64_t handle)
{
	if (!gt_ptx_texture_of(memory, handle))
		return false;
	discard(memory->textures[handle - 1]);
	memory->textures[handle - 1] = NULL;
	return true;
}

void gt_ptx_textures_free(struct gt_ptx_memory *memory)
{
	for (size_t i = 0; i < memory->n_textures; i++)
		discard(memory->textures[i]);
	free(memory->textures);
	memory->textures = NULL;
	memory->n_textures = memory->textures_capacity = 0;
}

/* ---- which texels ---- */

/* One dimension of a footprint: its texels, whether they are there, the weight of the second. */
struct axis {
	int64_t texel[2];
	bool inside[2];
	double weight;
};

static int64_t floor_of(double x)
{
	int64_t i = (int64_t)x;

	return i - ((double)i > x);
}

/* The texel that stands for the one of that number, of n. */
static void settle(struct axis *axis, unsigned which, enum gt_ptx_address_mode mode, int64_t n)
{
	int64_t i = axis->texel[which];
	bool inside = i >= 0 && i < n;

	axis->inside[which] = mode != GT_PTX_BORDER || inside;
	if (inside)
		return;
	if (mode == GT_PTX_WRAP)
		i = (i % n + n) % n;
	else if (mode == GT_PTX_MIRROR) {
		i = (i % (2 * n) + 2 * n) % (2 * n);
		i = i < n ? i : 2 * n - 1 - i;
	} else
		i = i < 0 ? 0 : n - 1;
	axis->texel[which] = i;
}

/* Where a coordinate is, in texels; what is beyond all images stays there. Texels are numbered before they are wrapped or mirrored: what
 * is just below 0 is in the last one. */
static double position(const struct gt_ptx_texture *texture, float x, uint32_t n, enum gt_ptx_address_mode mode)
{
	if (texture->normalized) {
		/* Floats of this size are even; the others' whole parts are found without a call. */
		const float period = mode == GT_PTX_MIRROR ? 2 : 1;
		const float whole = fabsf(x) < 0x1p25f ? period * (float)floor_of((double)x / (double)period) : x;
		if (mode == GT_PTX_WRAP || mode == GT_PTX_MIRROR)
			x = x - whole < period ? x - whole : period * GT_PTX_BELOW_1;
		x *= (float)n;
	}
	return isnan(x) ? 0 : x < -0x1p30f ? -0x1p30 : x > 0x1p30f ? 0x1p30 : (double)x;
}

/* The axis of a dimension at the coordinate x, with the texel's neighbour or alone. */
static void find_axis(struct axis *axis, const struct gt_ptx_texture *texture, unsigned dimension, uint32_t n, float x,
		      bool neighbours)
{
	enum gt_ptx_address_mode mode = gt_ptx_mode_of(texture, dimension);
	double at = position(texture, x, n, mode) - (neighbours ? 0.5 : 0);

	axis->texel[0] = floor_of(at);
	if (neighbours) {
		axis->texel[1] = axis->texel[0] + 1;
		axis->weight = (double)(int64_t)((at - (double)axis->texel[0]) * GT_PTX_WEIGHT_STEPS + 0.5) / GT_PTX_WEIGHT_STEPS;
		settle(axis, 1, mode, n);
	}
	settle(axis, 0, mode, n);
}

/* The face of a cube that a direction meets, and where (the guide's section "Cubemap Textures"). Where two
 * coordinates are equally large, which the guide leaves open, x comes before y and y before z. */
static uint32_t find_face(const float direction[3], float at[2])
{
	float x = direction[0], y = direction[1], z = direction[2];
	float major, s, t;
	uint32_t face;

	if (fabsf(x) >= fabsf(y) && fabsf(x) >= fabsf(z)) {
		face = signbit(x) ? 1 : 0;
		major = x;
		s = signbit(x) ? z : -z;
		t = -y;
	} else if (fabsf(y) >= fabsf(z)) {
		face = signbit(y) ? 3 : 2;
		major = y;
		s = x;
		t = signbit(y) ? -z : z;
	} else {
		face = signbit(z) ? 5 : 4;
		major = z;
		s = signbit(z) ? -x : x;
		t = -y;
	}
	at[0] = (s / fabsf(major) + 1) / 2;
	at[1] = (t / fabsf(major) + 1) / 2;
	return face;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A corner of the footprint: its texel, whether it is inside, its weight. */
static void add_corner(struct gt_ptx_footprint *footprint, const struct gt_ptx_image *image, const struct axis axes[3], unsigned dimensions,
		       unsigned corner, uint64_t layer)
{
	uint64_t at[3] = {0, 0, layer};
	bool inside = true;
	double weight = 1;

	for (unsigned d = 0; d < dimensions; d++) {
		unsigned second = corner >> d & 1;
		at[d] = (uint64_t)axes[d].texel[second];
		inside = inside && axes[d].inside[second];
		if (footprint->n > 1)
			weight *= second ? axes[d].weight : 1 - axes[d].weight;
	}
	footprint->weight[corner] = weight;
	footprint->inside |= (uint32_t)inside << corner;
	footprint->offset[corner] =
		inside ? gt_ptx_image_offset(image, at[0] * gt_ptx_texel_bytes(image), at[1], at[2]) : 0;
}

void gt_ptx_find_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_spot *spot, bool bilinear,
			   struct gt_ptx_footprint *footprint)
{
	const struct gt_ptx_image *image = &texture->image;
	const uint32_t extent[3] = {image->width, image->height, image->depth};
	bool neighbours = bilinear || (texture->linear && !spot->texels);
	const float *coordinates = spot->coordinates;
	uint64_t layer = image->layered ? least(spot->layer, image->depth - 1) : 0;
	float on_face[2];
	struct axis axes[3];

	if (image->cube) {
		layer = image->layered ? 6 * (uint64_t)least(spot->layer, image->depth / 6 - 1) : 0;
		layer += find_face(coordinates, on_face);
		coordinates = on_face;
	}
	for (unsigned d = 0; d < image->dimensions; d++) {
		if (spot->texels) {
			axes[d].texel[0] = spot->at[d];
			settle(&axes[d], 0, gt_ptx_mode_of(texture, d), extent[d]);
		} else {
			find_axis(&axes[d], texture, d, extent[d], coordinates[d], neighbours);
		}
	}
	unsigned dimensions = image->dimensions;
	if (neighbours && gt_ptx_borders_row(texture))
		axes[dimensions++] = (struct axis){.texel = {-1, 0}, .inside = {false, true}, .weight = 0.5};
	footprint->n = neighbours ? 1U << dimensions : 1;
	footprint->inside = 0;
	for (unsigned k = 0; k < footprint->n; k++)
		add_corner(footprint, image, axes, dimensions, k, layer);
	double *const weights = footprint->weight;
	if (footprint->n == 4)
		gt_ptx_weights_of_4(axes[0].weight, axes[1].weight, (double *[]){weights, weights + 1, weights + 2, weights + 3});
}

/* ---- what they are ---- */

static bool reads_floats(const struct gt_ptx_texture *texture)
{
	return texture->image.kind == GT_PTX_CHANNEL_FLOAT || texture->scaled;
}

/* IEC 61966-2-1 */
static float from_srgb(float value)
{
	return value <= 0.04045F ? value / 12.92F : (float)pow(((double)value + 0.055) / 1.055, 2.4);
}

static uint32_t read_channel(const struct gt_ptx_texture *texture, const unsigned char *at, unsigned channel)
{
	const unsigned bytes = texture->image.channel_bytes;
	uint32_t bits = 0;

	memcpy(&bits, at, bytes);
	if (texture->image.kind == GT_PTX_CHANNEL_FLOAT)
		return bytes == 2 ? gt_ptx_to_bits(gt_ptx_from_half((uint16_t)bits)) : bits;
	uint32_t sign = UINT32_C(1) << (8 * bytes - 1);
	if (texture->image.kind == GT_PTX_CHANNEL_SIGNED)
		bits = (bits ^ sign) - sign;
	if (!texture->scaled)
		return bits;
	if (texture->image.kind == GT_PTX_CHANNEL_UNSIGNED) {
		float part = (float)bits / (float)(2 * (sign - 1) + 1);
		return gt_ptx_to_bits(texture->srgb && channel < 3 ? from_srgb(part) : part);
	}
	float value = (float)(int32_t)bits / (float)(sign - 1);
	return gt_ptx_to_bits(value < -1 ? -1 : value);
}

/* The border's colour as a texel would have it: to the nearest, of two the one that is nearer to 0. */
static float border_of(const struct gt_ptx_texture *texture, unsigned channel)
{
	const struct gt_ptx_image *image = &texture->image;
	const bool is_signed = image->kind == GT_PTX_CHANNEL_SIGNED;
	const float colour = texture->border[channel], steps = (float)((UINT32_C(1) << (8 * image->channel_bytes - is_signed)) - 1);

	if (channel >= image->channels)
		return 0;
	if (image->kind == GT_PTX_CHANNEL_FLOAT)
		return image->channel_bytes == 2 ? gt_ptx_from_half(gt_ptx_to_half((double)colour, GT_PTX_RN)) : colour;
	const float part = !(fabsf(colour) < 1) ? 1 : fabsf(colour);
	return signbit(colour) ? is_signed ? -ceilf(part * steps - 0.5F) / steps : 0 : ceilf(part * steps - 0.5F) / steps;
}

void gt_ptx_read_corner(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint, unsigned corner,
			const unsigned char *texels, uint32_t values[4])
{
	const struct gt_ptx_image *image = &texture->image;
	bool floats = reads_floats(texture);

	for (unsigned c = 0; c < 4; c++) {
		if (!(footprint->inside >> corner & 1))
			values[c] = floats ? gt_ptx_to_bits(border_of(texture, c)) : 0;
		else if (c < image->channels)
			values[c] = read_channel(texture, texels + footprint->offset[corner] + c * image->channel_bytes, c);
		else
			values[c] = 0;
	}
}

void gt_ptx_read_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint,
			   const unsigned char *texels, uint32_t values[4])
{
	double sum[4] = {0};

	if (footprint->n == 1) {
		gt_ptx_read_corner(texture, footprint, 0, texels, values);
		return;
	}
	const struct gt_ptx_image *image = &texture->image;
	bool inside = footprint->inside == (UINT32_C(1) << footprint->n) - 1;
	for (unsigned k = 0; k < footprint->n; k++) {
		if (footprint->weight[k] == 0) /* not even of what is infinite */
			continue;
		if (!inside)
			gt_ptx_read_corner(texture, footprint, k, texels, values);
		for (unsigned c = 0; c < image->channels && inside; c++)
			values[c] = read_channel(texture, texels + footprint->offset[k] + c * image->channel_bytes, c);
		for (unsigned c = 0; c < (inside ? image->channels : 4U); c++)
			sum[c] += footprint->weight[k] * (double)gt_ptx_from_bits(values[c]);
	}
	for (unsigned c = 0; c < 4; c++)
		values[c] = gt_ptx_to_bits((float)sum[c]);
}
