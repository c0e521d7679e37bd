/* SPDX-License-Identifier: MIT */
/* Floats of 16 bits, through double: f16 (5 bits of exponent, 10 of fraction) and bf16 (8 and 7).
 * One rounding each way, in any of PTX's directions. */
#ifndef GT_PTX_HALF_H
#define GT_PTX_HALF_H

#include <stdint.h>
#include <string.h>

enum gt_ptx_rounding {
	GT_PTX_AS_IT_IS,	/* no rounding given */
	GT_PTX_RN, GT_PTX_RZ, GT_PTX_RM, GT_PTX_RP, /* to nearest even, to zero, down, up */
	GT_PTX_RNA,		/* to nearest, ties away from zero */
};

/* The value rounded to a format with that many bits of exponent and of fraction. */
uint32_t gt_ptx_to_small(double value, unsigned exponent_bits, unsigned fraction_bits,
			 enum gt_ptx_rounding rounding);

/* The sum, or the fused multiply-add, rounded to odd. A second rounding to a format of at most half as many bits then gives the
 * correctly rounded exact value (Boldo and Melquiond). */
double gt_ptx_odd_sum(double x, double y);

static inline float gt_ptx_from_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint32_t gt_ptx_to_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline float gt_ptx_from_bfloat(uint16_t x)
{
	return gt_ptx_from_bits((uint32_t)x << 16);
}

/* Without branches, for vectors: the exponent is moved by a product. */
static inline float gt_ptx_from_half(uint16_t x)
{
	uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = (uint32_t)(x & 0x7fff) << 13, bits;
	float value = gt_ptx_from_bits(magnitude) * 0x1p112f;

	memcpy(&bits, &value, sizeof bits);
	return gt_ptx_from_bits(sign | bits | (magnitude >= UINT32_C(31) << 23 ? 0x7f800000 : 0));
}

static inline uint16_t gt_ptx_to_half(double x, enum gt_ptx_rounding rounding)
{
	return (uint16_t)gt_ptx_to_small(x, 5, 10, rounding);
}

static inline uint16_t gt_ptx_to_bfloat(double x, enum gt_ptx_rounding rounding)
{
	return (uint16_t)gt_ptx_to_small(x, 8, 7, rounding);
}

#endif
