/* SPDX-License-Identifier: MIT */
/* Integer arithmetic. Results that PTX does not define: a quotient by zero is all ones, with the dividend as remainder; the
 * smallest number divided by -1 is itself, with remainder 0. */
#include "cuda/ptx/exec/lanes.h"

/* Arithmetic is modulo 2^n, in an unsigned type W no narrower than int. */
#define BASIC(X, T, W)                                                                             \
	X(add_##T, "add." #T, T, T, T, none, (W)x + (W)y)                                          \
	X(sub_##T, "sub." #T, T, T, T, none, (W)x - (W)y)                                          \
	X(mul_lo_##T, "mul.lo." #T, T, T, T, none, (W)x * (W)y)                                    \
	X(mad_lo_##T, "mad.lo." #T, T, T, T, T, (W)x * (W)y + (W)z)                                \
	X(mul_hi_##T, "mul.hi." #T, T, T, T, none, high_##T(x, y))                                 \
	X(mad_hi_##T, "mad.hi." #T, T, T, T, T, (W)high_##T(x, y) + (W)z)                          \
	X(min_##T, "min." #T, T, T, T, none, x < y ? x : y)                                        \
	X(max_##T, "max." #T, T, T, T, none, x > y ? x : y)                                        \
	X(sad_##T, "sad." #T, T, T, T, T, (W)z + (x < y ? (W)y - (W)x : (W)x - (W)y))              \
	X(div_##T, "div." #T, T, T, T, none, quotient_##T(x, y))                                   \
	X(rem_##T, "rem." #T, T, T, T, none, remainder_##T(x, y))
#define SIGNED(X, T, W)                                                                          \
	X(abs_##T, "abs." #T, T, T, none, none, x < 0 ? 0 - (W)x : (W)x)                         \
	X(neg_##T, "neg." #T, T, T, none, none, 0 - (W)x)

#define UNSIGNED_DIVISION(T)                                                                       \
	GT_INLINE GT_LANE_##T quotient_##T(GT_LANE_##T x, GT_LANE_##T y)                           \
	{                                                                                          \
		return (GT_LANE_##T)(y ? (GT_LANE_##T)(x / y) : (GT_LANE_##T)-1);                  \
	}                                                                                          \
	GT_INLINE GT_LANE_##T remainder_##T(GT_LANE_##T x, GT_LANE_##T y)                          \
	{                                                                                          \
		return (GT_LANE_##T)(y ? (GT_LANE_##T)(x % y) : x);                                \
	}
#define SIGNED_DIVISION(T, W)                                                                      \
	GT_INLINE GT_LANE_##T quotient_##T(GT_LANE_##T x, GT_LANE_##T y)                           \
	{                                                                                          \
		return (GT_LANE_##T)(y == 0 ? -1 : y == -1 ? (GT_LANE_##T)(0 - (W)x) : (GT_LANE_##T)(x / y)); \
	}                                                                                          \
	GT_INLINE GT_LANE_##T remainder_##T(GT_LANE_##T x, GT_LANE_##T y)                          \
	{                                                                                          \
		return (GT_LANE_##T)(y == 0 ? x : y == -1 ? (GT_LANE_##T)0 : (GT_LANE_##T)(x % y)); \
	}
UNSIGNED_DIVISION(u16)
UNSIGNED_DIVISION(u32)
UNSIGNED_DIVISION(u64)
SIGNED_DIVISION(s16, uint32_t)
SIGNED_DIVISION(s32, uint32_t)
SIGNED_DIVISION(s64, uint64_t)

/* Clamped to the range of s32. */
GT_INLINE int32_t saturated(int64_t x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

/* Products of the low 24 bits. */
GT_INLINE uint64_t product24_u32(uint32_t x, uint32_t y) { return (uint64_t)(x & 0xffffff) * (y & 0xffffff); }
GT_INLINE int64_t product24_s32(int32_t x, int32_t y)
{
	int64_t low_x = x & 0xffffff, low_y = y & 0xffffff;

	return (low_x - ((low_x & 0x800000) << 1)) * (low_y - ((low_y & 0x800000) << 1));
}

#define PRODUCT24(X, T)                                                                            \
	X(mul24_lo_##T, "mul24.lo." #T, T, T, T, none, product24_##T(x, y))                        \
	X(mul24_hi_##T, "mul24.hi." #T, T, T, T, none, product24_##T(x, y) >> 16)                  \
	X(mad24_lo_##T, "mad24.lo." #T, T, T, T, T, (uint32_t)product24_##T(x, y) + (uint32_t)z)   \
	X(mad24_hi_##T, "mad24.hi." #T, T, T, T, T, (uint32_t)(product24_##T(x, y) >> 16) + (uint32_t)z)

#define SATURATED(X)                                                                               \
	X(add_sat_s32, "add.sat.s32", s32, s32, s32, none, saturated((int64_t)x + y))              \
	X(sub_sat_s32, "sub.sat.s32", s32, s32, s32, none, saturated((int64_t)x - y))              \
	X(mad_hi_sat_s32, "mad.hi.sat.s32", s32, s32, s32, s32, saturated((int64_t)high_s32(x, y) + z)) \
	X(mad24_hi_sat_s32, "mad24.hi.sat.s32", s32, s32, s32, s32, saturated((product24_s32(x, y) >> 16) + z))

/* Not below 0. */
#define RECTIFIED(X)                                                                             \
	X(min_relu_s32, "min.relu.s32", s32, s32, s32, none, x < 0 || y < 0 ? 0 : x < y ? x : y) \
	X(max_relu_s32, "max.relu.s32", s32, s32, s32, none, x < 0 && y < 0 ? 0 : x > y ? x : y)

/* The absolute difference of two parts of a word, the bits of `part` from bit `at` on. */
GT_INLINE uint32_t difference_u32(uint32_t x, uint32_t y, unsigned at, uint32_t part)
{
	uint32_t a = x >> at & part, b = y >> at & part;

	return a < b ? b - a : a - b;
}
/* With the sign bit of each part inverted, signed parts compare as unsigned ones. */
GT_INLINE uint32_t difference_s32(int32_t x, int32_t y, unsigned at, uint32_t part)
{
	uint32_t signs = part == 0xff ? 0x80808080 : 0x80008000;

	return difference_u32((uint32_t)x ^ signs, (uint32_t)y ^ signs, at, part);
}
#define DIFFERENCE4(T, AT) difference_##T(x, y, AT, 0xff)
#define DIFFERENCE2(T, AT) difference_##T(x, y, AT, 0xffff)
#define DIFFERENCES(X, T)                                                                          \
	X(vabsdiff4_##T, "vabsdiff4.u32." #T "." #T, u32, T, T, u32,                               \
	  DIFFERENCE4(T, 0) | DIFFERENCE4(T, 8) << 8 | DIFFERENCE4(T, 16) << 16 | DIFFERENCE4(T, 24) << 24) \
	X(vabsdiff4_add_##T, "vabsdiff4.u32." #T "." #T ".add", u32, T, T, u32,                    \
	  z + DIFFERENCE4(T, 0) + DIFFERENCE4(T, 8) + DIFFERENCE4(T, 16) + DIFFERENCE4(T, 24))     \
	X(vabsdiff2_##T, "vabsdiff2.u32." #T "." #T, u32, T, T, u32,                               \
	  DIFFERENCE2(T, 0) | DIFFERENCE2(T, 16) << 16)                                            \
	X(vabsdiff2_add_##T, "vabsdiff2.u32." #T "." #T ".add", u32, T, T, u32,                    \
	  z + DIFFERENCE2(T, 0) + DIFFERENCE2(T, 16))

#define INTEGER(X)                                                                                 \
	BASIC(X, s32, uint32_t) BASIC(X, u32, uint32_t) BASIC(X, s64, uint64_t) BASIC(X, u64, uint64_t) \
	BASIC(X, s16, uint32_t) BASIC(X, u16, uint32_t)                                            \
	SIGNED(X, s16, uint32_t) SIGNED(X, s32, uint32_t) SIGNED(X, s64, uint64_t)                 \
	PRODUCT24(X, u32) PRODUCT24(X, s32) SATURATED(X) RECTIFIED(X) DIFFERENCES(X, u32) \
	DIFFERENCES(X, s32)

INTEGER(GT_LANES)
static const struct gt_ptx_form integer_rows[] = {INTEGER(GT_ROW)};
const struct gt_ptx_forms gt_ptx_integer_forms = {integer_rows, sizeof integer_rows / sizeof integer_rows[0]};
