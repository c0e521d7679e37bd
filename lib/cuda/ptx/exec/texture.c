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
	double weight; /* in steps */
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
		axis->weight = gt_ptx_whole_steps((at - (double)axis->texel[0]) * GT_PTX_WEIGHT_STEPS);
		settle(axis, 1, mode, n);
	}
	settle(axis, 0, mode, n);
	/* What is clamped is at a texel, not between two. */
	if (neighbours && mode == GT_PTX_CLAMP && axis->texel[0] == axis->texel[1])
		axis->weight = 0;
}

/* The face of a cube that a direction meets, and where (the guide's section "Cubemap Textures"). Where two
 * coordinates are equally large, which the guide leaves open, z comes before y and y before x, as on an H100. */
static uint32_t find_face(const float direction[3], float at[2])
{
	float x = direction[0], y = direction[1], z = direction[2];
	float major, s, t;
	uint32_t face;

	if (fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y)) {
		face = signbit(z) ? 5 : 4;
		major = z;
		s = signbit(z) ? -x : x;
		t = -y;
	} else if (fabsf(y) >= fabsf(x)) {
		face = signbit(y) ? 3 : 2;
		major = y;
		s = x;
		t = signbit(y) ? -z : z;
	} else {
		face = signbit(x) ? 1 : 0;
		major = x;
		s = signbit(x) ? z : -z;
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

/* A corner of the footprint: its texel, and whether it is inside. */
static void add_corner(struct gt_ptx_footprint *footprint, const struct gt_ptx_image *image, const struct axis axes[3], unsigned dimensions,
		       unsigned corner, uint64_t layer)
{
	uint64_t at[3] = {0, 0, layer};
	bool inside = true;

	for (unsigned d = 0; d < dimensions; d++) {
		unsigned second = corner >> d & 1;
		at[d] = (uint64_t)axes[d].texel[second];
		inside = inside && axes[d].inside[second];
	}
	footprint->inside |= (uint32_t)inside << corner;
	footprint->offset[corner] =
		inside ? gt_ptx_image_offset(image, at[0] * gt_ptx_texel_bytes(image), at[1], at[2]) : 0;
}

void gt_ptx_find_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_spot *spot, bool bilinear, double whole,
			   struct gt_ptx_footprint *footprint)
{
	const struct gt_ptx_image *image = &texture->image;
	const uint32_t extent[3] = {image->width, image->height, image->depth};
	bool neighbours = bilinear || (texture->linear && !spot->texels);
	const float *coordinates = spot->coordinates;
	uint64_t layer = image->layered ? least(spot->layer, image->depth - 1) : 0;
	float on_face[2];
	double *const weights = footprint->weight;
	struct axis axes[3] = {{.weight = 0}, {.weight = 0}, {.weight = 0}};

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
		axes[dimensions++] = (struct axis){.texel = {-1, 0}, .inside = {false, true}, .weight = GT_PTX_WEIGHT_STEPS / 2};
	footprint->n = neighbours ? 1U << dimensions : 1;
	footprint->inside = 0;
	for (unsigned k = 0; k < footprint->n; k++)
		add_corner(footprint, image, axes, dimensions, k, layer);
	gt_ptx_weights_of(footprint->n, whole, (const double[3]){axes[0].weight, axes[1].weight, axes[2].weight},
			  (double *[8]){&weights[0], &weights[1], &weights[2], &weights[3], &weights[4], &weights[5], &weights[6], &weights[7]});
}

/* ---- what they are ---- */

static bool reads_floats(const struct gt_ptx_texture *texture)
{
	return texture->image.kind == GT_PTX_CHANNEL_FLOAT || texture->scaled;
}

/* Integers are filtered as such, but for those that sRGB makes floats of. */
static bool filters_integers(const struct gt_ptx_texture *texture, unsigned channel)
{
	return texture->scaled && !(texture->srgb && channel < 3) && texture->image.kind != GT_PTX_CHANNEL_FLOAT;
}

/* IEC 61966-2-1, with the 8 bits that an H100 keeps, of which the last is worth 2^-14 at least. Some of its values are one more or less. */
static float from_srgb(unsigned byte)
{
	static const unsigned char more[] = {33, 66, 184, 186, 252, 253}, less[] = {32, 65, 68, 70, 97, 249, 250, 251};
	const double part = byte / 255.0, value = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
	int exponent;

	frexp(value, &exponent);
	const int last = exponent - 8 > -14 ? exponent - 8 : -14, off = (memchr(more, (int)byte, sizeof more) != NULL) - (memchr(less, (int)byte, sizeof less) != NULL);
	return (float)ldexp(gt_ptx_whole_steps(ldexp(value, -last)) + off, last);
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
		return gt_ptx_to_bits(texture->srgb && channel < 3 ? from_srgb(bits) : part);
	}
	float value = (float)(int32_t)bits / (float)(sign - 1);
	return gt_ptx_to_bits(value < -1 ? -1 : value);
}

