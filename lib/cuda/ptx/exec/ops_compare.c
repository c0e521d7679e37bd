/* SPDX-License-Identifier: MIT */
/* setp, selp (set is a setp and a selp), slct, and testp. */
#include <math.h>

#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/exec/simd.h"

GT_INLINE uint32_t combined(uint32_t result, enum gt_ptx_combination how, uint32_t with)
{
	switch (how) {
	case GT_PTX_AND: return result & with;
	case GT_PTX_OR: return result | with;
	case GT_PTX_XOR: return result ^ with;
	case GT_PTX_ALONE: break;
	}
	return result;
}

GT_INLINE const struct gt_ptx_op *found(GT_STEP_ARGUMENTS, uint32_t result)
{
	const enum gt_ptx_combination how = (enum gt_ptx_combination)op->choice;
	const uint32_t with = gt_ptx_predicate(warp, op->c);

	if (op->q)
		gt_ptx_set_predicate(warp, op->q, mask, combined(~result, how, with));
	gt_ptx_set_predicate(warp, op->d, mask, combined(result, how, with));
	return op + 1;
}

/* d = (x CMP y) combined with predicate c; q = not (x CMP y), likewise combined. */
#define COMPARISON_AT(TARGET, VARIANT, ID, A, B, EXPRESSION)                                       \
	TARGET GT_STEP_HEAD(ID##VARIANT)                                                           \
	{                                                                                          \
		uint8_t holds[GT_WARP_SIZE];                                                       \
		GT_OPERANDS(A, B, none)                                                            \
		for (int i = 0; i < GT_WARP_SIZE; i++) {                                           \
			GT_OPERAND_LANES(A, B, none)                                               \
			holds[i] = (uint8_t)(EXPRESSION);                                          \
		}                                                                                  \
		return found(warp, op, mask, gt_ptx_packed##VARIANT(holds));                       \
	}
#define COMPARISON(ID, NAME, D, A, B, C, EXPRESSION) GT_VARIANTS(COMPARISON_AT, ID, A, B, EXPRESSION)

#define ORDERED(X, T, R)                                                                           \
	X(setp_eq_##T, "setp.eq." #T, pred, T, T, none, R(x) == R(y))                              \
	X(setp_ne_##T, "setp.ne." #T, pred, T, T, none, ORDERED_##T(R) && R(x) != R(y))            \
	X(setp_lt_##T, "setp.lt." #T, pred, T, T, none, R(x) < R(y))                               \
	X(setp_le_##T, "setp.le." #T, pred, T, T, none, R(x) <= R(y))                              \
	X(setp_gt_##T, "setp.gt." #T, pred, T, T, none, R(x) > R(y))                               \
	X(setp_ge_##T, "setp.ge." #T, pred, T, T, none, R(x) >= R(y))
#define EQUALITY(X, T)                                                                           \
	X(setp_eq_##T, "setp.eq." #T, pred, T, T, none, x == y)                                  \
	X(setp_ne_##T, "setp.ne." #T, pred, T, T, none, x != y)
#define SAME_AS_UNSIGNED(X, T)                                                                     \
	X(setp_lo_##T, "setp.lo." #T, pred, T, T, none, x < y)                                     \
	X(setp_ls_##T, "setp.ls." #T, pred, T, T, none, x <= y)                                    \
	X(setp_hi_##T, "setp.hi." #T, pred, T, T, none, x > y)                                     \
	X(setp_hs_##T, "setp.hs." #T, pred, T, T, none, x >= y)
/* The forms with u hold for NaN. */
#define UNORDERED(X, T, R)                                                                         \
	X(setp_equ_##T, "setp.equ." #T, pred, T, T, none, !ORDERED_##T(R) || R(x) == R(y))         \
	X(setp_neu_##T, "setp.neu." #T, pred, T, T, none, !(R(x) == R(y)))                         \
	X(setp_ltu_##T, "setp.ltu." #T, pred, T, T, none, !(R(x) >= R(y)))                         \
	X(setp_leu_##T, "setp.leu." #T, pred, T, T, none, !(R(x) > R(y)))                          \
	X(setp_gtu_##T, "setp.gtu." #T, pred, T, T, none, !(R(x) <= R(y)))                         \
	X(setp_geu_##T, "setp.geu." #T, pred, T, T, none, !(R(x) < R(y)))                          \
	X(setp_num_##T, "setp.num." #T, pred, T, T, none, ORDERED_##T(R))                          \
	X(setp_nan_##T, "setp.nan." #T, pred, T, T, none, !ORDERED_##T(R))
#define AS_IS(X) (X)
#define NUMBERS(R) (R(x) == R(x) && R(y) == R(y))
#define ORDERED_f16(R) NUMBERS(R)
#define ORDERED_bf16(R) NUMBERS(R)
#define ORDERED_f32(R) NUMBERS(R)
#define ORDERED_f64(R) NUMBERS(R)
#define ORDERED_u16(R) 1
#define ORDERED_s16(R) 1
#define ORDERED_u32(R) 1
#define ORDERED_s32(R) 1
#define ORDERED_u64(R) 1
#define ORDERED_s64(R) 1

/* The kinds of numbers that testp distinguishes. */
#define KINDS(X, T)                                                                                \
	X(testp_finite_##T, "testp.finite." #T, pred, T, none, none, isfinite(x) != 0)             \
	X(testp_infinite_##T, "testp.infinite." #T, pred, T, none, none, isinf(x) != 0)            \
	X(testp_number_##T, "testp.number." #T, pred, T, none, none, x == x)                       \
	X(testp_notanumber_##T, "testp.notanumber." #T, pred, T, none, none, x != x)               \
	X(testp_normal_##T, "testp.normal." #T, pred, T, none, none, isnormal(x) != 0)             \
	X(testp_subnormal_##T, "testp.subnormal." #T, pred, T, none, none, fpclassify(x) == FP_SUBNORMAL)

#define COMPARISONS(X)                                                                             \
	ORDERED(X, s32, AS_IS) ORDERED(X, u32, AS_IS) ORDERED(X, s64, AS_IS) ORDERED(X, u64, AS_IS) \
	ORDERED(X, s16, AS_IS) ORDERED(X, u16, AS_IS)                                              \
	ORDERED(X, f32, AS_IS) UNORDERED(X, f32, AS_IS) ORDERED(X, f64, AS_IS) UNORDERED(X, f64, AS_IS) \
	EQUALITY(X, b16) EQUALITY(X, b32) EQUALITY(X, b64)                                         \
	SAME_AS_UNSIGNED(X, u16) SAME_AS_UNSIGNED(X, u32) SAME_AS_UNSIGNED(X, u64)                 \
	ORDERED(X, f16, gt_ptx_from_half) UNORDERED(X, f16, gt_ptx_from_half)                      \
	ORDERED(X, bf16, gt_ptx_from_bfloat) UNORDERED(X, bf16, gt_ptx_from_bfloat)                \
	KINDS(X, f32) KINDS(X, f64)
COMPARISONS(COMPARISON)

/* d = predicate c ? a : b, lane by lane. */
#define SELECTION(ID, NAME, D, A, B, C, EXPRESSION)                                                \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##D *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		GT_OPERANDS(A, B, none)                                                            \
		uint32_t chosen = gt_ptx_predicate(warp, op->c);                                   \
		(void)lanes_c;                                                                     \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			const GT_LANE_##D value = chosen >> i & 1 ? lanes_a[i] : lanes_b[i];       \
			lanes_d[i] = mask >> i & 1 ? value : lanes_d[i];                           \
		}                                                                                  \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
#define SELECTIONS(X)                                                                            \
	X(selp_16, "selp.b16", b16, b16, b16, pred, ) X(selp_32, "selp.b32", b32, b32, b32, pred, ) \
	X(selp_64, "selp.b64", b64, b64, b64, pred, )
SELECTIONS(SELECTION)
#define SELECTION_NAMES(T, N)                                                                    \
	{"selp." #T, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T, GT_PTX_PRED}, GT_STEPS(selp_##N)},

#define CHOICES(X, T)                                                                            \
	X(slct_##T##_s32, "slct." #T ".s32", T, T, T, s32, z >= 0 ? x : y)                       \
	X(slct_##T##_f32, "slct." #T ".f32", T, T, T, f32, z >= 0 ? x : y)
#define ALL_CHOICES(X)                                                                           \
	CHOICES(X, b16) CHOICES(X, u16) CHOICES(X, s16) CHOICES(X, b32) CHOICES(X, u32) CHOICES(X, s32) \
	CHOICES(X, b64) CHOICES(X, u64) CHOICES(X, s64) CHOICES(X, f32) CHOICES(X, f64)
ALL_CHOICES(GT_LANES)

static const struct gt_ptx_form compare_rows[] = {
	COMPARISONS(GT_ROW) SELECTIONS(GT_ROW) ALL_CHOICES(GT_ROW)
	SELECTION_NAMES(u16, 16) SELECTION_NAMES(s16, 16) SELECTION_NAMES(f16, 16) SELECTION_NAMES(bf16, 16)
	SELECTION_NAMES(u32, 32) SELECTION_NAMES(s32, 32) SELECTION_NAMES(f32, 32)
	SELECTION_NAMES(u64, 64) SELECTION_NAMES(s64, 64) SELECTION_NAMES(f64, 64)
};
const struct gt_ptx_forms gt_ptx_compare_forms = {compare_rows, sizeof compare_rows / sizeof compare_rows[0]};
