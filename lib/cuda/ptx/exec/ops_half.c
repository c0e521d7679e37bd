/* SPDX-License-Identifier: MIT */
/* Arithmetic of f16, bf16, and pairs of them: in double, rounded to odd, then once to the format. */
#include <math.h>

#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/exec/lanes.h"

GT_INLINE uint16_t round_f16(double x) { return gt_ptx_to_half(x, GT_PTX_RN); }
GT_INLINE uint16_t round_bf16(double x) { return gt_ptx_to_bfloat(x, GT_PTX_RN); }
GT_INLINE double value_f16(uint16_t x) { return (double)gt_ptx_from_half(x); }
GT_INLINE double value_bf16(uint16_t x) { return (double)gt_ptx_from_bfloat(x); }

GT_INLINE double lesser(double x, double y)
{
	return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y;
}
GT_INLINE double greater(double x, double y)
{
	return x != x ? y : y != y ? x : x > y || (x == y && !signbit(x)) ? x : y;
}
GT_INLINE double saturated(double x) { return !(x > 0) ? 0 : x < 1 ? x : 1; }

/* One operation for both formats, alone and in pairs. */
#define TWO(ID, F, EXPRESSION)                                                                     \
	static uint16_t ID##_one_##F(uint16_t a, uint16_t b, uint16_t c)                           \
	{                                                                                          \
		const double p = value_##F(a), q = value_##F(b), r = value_##F(c);                 \
		(void)p, (void)q, (void)r;                                                         \
		return round_##F(EXPRESSION);                                                      \
	}
#define PAIR(ONE)                                                                                \
	(ONE((uint16_t)x, (uint16_t)y, (uint16_t)z) |                                            \
	 (uint32_t)ONE((uint16_t)(x >> 16), (uint16_t)(y >> 16), (uint16_t)(z >> 16)) << 16)
#define OPERATIONS(M, F)                                                                         \
	M(add, F, gt_ptx_odd_sum(p, q), 2) M(sub, F, gt_ptx_odd_sum(p, -q), 2) M(mul, F, p * q, 2) \
	M(fma, F, gt_ptx_odd_sum(p * q, r), 3) M(min, F, lesser(p, q), 2) M(max, F, greater(p, q), 2) \
	M(ex2, F, exp2(p), 1) M(tanh, F, tanh(p), 1) M(saturate, F, saturated(p), 1)             \
	M(relu, F, p < 0 || (p == 0 && signbit(p)) ? 0 : p, 1)
/* Operations whose result is NaN if a source is NaN. */
#define STRICT(M, F)                                                                             \
	M(min, F, p == p && q == q ? lesser(p, q) : (double)NAN, 2)                              \
	M(max, F, p == p && q == q ? greater(p, q) : (double)NAN, 2)
#define DEFINE_ONE(ID, F, EXPRESSION, N) TWO(ID, F, EXPRESSION)
OPERATIONS(DEFINE_ONE, f16)
OPERATIONS(DEFINE_ONE, bf16)
#define DEFINE_STRICT(ID, F, EXPRESSION, N) TWO(ID##_nan, F, EXPRESSION)
STRICT(DEFINE_STRICT, f16)
STRICT(DEFINE_STRICT, bf16)

#define SOURCES_1(T) T, none, none
#define SOURCES_2(T) T, T, none
#define SOURCES_3(T) T, T, T
#define EXPAND(X, ...) X(__VA_ARGS__)
#define LANES_OF(ID, F, EXPRESSION, N)                                                           \
	EXPAND(GT_LANES, ID##_##F, , F, SOURCES_##N(F), ID##_one_##F((uint16_t)x, (uint16_t)y, (uint16_t)z)) \
	EXPAND(GT_LANES, ID##_##F##x2, , F##x2, SOURCES_##N(F##x2), PAIR(ID##_one_##F))
#define ROWS_OF(ID, F, EXPRESSION, N)                                                            \
	EXPAND(GT_ROW, ID##_##F, #ID "." #F, F, SOURCES_##N(F), )                                \
	EXPAND(GT_ROW, ID##_##F##x2, #ID "." #F "x2", F##x2, SOURCES_##N(F##x2), )
OPERATIONS(LANES_OF, f16)
OPERATIONS(LANES_OF, bf16)
#define STRICT_LANES(ID, F, EXPRESSION, N) LANES_OF(ID##_nan, F, , N)
#define STRICT_ROWS(ID, F, EXPRESSION, N)                                                        \
	EXPAND(GT_ROW, ID##_nan_##F, #ID ".NaN." #F, F, SOURCES_##N(F), )                        \
	EXPAND(GT_ROW, ID##_nan_##F##x2, #ID ".NaN." #F "x2", F##x2, SOURCES_##N(F##x2), )
STRICT(STRICT_LANES, f16)
STRICT(STRICT_LANES, bf16)

/* Subnormals to zeros of their sign. */
GT_INLINE uint32_t flushed_half(uint32_t x, uint32_t exponent) { return x & exponent ? x : x & 0x8000; }
#define FLUSHES(X, F, EXPONENT)                                                                    \
	X(flush_##F, "flush." #F, F, F, none, none, flushed_half(x, EXPONENT))                     \
	X(flush_##F##x2, "flush." #F "x2", F##x2, F##x2, none, none,                               \
	  flushed_half(x & 0xffff, EXPONENT) | flushed_half(x >> 16, EXPONENT) << 16)
FLUSHES(GT_LANES, f16, 0x7c00)
FLUSHES(GT_LANES, bf16, 0x7f80)

#define SIGNS(X, F)                                                                                \
	X(neg_##F, "neg." #F, F, F, none, none, x ^ 0x8000)                                        \
	X(abs_##F, "abs." #F, F, F, none, none, x & 0x7fff)                                        \
	X(neg_##F##x2, "neg." #F "x2", F##x2, F##x2, none, none, x ^ 0x80008000)                   \
	X(abs_##F##x2, "abs." #F "x2", F##x2, F##x2, none, none, x & 0x7fff7fff)
SIGNS(GT_LANES, f16)
SIGNS(GT_LANES, bf16)

static const struct gt_ptx_form half_rows[] = {
	OPERATIONS(ROWS_OF, f16) OPERATIONS(ROWS_OF, bf16) SIGNS(GT_ROW, f16) SIGNS(GT_ROW, bf16)
	STRICT(STRICT_ROWS, f16) STRICT(STRICT_ROWS, bf16)
	FLUSHES(GT_ROW, f16, 0x7c00) FLUSHES(GT_ROW, bf16, 0x7f80)
};
const struct gt_ptx_forms gt_ptx_half_forms = {half_rows, sizeof half_rows / sizeof half_rows[0]};
