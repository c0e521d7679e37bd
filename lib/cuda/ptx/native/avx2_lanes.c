/* SPDX-License-Identifier: MIT */
/* What stretches need of AVX2 beside operations. */
#include "cuda/ptx/native/avx2.h"

void gt_avx2_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	gt_native_memory256(segment->code, op, d, a, base, offset);
}

void gt_avx2_lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general)
{
	gt_native_vector128(segment->code, op, x, 0, general);
}

void gt_avx2_differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b)
{
	gt_native_with(segment, gt_native_xor, GT_YMM_SECOND, a, b);
	gt_avx2(segment, gt_native_or, d, d, GT_YMM_SECOND);
}

void gt_avx2_compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b)
{
	static const struct gt_native_op test = {GT_0F38, GT_66, 0, 0x17};

	gt_avx2(segment, test, a, 0, b);
}

/* The instruction takes the lanes from the mask as it loads them. */
void gt_avx2_gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index)
{
	gt_avx2(segment, gt_avx2_equal32, GT_YMM_THIRD, GT_YMM_THIRD, GT_YMM_THIRD);
	gt_native_gather256(segment->code, op, d, GT_YMM_THIRD, base, index);
}
