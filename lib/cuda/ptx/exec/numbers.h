/* SPDX-License-Identifier: MIT */
/* Floats of 16 bits, through double: f16 (5 bits of exponent, 10 of fraction) and bf16 (8 and 7).
 * One rounding each way, in any of PTX's directions. */
#ifndef GT_PTX_NUMBERS_H
#define GT_PTX_NUMBERS_H

#include <math.h>
#include <stdbool.h>
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

/* Floats of 8 bits, to nearest even; what is beyond the largest becomes it (.satfinite). */
static inline uint8_t gt_ptx_to_e4m3(double x)
{
	const double magnitude = fabs(x);
	const uint8_t sign = signbit(x) ? 0x80 : 0;
	int exponent;

	if (x != x)
		return 0x7f;
	if (magnitude >= 448)
		return (uint8_t)(sign | 0x7e);
	frexp(magnitude, &exponent);
	exponent = magnitude < 0x1p-6 ? -6 : exponent - 1;
	/* Eighths of the power of two; 16 of them carry into the exponent. */
	return (uint8_t)(sign | (unsigned)((exponent + 6) * 8 + (int)nearbyint(ldexp(magnitude, 3 - exponent))));
}
static inline uint8_t gt_ptx_to_e5m2(double x)
{
	const uint8_t bits = (uint8_t)gt_ptx_to_small(x, 5, 2, GT_PTX_RN);

	return x != x ? 0x7f : (bits & 0x7f) == 0x7c ? (uint8_t)(bits - 1) : bits;
}

/* ---- elements of matrices ---- */

/* Elements of matrices. Those of one bit are held as words of 32. */
enum gt_ptx_element {
	GT_PTX_NO_ELEMENT,
	GT_PTX_ELEMENT_F16,
	GT_PTX_ELEMENT_BF16,
	GT_PTX_ELEMENT_E4M3,
	GT_PTX_ELEMENT_E5M2,
	GT_PTX_ELEMENT_E2M3,
	GT_PTX_ELEMENT_E3M2,
	GT_PTX_ELEMENT_E2M1,
	GT_PTX_ELEMENT_E2M1_IN_BYTE, /* its bits 2 to 5 */
	GT_PTX_ELEMENT_TF32,
	GT_PTX_ELEMENT_F32,
	GT_PTX_ELEMENT_F64,
	GT_PTX_ELEMENT_S8,
	GT_PTX_ELEMENT_U8,
	GT_PTX_ELEMENT_S4,
	GT_PTX_ELEMENT_U4,
	GT_PTX_ELEMENT_S32,
	GT_PTX_ELEMENT_B1,
	GT_PTX_ELEMENTS
};

/* Elements of matrices as numbers. Sums of products of integers are exact in double precision too. */

/* e4m3 has no infinities, and a bias of 7; e5m2 is the upper half of an f16. */
static inline __attribute__((always_inline)) double gt_ptx_from_e4m3(uint64_t x)
{
	float value = gt_ptx_from_bits((uint32_t)(x & 0x7f) << 20) * 0x1p120f;

	value = (x & 0x7f) == 0x7f ? NAN : value;
	return (double)(x & 0x80 ? -value : value);
}

/* Elements of 4 and 6 bits have neither infinities nor NaN; `top` is 2 to the power of 127 less their bias. */
static inline __attribute__((always_inline)) double gt_ptx_from_tiny(uint64_t x, unsigned bits, unsigned fraction, float top)
{
	const float value = gt_ptx_from_bits((uint32_t)(x & ((UINT64_C(1) << (bits - 1)) - 1)) << (23 - fraction)) * top;

	return (double)(x >> (bits - 1) & 1 ? -value : value);
}

/* Scales of elements: powers of 2 (ue8m0, 255: NaN), or e4m3 without its sign. */
static inline double gt_ptx_from_scale(uint8_t x, bool power)
{
	return !power ? gt_ptx_from_e4m3(x & 0x7f) : x == 0xff ? (double)NAN : ldexp(1, x - 127);
}

/* The value of an element; of f64 and of bits it is not asked for. */
static inline __attribute__((always_inline)) double gt_ptx_number_of(enum gt_ptx_element element, uint64_t x)
{
	switch (element) {
	case GT_PTX_ELEMENT_F16: return (double)gt_ptx_from_half((uint16_t)x);
	case GT_PTX_ELEMENT_BF16: return (double)gt_ptx_from_bfloat((uint16_t)x);
	case GT_PTX_ELEMENT_E4M3: return gt_ptx_from_e4m3(x);
	case GT_PTX_ELEMENT_E5M2: return (double)gt_ptx_from_half((uint16_t)(x << 8));
	case GT_PTX_ELEMENT_E2M3: return gt_ptx_from_tiny(x, 6, 3, 0x1p126f);
	case GT_PTX_ELEMENT_E3M2: return gt_ptx_from_tiny(x, 6, 2, 0x1p124f);
	case GT_PTX_ELEMENT_E2M1: return gt_ptx_from_tiny(x, 4, 1, 0x1p126f);
	case GT_PTX_ELEMENT_E2M1_IN_BYTE: return gt_ptx_from_tiny(x >> 2, 4, 1, 0x1p126f);
	case GT_PTX_ELEMENT_TF32: return (double)gt_ptx_from_bits(x & 0xffffe000);
	case GT_PTX_ELEMENT_F32: return (double)gt_ptx_from_bits((uint32_t)x);
	case GT_PTX_ELEMENT_S8: return (int8_t)x;
	case GT_PTX_ELEMENT_S4: return (int32_t)(x ^ 8) - 8;
	default: return (int32_t)x;
	}
}

/* The bits of a sum in an element of 16 or 32 bits. */
static inline __attribute__((always_inline)) uint32_t gt_ptx_element_of(double value, enum gt_ptx_element element, bool saturates)
{
	float single = (float)value;
	uint32_t word;

	if (element == GT_PTX_ELEMENT_F16)
		return gt_ptx_to_half(value, GT_PTX_RN);
	if (element == GT_PTX_ELEMENT_S32) {
		value = saturates && value > INT32_MAX ? INT32_MAX : value;
		value = saturates && value < INT32_MIN ? INT32_MIN : value;
		return (uint32_t)(int64_t)value;
	}
	memcpy(&word, &single, sizeof word);
	return single != single ? 0x7fffffff : word;
}

#endif
