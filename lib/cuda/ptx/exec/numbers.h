/* SPDX-License-Identifier: MIT */
/* Elements of matrices as numbers. Sums of products of integers are exact in double precision too. */
#ifndef GT_PTX_NUMBERS_H
#define GT_PTX_NUMBERS_H

#include <math.h>
#include <string.h>

#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/exec/lanes.h"

/* e4m3 has no infinities, and a bias of 7; e5m2 is the upper half of an f16. */
GT_INLINE double gt_ptx_from_e4m3(uint64_t x)
{
	float value = gt_ptx_from_bits((uint32_t)(x & 0x7f) << 20) * 0x1p120f;

	value = (x & 0x7f) == 0x7f ? NAN : value;
	return (double)(x & 0x80 ? -value : value);
}

/* The value of an element; of f64 and of bits it is not asked for. */
GT_INLINE double gt_ptx_number_of(enum gt_ptx_element element, uint64_t x)
{
	switch (element) {
	case GT_PTX_ELEMENT_F16: return (double)gt_ptx_from_half((uint16_t)x);
	case GT_PTX_ELEMENT_BF16: return (double)gt_ptx_from_bfloat((uint16_t)x);
	case GT_PTX_ELEMENT_E4M3: return gt_ptx_from_e4m3(x);
	case GT_PTX_ELEMENT_E5M2: return (double)gt_ptx_from_half((uint16_t)(x << 8));
	case GT_PTX_ELEMENT_TF32: return (double)gt_ptx_from_bits(x & 0xffffe000);
	case GT_PTX_ELEMENT_F32: return (double)gt_ptx_from_bits((uint32_t)x);
	case GT_PTX_ELEMENT_S8: return (int8_t)x;
	case GT_PTX_ELEMENT_S4: return (int32_t)(x ^ 8) - 8;
	default: return (int32_t)x;
	}
}

/* The bits of a sum in an element of 16 or 32 bits. */
GT_INLINE uint32_t gt_ptx_element_of(double value, enum gt_ptx_element element, bool saturates)
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
