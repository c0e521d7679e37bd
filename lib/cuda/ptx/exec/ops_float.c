/* SPDX-License-Identifier: MIT */
/* Lane operations of floats: arithmetic of f32 and f64, of f16 and bf16, and comparisons of all types. */
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/numbers.h"

/* ---- rsqrt.f32 ---- */

/* rsqrt.f32 on processors with AVX2, where a root and a quotient of doubles would take most of a kernel's time: from the
 * processor's estimate by two steps of Newton's method, in doubles. Its result is that of (float)(1 / sqrt((double)x)): each of the
 * two is within two units in the last place of the double, so that they can become different floats only next to the middle of two
 * floats, where the lanes are computed in the slow way. */

#if defined __x86_64__
/* Of the 29 bits that a double has more than a float: the middle, and how near it is too near. */
#define RSQRT_MIDDLE (INT64_C(1) << 28)
#define RSQRT_NEAR	8

/* 1 / sqrt of four floats, to two units in the last place of doubles; *hard: of which it is not known, or is too near to the middle
 * of two floats. The estimate is right to 1.5 / 2^12, and knows no denormal numbers. */
GT_FAST GT_INLINE __m256d rsqrt_near4(__m128 floats, unsigned *hard)
{
	const __m256d one = _mm256_set1_pd(1), half = _mm256_set1_pd(0.5), rest = _mm256_set1_pd(0.375), x = _mm256_cvtps_pd(floats);
	const __m256i bits = _mm256_set1_epi64x(2 * RSQRT_MIDDLE - 1), from = _mm256_set1_epi64x(RSQRT_MIDDLE - RSQRT_NEAR);
	__m256d y = _mm256_cvtps_pd(_mm_rsqrt_ps(floats)), error = _mm256_fnmadd_pd(_mm256_mul_pd(x, y), y, one);

	y = _mm256_fmadd_pd(_mm256_mul_pd(y, error), _mm256_fmadd_pd(error, rest, half), y);
	error = _mm256_fnmadd_pd(_mm256_mul_pd(x, y), y, one);
	y = _mm256_fmadd_pd(_mm256_mul_pd(y, error), half, y);
	const __m256i low = _mm256_sub_epi64(_mm256_and_si256(_mm256_castpd_si256(y), bits), from);
	const __m256i far = _mm256_or_si256(_mm256_cmpgt_epi64(low, _mm256_set1_epi64x(2 * RSQRT_NEAR)),
					    _mm256_cmpgt_epi64(_mm256_setzero_si256(), low));
	const __m256d usual = _mm256_and_pd(_mm256_cmp_pd(x, _mm256_set1_pd((double)FLT_MIN), _CMP_GE_OQ),
					    _mm256_cmp_pd(x, _mm256_set1_pd(__builtin_inf()), _CMP_LT_OQ));
	*hard = 15U ^ (unsigned)_mm256_movemask_pd(_mm256_and_pd(_mm256_castsi256_pd(far), usual));
	return y;
}

/* False if a lane in `mask` must be computed in the slow way; nothing is stored then. */
GT_FAST GT_INLINE bool rsqrt_fast(const float *from, float *to, uint32_t mask)
{
	float roots[GT_WARP_SIZE];
	uint32_t hard = 0;

	for (int i = 0; i < GT_WARP_SIZE; i += 4) {
		unsigned these;
		_mm_storeu_ps(roots + i, _mm256_cvtpd_ps(rsqrt_near4(_mm_loadu_ps(from + i), &these)));
		hard |= (uint32_t)these << i;
	}
	for (int i = 0; i < GT_WARP_SIZE && !(hard & mask); i++)
		to[i] = mask >> i & 1 ? roots[i] : to[i];
	return !(hard & mask);
}

#endif

/* ---- f32 and f64 ---- */

/* Arithmetic of f32 and f64. A NaN result of f32 is 0x7fffffff, as in PTX. The approximate forms (.approx, .full) give the
 * results of the host's mathematical library, which are at least as exact. */

GT_INLINE float canonical_f32(float x)
{
	union { uint32_t bits; float value; } nan = {0x7fffffff};

	return x == x ? x : nan.value;
}
GT_INLINE double canonical_f64(double x) { return x; }

/* -0 is less than +0; of a NaN and a number, the number is the result. */
#define EXTREMES(T, SIGN)                                                                          \
	GT_INLINE GT_LANE_##T lesser_##T(GT_LANE_##T x, GT_LANE_##T y)                             \
	{                                                                                          \
		GT_LANE_##T ordered = x < y || (x == y && SIGN(x)) ? x : y;                        \
		return x != x ? canonical_##T(y) : y != y ? x : ordered;                           \
	}                                                                                          \
	GT_INLINE GT_LANE_##T greater_##T(GT_LANE_##T x, GT_LANE_##T y)                            \
	{                                                                                          \
		GT_LANE_##T ordered = x > y || (x == y && !SIGN(x)) ? x : y;                       \
		return x != x ? canonical_##T(y) : y != y ? x : ordered;                           \
	}
EXTREMES(f32, signbit)
EXTREMES(f64, signbit)

/* With the sign that the product of x and y has (.xorsign); of NaN, NaN. */
GT_INLINE float signed_as_product(float number, float x, float y)
{
	return number == number ? copysignf(number, !signbit(x) == !signbit(y) ? 1 : -1) : number;
}