/* The border's colour as a texel would have it: to the nearest, of two the one that is nearer to 0. */
static float border_of(const struct gt_ptx_texture *texture, unsigned channel)
{
	const struct gt_ptx_image *image = &texture->image;
	const bool is_signed = image->kind == GT_PTX_CHANNEL_SIGNED;
	const float colour = texture->border[channel];

	if (channel >= image->channels)
		return 0;
	if (image->kind == GT_PTX_CHANNEL_FLOAT)
		return image->channel_bytes == 2 ? gt_ptx_from_half(gt_ptx_to_half((double)colour, GT_PTX_RN)) : colour;
	const float steps = (float)((UINT32_C(1) << (8 * image->channel_bytes - is_signed)) - 1);
	const float part = !(fabsf(colour) < 1) ? 1 : fabsf(colour);
	const float nearest = ceilf(part * steps - 0.5F) + 0.0F; /* 0 is no -0 */

	return signbit(colour) ? is_signed ? 0.0F - nearest / steps : 0 : nearest / steps;
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

/* A number of steps of an integer's format as the filter of an H100 has it: in steps of 16 bits, of signed bytes with three bits of fraction. */
static double to_filter(const struct gt_ptx_image *image, double steps)
{
	if (image->channel_bytes == 2)
		return steps;
	return image->kind == GT_PTX_CHANNEL_SIGNED ? floor(steps * 8 * 32767 / 127) / 8 : steps * 257;
}

/* A value of a corner as the filter has it; `texel`: that of the channel, or NULL. The least signed byte, which is -1 as a value, is less here. */
static double value_to_filter(const struct gt_ptx_texture *texture, unsigned channel, const unsigned char *texel, uint32_t bits)
{
	const struct gt_ptx_image *image = &texture->image;
	const bool is_signed = image->kind == GT_PTX_CHANNEL_SIGNED;
	const double value = (double)gt_ptx_from_bits(bits);

	if (!filters_integers(texture, channel))
		return value;
	if (is_signed && image->channel_bytes == 1 && texel && *texel == 0x80)
		return to_filter(image, -128);
	return to_filter(image, gt_ptx_whole_steps(value * ((UINT32_C(1) << (8 * image->channel_bytes - is_signed)) - 1)));
}

/* A value with so many bits, of two the one that is farther from 0. */
static float with_bits(double value, unsigned bits)
{
	union { double value; uint64_t bits; } u = {value};
	const uint64_t unit = UINT64_C(1) << (53 - bits);

	if (!(fabs(value) >= 0x1p-126 && fabs(value) < 0x1p127))
		return (float)value;
	u.bits = (u.bits + unit / 2) & ~(unit - 1);
	return (float)u.value;
}

/* The sum of weighed values as a float, as an H100 rounds it: of integers to a whole step of 16 bits, of sRGB and halves to the bits of a half. */
static float from_filter(const struct gt_ptx_texture *texture, unsigned channel, double sum)
{
	if (!filters_integers(texture, channel))
		return with_bits(sum, texture->srgb || texture->image.channel_bytes == 2 ? 11 : 24);
	const bool is_signed = texture->image.kind == GT_PTX_CHANNEL_SIGNED;
	return (float)fmax(floor(sum + 0.5), -32767) / (is_signed ? 32767.0F : 65535.0F);
}

void gt_ptx_filtered(const struct gt_ptx_texture *texture, const double sum[4], uint32_t values[4])
{
	for (unsigned c = 0; c < 4; c++)
		values[c] = c < texture->image.channels ? gt_ptx_to_bits(from_filter(texture, c, sum[c] / GT_PTX_WEIGHT_STEPS)) : 0;
}

uint32_t gt_ptx_gathered(const struct gt_ptx_texture *texture, unsigned channel, uint32_t value)
{
	if (!filters_integers(texture, channel))
		return value;
	return gt_ptx_to_bits(from_filter(texture, channel, value_to_filter(texture, channel, NULL, value)));
}

void gt_ptx_add_footprint(const struct gt_ptx_texture *texture, const struct gt_ptx_footprint *footprint, const unsigned char *texels,
			  double sum[4])
{
	const struct gt_ptx_image *image = &texture->image;
	const bool inside = footprint->inside == (UINT32_C(1) << footprint->n) - 1;
	uint32_t values[4];

	for (unsigned k = 0; k < footprint->n; k++) {
		if (footprint->weight[k] == 0) /* not even of what is infinite */
			continue;
		if (!inside)
			gt_ptx_read_corner(texture, footprint, k, texels, values);
		for (unsigned c = 0; c < image->channels && inside; c++)
			values[c] = read_channel(texture, texels + footprint->offset[k] + c * image->channel_bytes, c);
		for (unsigned c = 0; c < (inside ? image->channels : 4U); c++) {
			const unsigned char *texel = inside ? texels + footprint->offset[k] + c * image->channel_bytes : NULL;
			sum[c] += footprint->weight[k] * value_to_filter(texture, c, texel, values[c]);
		}
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
	gt_ptx_add_footprint(texture, footprint, texels, sum);
	gt_ptx_filtered(texture, sum, values);
}
