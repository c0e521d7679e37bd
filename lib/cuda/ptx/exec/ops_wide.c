/* SPDX-License-Identifier: MIT */
/* Products of twice the width, and sums with a carry (CC.CF, one bit a lane). */
#include "cuda/ptx/exec/lanes.h"

#define WIDE(X, T, D, W)                                                                         \
	X(mul_wide_##T, "mul.wide." #T, D, T, T, none, (W)x * (W)y)                              \
	X(mad_wide_##T, "mad.wide." #T, D, T, T, D, (GT_LANE_u64)((W)x * (W)y) + (GT_LANE_u64)z)
#define WIDES(X)                                                                                 \
	WIDE(X, s32, s64, int64_t) WIDE(X, u32, u64, uint64_t) WIDE(X, s16, s32, int32_t) WIDE(X, u16, u32, uint32_t)
WIDES(GT_LANES)

/* x + y + carry and x - y - borrow; CARRY_IN and CARRY_OUT tell which of these a form has. A difference is x + ~y + 1, and its
 * CC.CF is the borrow, the inverse of the carry. */
#define CARRIED(ID, NAME, T, A, B, CARRY_IN, CARRY_OUT)                                            \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##T *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		GT_OPERANDS(T, T, T)                                                               \
		uint32_t carries = 0;                                                              \
		for (unsigned i = 0; i < GT_WARP_SIZE; i++) {                                      \
			if (!(mask >> i & 1))                                                      \
				continue;                                                          \
			GT_OPERAND_LANES(T, T, T)                                                  \
			const GT_LANE_##T left = (GT_LANE_##T)(A), right = (GT_LANE_##T)(B);       \
			const GT_LANE_##T sum = left + right;                                      \
			const GT_LANE_##T in = (GT_LANE_##T)(CARRY_IN);                            \
			lanes_d[i] = sum + in;                                                     \
			carries |= (uint32_t)(sum < left || (GT_LANE_##T)(sum + in) < sum) << i;   \
		}                                                                                  \
		if (CARRY_OUT)                                                                     \
			warp->carry = (warp->carry & ~mask) |                                      \
				      (CARRY_OUT == BORROWS ? carries ^ mask : carries);           \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
#define CARRIED_ROW2(ID, NAME, T, A, B, IN, OUT)                                                 \
	{NAME, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T}, GT_STEPS(ID)},
#define CARRIED_ROW3(ID, NAME, T, A, B, IN, OUT)                                                 \
	{NAME, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T, GT_TYPE_##T}, GT_STEPS(ID)},

enum { NOTHING, CARRIES, BORROWS };
#define BORROW (CARRY ^ 1)
#define CARRY (warp->carry >> i & 1)
#define SUMS(X, T, U, NAME)                                                                      \
	X(add_cc_##NAME, "add.cc." #NAME, U, x, y, 0, CARRIES)                                   \
	X(addc_##NAME, "addc." #NAME, U, x, y, CARRY, NOTHING)                                   \
	X(addc_cc_##NAME, "addc.cc." #NAME, U, x, y, CARRY, CARRIES)                             \
	X(sub_cc_##NAME, "sub.cc." #NAME, U, x, ~y, 1, BORROWS)                                  \
	X(subc_##NAME, "subc." #NAME, U, x, ~y, BORROW, NOTHING)                                 \
	X(subc_cc_##NAME, "subc.cc." #NAME, U, x, ~y, BORROW, BORROWS)
#define PRODUCTS(X, T, U, NAME, HALF, PRODUCT)                                                   \
	X(mad_##HALF##_cc_##NAME, "mad." #HALF ".cc." #NAME, U, PRODUCT, z, 0, CARRIES)          \
	X(madc_##HALF##_##NAME, "madc." #HALF "." #NAME, U, PRODUCT, z, CARRY, NOTHING)          \
	X(madc_##HALF##_cc_##NAME, "madc." #HALF ".cc." #NAME, U, PRODUCT, z, CARRY, CARRIES)

#define CARRIES2(X) SUMS(X, u32, u32, u32) SUMS(X, u32, u32, s32) SUMS(X, u64, u64, u64) SUMS(X, u64, u64, s64) \
	SUMS(X, u32, u32, b32) SUMS(X, u64, u64, b64)
#define CARRIES3(X)                                                                                \
	PRODUCTS(X, u32, u32, u32, lo, x * y) PRODUCTS(X, u32, u32, s32, lo, x * y)                \
	PRODUCTS(X, u64, u64, u64, lo, x * y) PRODUCTS(X, u64, u64, s64, lo, x * y)                \
	PRODUCTS(X, u32, u32, u32, hi, high_u32(x, y))                                             \
	PRODUCTS(X, u32, u32, s32, hi, (uint32_t)high_s32((int32_t)x, (int32_t)y)) \
	PRODUCTS(X, u64, u64, u64, hi, high_u64(x, y))                                             \
	PRODUCTS(X, u64, u64, s64, hi, (uint64_t)high_s64((int64_t)x, (int64_t)y))

CARRIES2(CARRIED)
CARRIES3(CARRIED)
static const struct gt_ptx_form wide_rows[] = {WIDES(GT_ROW) CARRIES2(CARRIED_ROW2) CARRIES3(CARRIED_ROW3)};
const struct gt_ptx_forms gt_ptx_wide_forms = {wide_rows, sizeof wide_rows / sizeof wide_rows[0]};
