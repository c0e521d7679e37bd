/* SPDX-License-Identifier: MIT */
/* What stretches need of AVX-512 beside operations. */
#include "cuda/ptx/native/avx512.h"

#define MASK 5 /* k5 is free */

void gt_avx512_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	gt_native_memory(segment->code, op, d, 0, a, base, offset);
}

void gt_avx512_lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general)
{
	gt_native_lane(segment->code, op, x, general);
}

/* By a table of the three sources' bits. */
void gt_avx512_differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b)
{
	gt_native_with(segment, (struct gt_native_op){GT_0F3A, GT_66, 1, 0x25}, d, a, b);
	gt_native_byte(segment->code, 0xf6);
}

void gt_avx512_compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b)
{
	static const struct gt_native_op test = {GT_0F38, GT_66, 1, 0x27}, none = {GT_0F, GT_NP, 0, 0x98};

	gt_native_vector(segment->code, test, MASK, 0, a, b);
	gt_native_mask(segment->code, none, false, MASK, 0, MASK);
}

void gt_avx512_gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index)
{
	static const struct gt_native_op ones = {GT_0F, GT_NP, 0, 0x46};

	gt_native_mask(segment->code, ones, true, MASK, MASK, MASK);
	gt_native_gather(segment->code, op, d, MASK, base, index);
}