GT_INLINE float nan_f32(void) { return gt_ptx_from_bits(0x7fffffff); }
GT_INLINE double nan_f64(void) { return (double)NAN; }

/* Subnormals to zeros of their sign (.ftz), and values to [0, 1], NaN to 0 (.sat). */
GT_INLINE float flushed(float x)
{
	union { float value; uint32_t bits; } u = {x};

	u.bits = u.bits & 0x7f800000 ? u.bits : u.bits & 0x80000000;
	return u.value;
}

/* div.approx multiplies by a reciprocal, which is 0 for divisors above 2^126 (PTX, div): they count as infinite (divisor.f32). */

/* Only the upper word of a double, as in rcp.approx.ftz.f64 and similar operations. */
GT_INLINE double upper_word(double x)
{
	union { double value; uint64_t bits; } u = {x};

	u.bits &= UINT64_C(0xffffffff00000000);
	if (!(u.bits & UINT64_C(0x7ff0000000000000)))
		u.bits &= UINT64_C(0x8000000000000000);
	return u.value;
}

#define ARITHMETIC(X, T, SUFFIX)                                                                   \
	X(add_##T, "add." #T, T, T, T, none, canonical_##T(x + y))                                 \
	X(sub_##T, "sub." #T, T, T, T, none, canonical_##T(x - y))                                 \
	X(mul_##T, "mul." #T, T, T, T, none, canonical_##T(x * y))                                 \
	X(fma_##T, "fma." #T, T, T, T, T, canonical_##T(__builtin_fma##SUFFIX(x, y, z)))           \
	X(mad_##T, "mad." #T, T, T, T, T, canonical_##T(__builtin_fma##SUFFIX(x, y, z)))           \
	X(div_##T, "div." #T, T, T, T, none, canonical_##T(x / y))                                 \
	X(rcp_##T, "rcp." #T, T, T, none, none, canonical_##T(1 / x))                              \
	X(sqrt_##T, "sqrt." #T, T, T, none, none, canonical_##T(sqrt##SUFFIX(x)))                  \
	X(abs_##T, "abs." #T, T, T, none, none, fabs##SUFFIX(x))                                   \
	X(neg_##T, "neg." #T, T, T, none, none, -x)                                                \
	X(min_##T, "min." #T, T, T, T, none, lesser_##T(x, y))                                     \
	X(max_##T, "max." #T, T, T, T, none, greater_##T(x, y))                                    \
	X(min_nan_##T, "min.NaN." #T, T, T, T, none, x == x && y == y ? lesser_##T(x, y) : nan_##T()) \
	X(max_nan_##T, "max.NaN." #T, T, T, T, none, x == x && y == y ? greater_##T(x, y) : nan_##T()) \
	X(copysign_##T, "copysign." #T, T, T, T, none, copysign##SUFFIX(y, x))                     \
	X(saturate_##T, "saturate." #T, T, T, none, none, !(x > 0) ? 0 : x < 1 ? x : 1)
/* The extreme of three; and of two absolute values, with the sign of the product. */
#define EXTREMES_F32(X)                                                                                 \
	X(min3_f32, "min3.f32", f32, f32, f32, f32, lesser_f32(lesser_f32(x, y), z))               \
	X(max3_f32, "max3.f32", f32, f32, f32, f32, greater_f32(greater_f32(x, y), z))             \
	X(min3_nan_f32, "min3.NaN.f32", f32, f32, f32, f32, x == x && y == y && z == z ? lesser_f32(lesser_f32(x, y), z) : nan_f32()) \
	X(max3_nan_f32, "max3.NaN.f32", f32, f32, f32, f32, x == x && y == y && z == z ? greater_f32(greater_f32(x, y), z) : nan_f32()) \
	X(min_sign_f32, "min.xorsign.abs.f32", f32, f32, f32, none, signed_as_product(lesser_f32(fabsf(x), fabsf(y)), x, y)) \
	X(max_sign_f32, "max.xorsign.abs.f32", f32, f32, f32, none, signed_as_product(greater_f32(fabsf(x), fabsf(y)), x, y)) \
	X(min_nan_sign_f32, "min.NaN.xorsign.abs.f32", f32, f32, f32, none,                        \
	  x == x && y == y ? signed_as_product(lesser_f32(fabsf(x), fabsf(y)), x, y) : nan_f32())  \
	X(max_nan_sign_f32, "max.NaN.xorsign.abs.f32", f32, f32, f32, none,                        \
	  x == x && y == y ? signed_as_product(greater_f32(fabsf(x), fabsf(y)), x, y) : nan_f32())
/* A half, or two, with a float. */
#define MIXED(X, H, VALUE)                                                                         \
	X(add_f32_##H, "add.f32." #H, f32, H, f32, none, canonical_f32((float)VALUE(x) + y))       \
	X(sub_f32_##H, "sub.f32." #H, f32, H, f32, none, canonical_f32((float)VALUE(x) - y))       \
	X(fma_f32_##H, "fma.f32." #H, f32, H, H, f32, canonical_f32(__builtin_fmaf((float)VALUE(x), (float)VALUE(y), z)))
#define FUNCTIONS(X)                                                                               \
	X(rsqrt_f64, "rsqrt.f64", f64, f64, none, none, 1 / sqrt(x))                               \
	X(rcp_high, "rcp.approx.ftz.f64", f64, f64, none, none, upper_word(1 / upper_word(x)))     \
	X(rsqrt_high, "rsqrt.approx.ftz.f64", f64, f64, none, none, upper_word(1 / sqrt(upper_word(x)))) \
	X(sin_f32, "sin.f32", f32, f32, none, none, canonical_f32(sinf(x)))                        \
	X(cos_f32, "cos.f32", f32, f32, none, none, canonical_f32(cosf(x)))                        \
	X(lg2_f32, "lg2.f32", f32, f32, none, none, canonical_f32(log2f(x)))                       \
	X(tanh_f32, "tanh.f32", f32, f32, none, none, canonical_f32(tanhf(x)))                     \
	X(flush_f32, "flush.f32", f32, f32, none, none, flushed(x))                                \
	X(divisor_f32, "divisor.f32", f32, f32, none, none, fabsf(x) > 0x1p126F ? copysignf(__builtin_inff(), x) : x)

GT_LANES(rsqrt_f32, "rsqrt.f32", f32, f32, none, none, canonical_f32((float)(1 / sqrt((double)x))))
#if defined __x86_64__
#define NEWTON(TARGET, VARIANT)                                                                    \
	TARGET GT_STEP_HEAD(rsqrt_f32_newton##VARIANT)                                             \
	{                                                                                          \
		const bool done = rsqrt##VARIANT(gt_ptx_lanes(warp, op->a), gt_ptx_lanes(warp, op->d), mask); \
		return done ? op + 1 : rsqrt_f32##VARIANT(warp, op, mask);                         \
	}
NEWTON(GT_FAST, _fast)
#define RSQRT_STEPS {rsqrt_f32_plain, rsqrt_f32_newton_fast}
#else
#define RSQRT_STEPS GT_STEPS(rsqrt_f32)
#endif

GT_LANES_PLAIN(ex2_f32, "ex2.f32", f32, f32, none, none, canonical_f32(exp2f(x)))
#if defined __x86_64__
/* The same in doubles by 2^x = 2^k 2^r, of which k is the nearest integer, and the second is a series in r ln 2 up to the ninth power,
 * right to 2^-36. The library's result is the nearest float if the exact one is no nearer than EX2_NEAR of 2^29 parts of a unit in the last
 * place to the middle of two (glibc's is right to 0.502 units); *hard: lanes of which it is. */
#define EX2_NEAR (INT64_C(1) << 21)
GT_FAST GT_INLINE __m256d ex2_near4(__m128 floats, unsigned *hard)
{
	static const double series[] = {0x1.b5253d395e7c4p-24, 0x1.62c0223a5c824p-20, 0x1.ffcbfc588b0c7p-17, 0x1.430912f86c787p-13,
					0x1.5d87fe78a6731p-10, 0x1.3b2ab6fba4e77p-7, 0x1.c6b08d704a0c0p-5, 0x1.ebfbdff82c58fp-3,
					0x1.62e42fefa39efp-1, 0x1.0000000000000p+0}; /* (ln 2)^n / n! */
	const __m256d x = _mm256_cvtps_pd(floats), k = _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), r = _mm256_sub_pd(x, k);
	const __m256i exponents = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(k)), 52);
	__m256d y = _mm256_set1_pd(series[0]);

	for (unsigned n = 1; n < sizeof series / sizeof *series; n++)
		y = _mm256_fmadd_pd(y, r, _mm256_set1_pd(series[n]));
	y = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(y), exponents));
	const __m256i low = _mm256_sub_epi64(_mm256_and_si256(_mm256_castpd_si256(y), _mm256_set1_epi64x((INT64_C(1) << 29) - 1)),
					     _mm256_set1_epi64x((INT64_C(1) << 28) - EX2_NEAR));
	const __m256i far = _mm256_or_si256(_mm256_cmpgt_epi64(low, _mm256_set1_epi64x(2 * EX2_NEAR)), _mm256_cmpgt_epi64(_mm256_setzero_si256(), low));
	const __m256d usual = _mm256_and_pd(_mm256_cmp_pd(x, _mm256_set1_pd(-126), _CMP_GE_OQ), _mm256_cmp_pd(x, _mm256_set1_pd(127), _CMP_LT_OQ));
	const __m256d nothing = _mm256_cmp_pd(x, _mm256_set1_pd(-150), _CMP_LT_OQ);
	*hard = 15U ^ (unsigned)_mm256_movemask_pd(_mm256_or_pd(nothing, _mm256_and_pd(_mm256_castsi256_pd(far), usual)));
	return _mm256_andnot_pd(nothing, y);
}

GT_FAST GT_STEP_HEAD(ex2_f32_fast)
{
	const float *from = gt_ptx_lanes(warp, op->a);
	float *to = gt_ptx_lanes(warp, op->d), powers[GT_WARP_SIZE];
	uint32_t hard = 0;

	for (int i = 0; i < GT_WARP_SIZE; i += 4) {
		unsigned these;
		_mm_storeu_ps(powers + i, _mm256_cvtpd_ps(ex2_near4(_mm_loadu_ps(from + i), &these)));
		hard |= (uint32_t)these << i;
	}
	for (uint32_t rest = hard & mask; rest; rest &= rest - 1)
		powers[gt_ptx_lowest(rest)] = canonical_f32(exp2f(from[gt_ptx_lowest(rest)]));
	for (int i = 0; i < GT_WARP_SIZE; i++)
		to[i] = mask >> i & 1 ? powers[i] : to[i];
	return op + 1;
}
#endif

/* Two floats in 64 bits. */
#define LOW(X)	gt_ptx_from_bits((uint32_t)(X))
#define HIGH(X) gt_ptx_from_bits((uint32_t)((X) >> 32))
GT_INLINE uint64_t two(float low, float high)
{
	return (uint64_t)gt_ptx_to_bits(canonical_f32(high)) << 32 | gt_ptx_to_bits(canonical_f32(low));
}
#define PAIRS(X)                                                                                   \
	X(add_f32x2, "add.f32x2", b64, b64, b64, none, two(LOW(x) + LOW(y), HIGH(x) + HIGH(y)))    \
	X(sub_f32x2, "sub.f32x2", b64, b64, b64, none, two(LOW(x) - LOW(y), HIGH(x) - HIGH(y)))    \
	X(mul_f32x2, "mul.f32x2", b64, b64, b64, none, two(LOW(x) * LOW(y), HIGH(x) * HIGH(y)))    \
	X(flush_f32x2, "flush.b64", b64, b64, none, none, two(flushed(LOW(x)), flushed(HIGH(x))))  \
	X(fma_f32x2, "fma.f32x2", b64, b64, b64, b64,                                              \
	  two(__builtin_fmaf(LOW(x), LOW(y), LOW(z)), __builtin_fmaf(HIGH(x), HIGH(y), HIGH(z))))

#define FLOATS(X) ARITHMETIC(X, f32, f) ARITHMETIC(X, f64, ) FUNCTIONS(X) PAIRS(X) \
	EXTREMES_F32(X) MIXED(X, f16, gt_ptx_from_half) MIXED(X, bf16, gt_ptx_from_bfloat)
FLOATS(GT_LANES)
static const struct gt_ptx_form float_rows[] = {FLOATS(GT_ROW) GT_ROW(ex2_f32, "ex2.f32", f32, f32, none, none, )
	{"rsqrt.f32", GT_PTX_F32, {GT_PTX_F32}, RSQRT_STEPS}};
const struct gt_ptx_forms gt_ptx_float_forms = {float_rows, sizeof float_rows / sizeof float_rows[0]};

/* On x86-64 all arithmetic of steps is of SSE or AVX, whose mode alone is set: fesetround sets that of the x87, too, and takes longer
 * than the step does. */
#if defined __x86_64__
#define ROUNDING()	  ((int)_MM_GET_ROUNDING_MODE())
#define SET_ROUNDING(MODE) _MM_SET_ROUNDING_MODE((unsigned)(MODE))
enum { NEAREST = _MM_ROUND_NEAREST, TOWARD_ZERO = _MM_ROUND_TOWARD_ZERO, DOWN = _MM_ROUND_DOWN, UP = _MM_ROUND_UP };
#else
#define ROUNDING()	  fegetround()
#define SET_ROUNDING(MODE) fesetround(MODE)
enum { NEAREST = FE_TONEAREST, TOWARD_ZERO = FE_TOWARDZERO, DOWN = FE_DOWNWARD, UP = FE_UPWARD };
#endif

const struct gt_ptx_op *gt_ptx_rounded(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	static const int modes[] = {[GT_PTX_RN] = NEAREST, [GT_PTX_RZ] = TOWARD_ZERO, [GT_PTX_RM] = DOWN, [GT_PTX_RP] = UP};
	const int before = ROUNDING();

	/* The step is a separate function, so the compiler cannot move its arithmetic past these. */
	SET_ROUNDING(modes[op->choice]);
	const struct gt_ptx_op *next = op->with.inner(warp, op, mask);
	SET_ROUNDING(before);
	return next;
}

/* ---- f16 and bf16 ---- */

/* Arithmetic of f16, bf16, and pairs of them. For any processor it is in double, rounded to odd, then once to the format. */

GT_INLINE uint16_t round_f16(double x) { return gt_ptx_to_half(x, GT_PTX_RN); }
GT_INLINE uint16_t round_bf16(double x) { return gt_ptx_to_bfloat(x, GT_PTX_RN); }
GT_INLINE double value_f16(uint16_t x) { return (double)gt_ptx_from_half(x); }
GT_INLINE double value_bf16(uint16_t x) { return (double)gt_ptx_from_bfloat(x); }

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
#define SUMS(M, F)                                                                               \
	M(add, F, gt_ptx_odd_sum(p, q), 2) M(sub, F, gt_ptx_odd_sum(p, -q), 2) M(mul, F, p * q, 2) \
	M(fma, F, gt_ptx_odd_sum(p * q, r), 3)
#define CURVES(M, F) M(ex2, F, exp2(p), 1) M(tanh, F, tanh(p), 1)
#define DEFINE_ONE(ID, F, EXPRESSION, N) TWO(ID, F, EXPRESSION)
SUMS(DEFINE_ONE, f16)
SUMS(DEFINE_ONE, bf16)
CURVES(DEFINE_ONE, f16)
CURVES(DEFINE_ONE, bf16)

/* Those that choose do so by the bits: of two numbers of one sign the larger has the larger bits. */
enum { NAN_OF_HALF = 0x7fff, INFINITY_f16 = 0x7c00, INFINITY_bf16 = 0x7f80, ONE_f16 = 0x3c00, ONE_bf16 = 0x3f80 };
GT_INLINE bool is_nan_half(uint16_t x, uint16_t infinity) { return (x & 0x7fff) > infinity; }
/* In the order of numbers, -0 before +0. Applied twice it gives x. */
GT_INLINE int16_t ordered_half(uint16_t x) { return (int16_t)(x ^ (x & 0x8000 ? 0x7fff : 0)); }

GT_INLINE uint16_t chosen_half(uint16_t x, uint16_t y, uint16_t infinity, bool greater, bool strict)
{
	const bool x_is_nan = is_nan_half(x, infinity), y_is_nan = is_nan_half(y, infinity);
	const uint16_t number = (ordered_half(x) < ordered_half(y)) != greater ? x : y;
	const uint16_t other = x_is_nan && (y_is_nan || strict) ? NAN_OF_HALF : x_is_nan ? y : strict ? NAN_OF_HALF : x;

	return x_is_nan || y_is_nan ? other : number;
}
GT_INLINE uint16_t saturated_half(uint16_t x, uint16_t infinity, uint16_t one)
{
	return x > infinity ? 0 : x < one ? x : one;
}
GT_INLINE uint16_t positive_half(uint16_t x, uint16_t infinity)
{
	return is_nan_half(x, infinity) ? NAN_OF_HALF : x & 0x8000 ? 0 : x;
}
GT_INLINE uint16_t signed_half(uint16_t number, uint16_t sign, uint16_t infinity)
{
	return is_nan_half(number, infinity) ? NAN_OF_HALF : (uint16_t)(number | (sign & 0x8000));
}
#define CHOICES_OF(M, F)                                                                         \
	M(min, F, chosen_half(a, b, INFINITY_##F, false, false), 2)                              \
	M(max, F, chosen_half(a, b, INFINITY_##F, true, false), 2)                               \
	M(saturate, F, saturated_half(a, INFINITY_##F, ONE_##F), 1) M(relu, F, positive_half(a, INFINITY_##F), 1)
/* Operations whose result is NaN if a source is NaN. */
#define STRICT(M, F)                                                                             \
	M(min, F, chosen_half(a, b, INFINITY_##F, false, true), 2)                               \
	M(max, F, chosen_half(a, b, INFINITY_##F, true, true), 2)
#define DEFINE_CHOICE(ID, F, EXPRESSION, N)                                                        \
	GT_INLINE uint16_t ID##_one_##F(uint16_t a, uint16_t b, uint16_t c)                        \
	{                                                                                          \
		(void)b, (void)c;                                                                  \
		return EXPRESSION;                                                                 \
	}
#define DEFINE_STRICT(ID, F, EXPRESSION, N) DEFINE_CHOICE(ID##_nan, F, EXPRESSION, N)
/* Of the absolute values, with the sign of the product. */
#define DEFINE_SIGNED(ID, F, EXPRESSION, N)                                                        \
	DEFINE_CHOICE(ID##_sign, F, signed_half(ID##_one_##F(a & 0x7fff, b & 0x7fff, 0), a ^ b, INFINITY_##F), N) \
	DEFINE_CHOICE(ID##_nan_sign, F, signed_half(ID##_nan_one_##F(a & 0x7fff, b & 0x7fff, 0), a ^ b, INFINITY_##F), N)
CHOICES_OF(DEFINE_CHOICE, f16)
CHOICES_OF(DEFINE_CHOICE, bf16)
STRICT(DEFINE_STRICT, f16)
STRICT(DEFINE_STRICT, bf16)
STRICT(DEFINE_SIGNED, f16)
STRICT(DEFINE_SIGNED, bf16)

#define SOURCES_1(T) T, none, none
#define SOURCES_2(T) T, T, none
#define SOURCES_3(T) T, T, T
#define EXPAND(X, ...) X(__VA_ARGS__)
#define EVERY_OF(LANES, ID, F, N)                                                                \
	EXPAND(LANES, ID##_##F, , F, SOURCES_##N(F), ID##_one_##F((uint16_t)x, (uint16_t)y, (uint16_t)z)) \
	EXPAND(LANES, ID##_##F##x2, , F##x2, SOURCES_##N(F##x2), PAIR(ID##_one_##F))
#define LANES_OF(ID, F, EXPRESSION, N) EVERY_OF(GT_LANES, ID, F, N)
#define ROWS_NAMED(ID, NAME, F, N)                                                               \
	EXPAND(GT_ROW, ID##_##F, NAME "." #F, F, SOURCES_##N(F), )                               \
	EXPAND(GT_ROW, ID##_##F##x2, NAME "." #F "x2", F##x2, SOURCES_##N(F##x2), )
#define ROWS_OF(ID, F, EXPRESSION, N) ROWS_NAMED(ID, #ID, F, N)
CURVES(LANES_OF, f16)
CURVES(LANES_OF, bf16)
CHOICES_OF(LANES_OF, f16)
CHOICES_OF(LANES_OF, bf16)
#define STRICT_LANES(ID, F, EXPRESSION, N) LANES_OF(ID##_nan, F, , N) LANES_OF(ID##_sign, F, , N) LANES_OF(ID##_nan_sign, F, , N)
#define STRICT_ROWS(ID, F, EXPRESSION, N)                                                        \
	ROWS_NAMED(ID##_nan, #ID ".NaN", F, N)                                                   \
	ROWS_NAMED(ID##_sign, #ID ".xorsign.abs", F, N)                                          \
	ROWS_NAMED(ID##_nan_sign, #ID ".NaN.xorsign.abs", F, N)
STRICT(STRICT_LANES, f16)
STRICT(STRICT_LANES, bf16)

#if !defined __x86_64__
SUMS(LANES_OF, f16)
SUMS(LANES_OF, bf16)
#else

/* Sums and products with AVX2 and F16C, sixteen halves at a time, in float. A product is exact in it (of bf16, if it is large enough
 * not to become 0 or the least number). A sum may be rounded twice, since a float has at least two bits more than twice those of
 * either format (Figueroa). A product and a third number may be, too, unless what the first rounding gives is in the middle of two
 * halves: then what it cut decides. */
struct floats { __m256 first, second; };
#define PLAIN_OF(ID, F, EXPRESSION, N) EVERY_OF(GT_LANES_PLAIN, ID, F, N)
SUMS(PLAIN_OF, f16)
SUMS(PLAIN_OF, bf16)

GT_FAST GT_INLINE __m256i every32(uint32_t x) { return _mm256_set1_epi32((int)x); }
GT_FAST GT_INLINE __m256i every16(int x) { return _mm256_set1_epi16((int16_t)x); }
GT_FAST GT_INLINE bool is_any(__m256i x) { return !_mm256_testz_si256(x, x); }

/* What the sum of x * y and z lacks, or a number of its sign: of the two terms, the one that is found from the greater number is exact
 * (Dekker), and the other has the same sign or is 0, as rounding never changes an order. */
GT_FAST GT_INLINE __m256 lacks(__m256 sum, __m256 x, __m256 y, __m256 z)
{
	const __m256 product = _mm256_mul_ps(x, y);

	return _mm256_add_ps(_mm256_sub_ps(z, _mm256_sub_ps(sum, product)), _mm256_sub_ps(product, _mm256_sub_ps(sum, z)));
}
GT_FAST GT_INLINE __m256i is_inexact(__m256 lack) { return _mm256_castps_si256(_mm256_cmp_ps(lack, _mm256_setzero_ps(), _CMP_NEQ_OQ)); }
/* -1 where the exact sum is nearer to 0. */
GT_FAST GT_INLINE __m256i is_nearer(__m256 sum, __m256 lack) { return _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(lack, sum)), 31); }

GT_FAST GT_INLINE struct floats floats_f16(const void *halves)
{
	const __m128i *at = halves;

	return (struct floats){_mm256_cvtph_ps(_mm_loadu_si128(at)), _mm256_cvtph_ps(_mm_loadu_si128(at + 1))};
}
GT_FAST GT_INLINE __m256i halves_f16(struct floats x)
{
	const __m128i first = _mm256_cvtps_ph(x.first, _MM_FROUND_TO_NEAREST_INT), second = _mm256_cvtps_ph(x.second, _MM_FROUND_TO_NEAREST_INT);
	const __m256i bits = _mm256_set_m128i(second, first), nan = every16(NAN_OF_HALF);

	return _mm256_blendv_epi8(bits, nan, _mm256_cmpgt_epi16(_mm256_and_si256(bits, nan), every16(INFINITY_f16)));
}
/* Whether one is in the middle. Of halves above 0 up to the least one without leading zeros that is not looked for: all may be. */
GT_FAST GT_INLINE bool is_doubtful(struct floats x, __m256i halves)
{
	const __m256i rest = every32(0x1fff), middle = every32(0x1000), magnitudes = _mm256_and_si256(halves, every16(0x7fff));
	const __m256i first = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x.first), rest), middle);
	const __m256i second = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x.second), rest), middle);
	const __m256i small = _mm256_and_si256(magnitudes, _mm256_cmpgt_epi16(every16(0x401), magnitudes));

	return is_any(_mm256_or_si256(_mm256_or_si256(first, second), small));
}
/* x * y + z rounded to odd. */
GT_FAST GT_INLINE __m256 odd_fused(__m256 x, __m256 y, __m256 z)
{
	const __m256 sum = _mm256_fmadd_ps(x, y, z), lack = lacks(sum, x, y, z);
	const __m256i inexact = is_inexact(lack), nearer = _mm256_and_si256(is_nearer(sum, lack), inexact);

	return _mm256_castsi256_ps(_mm256_or_si256(_mm256_add_epi32(_mm256_castps_si256(sum), nearer), _mm256_srli_epi32(inexact, 31)));
}
GT_FAST static __attribute__((noinline)) __m256i careful_fused(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_f16(a), y = floats_f16(b), z = floats_f16(c);

	return halves_f16((struct floats){odd_fused(x.first, y.first, z.first), odd_fused(x.second, y.second, z.second)});
}
GT_FAST GT_INLINE __m256i fused_f16(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_f16(a), y = floats_f16(b), z = floats_f16(c);
	const struct floats sums = {_mm256_fmadd_ps(x.first, y.first, z.first), _mm256_fmadd_ps(x.second, y.second, z.second)};
	const __m256i halves = halves_f16(sums);

	return is_doubtful(sums, halves) ? careful_fused(a, b, c) : halves;
}

/* The even ones, and the odd ones. */
GT_FAST GT_INLINE struct floats floats_bf16(const void *at)
{
	const __m256i words = _mm256_loadu_si256(at);

	return (struct floats){_mm256_castsi256_ps(_mm256_slli_epi32(words, 16)),
			       _mm256_castsi256_ps(_mm256_and_si256(words, every32(0xffff0000)))};
}
/* In the upper halves of words; what is in the lower ones has no meaning. `down`: -1 where a middle is rounded towards 0. */
GT_FAST GT_INLINE __m256i rounded_bf16(__m256 x, __m256i down)
{
	const __m256i sum = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_add_epi32(down, every32(0x8000)));

	return _mm256_blendv_epi8(sum, every32(0x7fffffff), _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
GT_FAST GT_INLINE __m256i is_even(__m256 x)
{
	return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x), every32(0x10000)), _mm256_setzero_si256());
}
GT_FAST GT_INLINE __m256i joined(__m256i even, __m256i odd) { return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa); }
GT_FAST GT_INLINE __m256i halves_bf16(struct floats x)
{
	return joined(rounded_bf16(x.first, is_even(x.first)), rounded_bf16(x.second, is_even(x.second)));
}
GT_FAST GT_INLINE __m256i rounded_fused(__m256 x, __m256 y, __m256 z)
{
	const __m256 sum = _mm256_fmadd_ps(x, y, z), lack = lacks(sum, x, y, z);

	return rounded_bf16(sum, _mm256_blendv_epi8(is_even(sum), is_nearer(sum, lack), is_inexact(lack)));
}
/* A product may be infinite and its sum with a third number not. Both are then multiples of 2^112 or that sum is nowhere near a middle,
 * so that it is exact where it matters, and what it lacks is found to be no number. */
GT_FAST GT_INLINE __m256i fused_bf16(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_bf16(a), y = floats_bf16(b), z = floats_bf16(c);

	return joined(rounded_fused(x.first, y.first, z.first), rounded_fused(x.second, y.second, z.second));
}

#define SUM(NAME, F, OP)                                                                           \
	GT_FAST GT_INLINE __m256i fast_##NAME##_##F(const void *a, const void *b, const void *c) \
	{                                                                                          \
		const struct floats x = floats_##F(a), y = floats_##F(b);                          \
		(void)c;                                                                           \
		return halves_##F((struct floats){OP(x.first, y.first), OP(x.second, y.second)});  \
	}
#define FAST_SUMS(F) SUM(add, F, _mm256_add_ps) SUM(sub, F, _mm256_sub_ps) SUM(mul, F, _mm256_mul_ps)
FAST_SUMS(f16)
FAST_SUMS(bf16)
#define fast_fma_f16 fused_f16
#define fast_fma_bf16 fused_bf16
#define FAST_OF(ID, F, EXPRESSION, N) FAST_LANES(ID, F, F, N) FAST_LANES(ID, F, F##x2, N)
#define FAST_LANES(ID, F, T, N)                                                                    \
	EXPAND(GT_LANES_FAST, ID##_##T, T, SOURCES_##N(T), sizeof(__m256i) / sizeof(GT_LANE_##T),  \
	       _mm256_storeu_si256((__m256i *)(void *)(d + i), fast_##ID##_##F(lanes_a + i, lanes_b + i, lanes_c + i)))
SUMS(FAST_OF, f16)
SUMS(FAST_OF, bf16)
#endif

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
	SUMS(ROWS_OF, f16) SUMS(ROWS_OF, bf16) CURVES(ROWS_OF, f16) CURVES(ROWS_OF, bf16)
	CHOICES_OF(ROWS_OF, f16) CHOICES_OF(ROWS_OF, bf16) SIGNS(GT_ROW, f16) SIGNS(GT_ROW, bf16)
	STRICT(STRICT_ROWS, f16) STRICT(STRICT_ROWS, bf16)
	FLUSHES(GT_ROW, f16, 0x7c00) FLUSHES(GT_ROW, bf16, 0x7f80)
};
const struct gt_ptx_forms gt_ptx_half_forms = {half_rows, sizeof half_rows / sizeof half_rows[0]};

/* ---- comparisons ---- */

/* setp, selp (set is a setp and a selp), slct, and testp. */

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
#if defined __x86_64__
/* Halves by F16C: as floats, which HALF leaves as they are. */
#define COMPARISON_HALF(ID, NAME, D, A, B, C, EXPRESSION)                                          \
	COMPARISON_AT(, _plain, ID, A, B, EXPRESSION)                                              \
	GT_FAST GT_STEP_HEAD(ID##_fast)                                                            \
	{                                                                                          \
		float lanes_x[GT_WARP_SIZE], lanes_y[GT_WARP_SIZE];                                \
		uint8_t holds[GT_WARP_SIZE];                                                       \
		floats_of_halves(gt_ptx_lanes(warp, op->a), lanes_x);                              \
		floats_of_halves(gt_ptx_lanes(warp, op->b), lanes_y);                              \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			const float x = lanes_x[i], y = lanes_y[i];                                \
			holds[i] = (uint8_t)(EXPRESSION);                                          \
		}                                                                                  \
		return found(warp, op, mask, gt_ptx_packed_fast(holds));                           \
	}
GT_FAST GT_INLINE void floats_of_halves(const uint16_t *halves, float to[GT_WARP_SIZE])
{
	for (int i = 0; i < GT_WARP_SIZE; i += 8)
		_mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(halves + i))));
}
GT_INLINE float same_float(float x) { return x; }
#define HALF(X) _Generic((X), float: same_float, default: gt_ptx_from_half)(X)
#else
#define COMPARISON_HALF COMPARISON
#define HALF gt_ptx_from_half
#endif

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

/* The kinds of numbers that testp distinguishes. Zeros are normal (PTX, testp). */
#define KINDS(X, T)                                                                                \
	X(testp_finite_##T, "testp.finite." #T, pred, T, none, none, isfinite(x) != 0)             \
	X(testp_infinite_##T, "testp.infinite." #T, pred, T, none, none, isinf(x) != 0)            \
	X(testp_number_##T, "testp.number." #T, pred, T, none, none, x == x)                       \
	X(testp_notanumber_##T, "testp.notanumber." #T, pred, T, none, none, x != x)               \
	X(testp_normal_##T, "testp.normal." #T, pred, T, none, none, isnormal(x) || x == 0)         \
	X(testp_subnormal_##T, "testp.subnormal." #T, pred, T, none, none, fpclassify(x) == FP_SUBNORMAL)

#define COMPARISONS(X)                                                                             \
	ORDERED(X, s32, AS_IS) ORDERED(X, u32, AS_IS) ORDERED(X, s64, AS_IS) ORDERED(X, u64, AS_IS) \
	ORDERED(X, s16, AS_IS) ORDERED(X, u16, AS_IS)                                              \
	ORDERED(X, f32, AS_IS) UNORDERED(X, f32, AS_IS) ORDERED(X, f64, AS_IS) UNORDERED(X, f64, AS_IS) \
	EQUALITY(X, b16) EQUALITY(X, b32) EQUALITY(X, b64)                                         \
	SAME_AS_UNSIGNED(X, u16) SAME_AS_UNSIGNED(X, u32) SAME_AS_UNSIGNED(X, u64)                 \
	ORDERED(X, bf16, gt_ptx_from_bfloat) UNORDERED(X, bf16, gt_ptx_from_bfloat)                \
	KINDS(X, f32) KINDS(X, f64)
#define HALVES(X) ORDERED(X, f16, HALF) UNORDERED(X, f16, HALF)
COMPARISONS(COMPARISON)
HALVES(COMPARISON_HALF)

/* d = predicate c ? a : b, lane by lane. */
#define SELECTION_LOOP(ID, T)                                                                      \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##T *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		GT_OPERANDS(T, T, none)                                                            \
		uint32_t chosen = gt_ptx_predicate(warp, op->c);                                   \
		(void)lanes_c;                                                                     \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			const GT_LANE_##T value = chosen >> i & 1 ? lanes_a[i] : lanes_b[i];       \
			lanes_d[i] = mask >> i & 1 ? value : lanes_d[i];                           \
		}                                                                                  \
		return op + 1;                                                                     \
	}
SELECTION_LOOP(selp_16, b16)
SELECTION_LOOP(selp_32, b32) GT_EVERY(selp_32)
SELECTION_LOOP(selp_64, b64) GT_EVERY(selp_64)
GT_IN_VARIANT(, _plain, selp_16)
#if defined __x86_64__
/* All bits of the lanes whose bit is set, of 16. */
GT_FAST GT_INLINE __m256i lanes_in(uint32_t bits)
{
	const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, INT16_MIN);

	return _mm256_cmpeq_epi16(_mm256_and_si256(every16((int16_t)bits), bit), bit);
}
GT_FAST GT_STEP_HEAD(selp_16_fast)
{
	__m256i *to = gt_ptx_lanes(warp, op->d);
	const __m256i *a = gt_ptx_lanes(warp, op->a), *b = gt_ptx_lanes(warp, op->b);
	const uint32_t chosen = gt_ptx_predicate(warp, op->c);

	for (int i = 0; i < 2; i++) {
		const __m256i value = _mm256_blendv_epi8(_mm256_loadu_si256(b + i), _mm256_loadu_si256(a + i), lanes_in(chosen >> 16 * i));
		_mm256_storeu_si256(to + i, _mm256_blendv_epi8(_mm256_loadu_si256(to + i), value, lanes_in(mask >> 16 * i)));
	}
	return op + 1;
}
#endif
#define SELECTIONS(X)                                                                            \
	X(selp_16, "selp.b16", b16, b16, b16, pred, ) X(selp_32, "selp.b32", b32, b32, b32, pred, ) \
	X(selp_64, "selp.b64", b64, b64, b64, pred, )
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
	COMPARISONS(GT_ROW) HALVES(GT_ROW) SELECTIONS(GT_ROW) ALL_CHOICES(GT_ROW)
	SELECTION_NAMES(u16, 16) SELECTION_NAMES(s16, 16) SELECTION_NAMES(f16, 16) SELECTION_NAMES(bf16, 16)
	SELECTION_NAMES(u32, 32) SELECTION_NAMES(s32, 32) SELECTION_NAMES(f32, 32)
	SELECTION_NAMES(u64, 64) SELECTION_NAMES(s64, 64) SELECTION_NAMES(f64, 64)
};
const struct gt_ptx_forms gt_ptx_compare_forms = {compare_rows, sizeof compare_rows / sizeof compare_rows[0]};
