/* SPDX-License-Identifier: MIT */
/* Sobol's sequence of 32 bits, in Gray code's order (Bratley and Fox, Algorithm 659, 1988), with the direction numbers of Joe and Kuo
 * ("Constructing Sobol Sequences with Better Two-Dimensional Projections", 2008, new-joe-kuo-6), which are cuRAND's. */
#include "cuda/plugins/curand/curand.h"

/* Of each dimension but the first: the degree of its polynomial, the polynomial's inner coefficients, and its first numbers. */
static const struct {
	unsigned degree, coefficients;
	uint32_t first[7];
} dimensions[GT_SOBOL_DIMENSIONS - 1] = {
	{1, 0, {1}},
	{2, 1, {1, 3}},
	{3, 1, {1, 3, 1}},
	{3, 2, {1, 1, 1}},
	{4, 1, {1, 1, 3, 3}},
	{4, 4, {1, 3, 5, 13}},
	{5, 2, {1, 1, 5, 5, 17}},
	{5, 4, {1, 1, 5, 5, 5}},
	{5, 7, {1, 1, 7, 11, 19}},
	{5, 11, {1, 1, 5, 1, 1}},
	{5, 13, {1, 1, 1, 3, 11}},
	{5, 14, {1, 3, 5, 5, 31}},
	{6, 1, {1, 3, 3, 9, 7, 49}},
	{6, 13, {1, 1, 1, 15, 21, 21}},
	{6, 16, {1, 3, 1, 13, 27, 49}},
	{6, 19, {1, 1, 1, 15, 7, 5}},
	{6, 22, {1, 3, 1, 15, 13, 25}},
	{6, 25, {1, 1, 5, 5, 19, 61}},
	{7, 1, {1, 3, 7, 11, 23, 15, 103}},
	{7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

void gt_sobol_directions(unsigned dimension, uint32_t of[GT_SOBOL_BITS])
{
	const unsigned degree = dimension == 0 ? GT_SOBOL_BITS : dimensions[dimension - 1].degree;

	for (unsigned bit = 0; bit < GT_SOBOL_BITS; bit++) {
		if (bit < degree) {
			of[bit] = (dimension == 0 ? 1 : dimensions[dimension - 1].first[bit]) << (GT_SOBOL_BITS - 1 - bit);
			continue;
		}
		of[bit] = of[bit - degree] ^ of[bit - degree] >> degree;
		for (unsigned term = 1; term < degree; term++)
			if (dimensions[dimension - 1].coefficients >> (degree - 1 - term) & 1)
				of[bit] ^= of[bit - term];
	}
}

uint32_t gt_sobol_at(const uint32_t of[GT_SOBOL_BITS], uint64_t i)
{
	const uint32_t index = (uint32_t)i, code = index ^ index >> 1;
	uint32_t number = 0;

	for (unsigned bit = 0; bit < GT_SOBOL_BITS; bit++)
		number ^= code >> bit & 1 ? of[bit] : 0;
	return number;
}
