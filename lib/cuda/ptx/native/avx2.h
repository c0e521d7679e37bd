/* SPDX-License-Identifier: MIT */
/* Machine code with AVX2: what its operations are put together from. */
#ifndef GT_PTX_AVX2_H
#define GT_PTX_AVX2_H

#include "cuda/ptx/native/segment.h"

/* ymm0 to ymm11 hold values. In a stretch all lanes are active, and ymm12 is free. */
enum { GT_YMM_ACTIVE = 12, GT_YMM_FIRST, GT_YMM_SECOND, GT_YMM_THIRD };

extern const struct gt_native_op gt_avx2_equal32;

/* OP ymm_d, ymm_a, ymm_b */
static inline void gt_avx2(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	gt_native_vector256(segment->code, op, d, a, b);
}

/* Of gt_native_isa. */
void gt_avx2_open(struct gt_native_code *code);
void gt_avx2_begin(struct gt_native_segment *segment);
void gt_avx2_end(struct gt_native_segment *segment);
void gt_avx2_load(struct gt_native_segment *segment, unsigned at, unsigned base, uint32_t offset);
void gt_avx2_store(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base, uint32_t offset);
void gt_avx2_fill(struct gt_native_segment *segment, unsigned wide, unsigned d, uint64_t bits);
void gt_avx2_widen(struct gt_native_segment *segment, unsigned opcode, unsigned d, unsigned from, unsigned half);
void gt_avx2_canonical(struct gt_native_segment *segment, unsigned d);

void gt_avx2_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset);
void gt_avx2_lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general);
void gt_avx2_differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b);
void gt_avx2_compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b);
void gt_avx2_gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index);

/* Lanes of b where the mask is set, of a elsewhere. */
void gt_avx2_blend(struct gt_native_segment *segment, unsigned d, unsigned a, unsigned b, unsigned mask);
/* All ones in the lanes whose bit is set in al. */
void gt_avx2_mask_of_bits(struct gt_native_segment *segment, unsigned d);

/* A part of a predicate into eax, ecx or edx, and back. */
void gt_avx2_read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general);
void gt_avx2_write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned general);

/* Of integers: all ones in lanes for which the comparison holds, or, if the rule's is inverted, does not. */
void gt_avx2_compare_integers(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x,
			      unsigned y);
bool gt_avx2_is_inverted(const struct gt_native_rule *rule);

/* What AVX2 has no instruction for; all of them change ymm13 to ymm15. */
void gt_avx2_product64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y);
void gt_avx2_extreme64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool is_signed, bool most);
void gt_avx2_shift_signed64(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned count);
void gt_avx2_float_of_u32(struct gt_native_segment *segment, unsigned d, unsigned x);
void gt_avx2_double_of_64(struct gt_native_segment *segment, unsigned d, unsigned x, bool is_signed);

#endif
