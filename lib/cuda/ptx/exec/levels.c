/* SPDX-License-Identifier: MIT */
/* The levels of mipmapped arrays: which one a fetch takes, or which two. */
#include <math.h>

#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/exec/texture.h"

struct gt_ptx_between gt_ptx_levels_at(const struct gt_ptx_texture *texture, float level)
{
	if (!texture->levels)
		return (struct gt_ptx_between){texture, NULL, 0};
	float last = (float)(texture->n_levels - 1);
	level = isnan(level) ? 0 : level + texture->bias;
	level = level < texture->least ? texture->least : level > texture->most ? texture->most : level;
	level = level < 0 ? 0 : level > last ? last : level;
	unsigned lower = (unsigned)(level + (texture->between ? 0 : 0.5F));
	if (lower >= texture->n_levels)
		lower = texture->n_levels - 1U;
	struct gt_ptx_between between = {&texture->levels[lower], NULL, 0};
	if (texture->between)
		between.weight = floor(((double)level - lower) * GT_PTX_WEIGHT_STEPS + 0.5) / GT_PTX_WEIGHT_STEPS;
	if (between.weight > 0)
		between.second = &texture->levels[lower + 1];
	return between;
}

float gt_ptx_level_of(const struct gt_ptx_texture *texture, float gradients[2][3])
{
	const uint32_t extent[3] = {texture->image.width, texture->image.height, texture->image.depth};
	float longest = 0;

	for (unsigned by = 0; by < 2; by++) {
		float square = 0;
		for (unsigned d = 0; d < texture->image.dimensions; d++) {
			float texels = gradients[by][d] * (float)extent[d];
			square += texels * texels;
		}
		longest = square > longest ? square : longest;
	}
	return longest > 0 ? log2f(longest) / 2 : -HUGE_VALF;
}

void gt_ptx_mix(uint32_t values[4], const uint32_t others[4], double weight)
{
	for (unsigned c = 0; c < 4; c++)
		values[c] = gt_ptx_to_bits((float)((1 - weight) * (double)gt_ptx_from_bits(values[c]) +
					    weight * (double)gt_ptx_from_bits(others[c])));
}
