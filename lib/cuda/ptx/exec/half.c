/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/half.h"

#include <math.h>
#include <stdbool.h>

/* Whether to round up in magnitude when the low bits `rest` are cut; `half` is half a unit in the last place. */
static bool away(uint64_t kept, uint64_t rest, uint64_t half, bool negative, enum gt_ptx_rounding rounding)
{
	switch (rounding) {
	case GT_PTX_RZ: return false;
	case GT_PTX_RM: return rest && negative;
	case GT_PTX_RP: return rest && !negative;
	case GT_PTX_RNA: return rest >= half;
	case GT_PTX_AS_IT_IS:
	case GT_PTX_RN: break;
	}
	return rest > half || (rest == half && kept & 1);
}

uint32_t gt_ptx_to_small(double value, unsigned exponent_bits, unsigned fraction_bits,
			 enum gt_ptx_rounding rounding)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	bool negative = bits >> 63;
	uint32_t sign = (uint32_t)negative << (exponent_bits + fraction_bits);
	uint32_t infinity = ((UINT32_C(1) << exponent_bits) - 1) << fraction_bits;
	if (value != value)
		return infinity | ((UINT32_C(1) << fraction_bits) - 1);
	if (isinf(value))
		return sign | infinity;
	int exponent = (int)(bits >> 52 & 2047);
	uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 0 && fraction == 0)
		return sign;
	if (exponent > 0)
		fraction |= UINT64_C(1) << 52;
	else
		exponent = 1;
	/* More bits are cut if the exponent would be below the format's minimum (subnormal results). */
	int bias = (1 << (exponent_bits - 1)) - 1, to = exponent - 1023 + bias;
	unsigned cut = 52 - fraction_bits;
	if (to < 1) {
		cut += 1 - to < 12 + (int)fraction_bits ? (unsigned)(1 - to) : 12 + fraction_bits;
		to = 1;
	}
	if (cut > 60)
		cut = 60;
	uint64_t kept = fraction >> cut, rest = fraction & ((UINT64_C(1) << cut) - 1);
	kept += away(kept, rest, UINT64_C(1) << (cut - 1), negative, rounding);
	/* The hidden bit, if there is one, carries into the exponent. */
	uint64_t result = ((uint64_t)(to - 1) << fraction_bits) + kept;
	if (result < infinity)
		return sign | (uint32_t)result;
	bool stays = rounding == GT_PTX_RZ || (rounding == GT_PTX_RM && !negative) ||
		     (rounding == GT_PTX_RP && negative);
	return sign | (stays ? infinity - 1 : infinity);
}

double gt_ptx_odd_sum(double x, double y)
{
	double sum = x + y;

	if (!isfinite(sum))
		return sum;
	/* Knuth's two-sum: the exact error of the rounded sum. */
	double part = sum - x, lacks = (x - (sum - part)) + (y - part);
	if (lacks == 0)
		return sum;
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	if (bits & 1)
		return sum;
	bits += (sum > 0) == (lacks > 0) ? 1 : UINT64_MAX;
	memcpy(&sum, &bits, sizeof sum);
	return sum;
}
