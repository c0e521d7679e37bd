/* SPDX-License-Identifier: MIT */
/* What the files that write code of AVX-512 share. */
#ifndef GT_PTX_AVX512_H
#define GT_PTX_AVX512_H

#include "cuda/ptx/native/general.h"
#include "cuda/ptx/native/segment.h"

/* Registers that hold no value. The last one is 0x7fffffff in every lane of 32 bits. */
enum { GT_ZMM_FOURTH = 27, GT_ZMM_FIRST, GT_ZMM_SECOND, GT_ZMM_THIRD, GT_ZMM_NAN };

void gt_avx512_set_nan(struct gt_native_code *code);

/* Of gt_native_isa, for stretches. */
void gt_avx512_memory(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset);
void gt_avx512_lane(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general);
void gt_avx512_differ(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b);
void gt_avx512_compare_zero(struct gt_native_segment *segment, unsigned a, unsigned b);
void gt_avx512_gather(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index);

#endif
