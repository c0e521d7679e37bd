/* SPDX-License-Identifier: MIT */
/* Arithmetic of f32 and f64. A NaN result of f32 is 0x7fffffff, as in PTX. The approximate forms (.approx, .full) give the
 * results of the host's mathematical library, which are at least as exact. */
#include <fenv.h>
#include <math.h>

#include "cuda/ptx/exec/half.h"
#include "cuda/ptx/exec/rsqrt.h"

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

GT_INLINE float nan_f32(void) { return gt_ptx_from_bits(0x7fffffff); }
GT_INLINE double nan_f64(void) { return (double)NAN; }

/* Subnormals to zeros of their sign (.ftz), and values to [0, 1], NaN to 0 (.sat). */
GT_INLINE float flushed(float x)
{
	union { float value; uint32_t bits; } u = {x};

	u.bits = u.bits & 0x7f800000 ? u.bits : u.bits & 0x80000000;
	return u.value;
}

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
#define FUNCTIONS(X)                                                                               \
	X(rsqrt_f64, "rsqrt.f64", f64, f64, none, none, 1 / sqrt(x))                               \
	X(rcp_high, "rcp.approx.ftz.f64", f64, f64, none, none, upper_word(1 / upper_word(x)))     \
	X(rsqrt_high, "rsqrt.approx.ftz.f64", f64, f64, none, none, upper_word(1 / sqrt(upper_word(x)))) \
	X(sin_f32, "sin.f32", f32, f32, none, none, canonical_f32(sinf(x)))                        \
	X(cos_f32, "cos.f32", f32, f32, none, none, canonical_f32(cosf(x)))                        \
	X(ex2_f32, "ex2.f32", f32, f32, none, none, canonical_f32(exp2f(x)))                       \
	X(lg2_f32, "lg2.f32", f32, f32, none, none, canonical_f32(log2f(x)))                       \
	X(tanh_f32, "tanh.f32", f32, f32, none, none, canonical_f32(tanhf(x)))                     \
	X(flush_f32, "flush.f32", f32, f32, none, none, flushed(x))

GT_LANES(rsqrt_f32, "rsqrt.f32", f32, f32, none, none, canonical_f32((float)(1 / sqrt((double)x))))
#if defined __x86_64__
#define NEWTON(TARGET, VARIANT)                                                                    \
	TARGET GT_STEP_HEAD(rsqrt_f32_newton##VARIANT)                                             \
	{                                                                                          \
		const bool done = gt_ptx_rsqrt##VARIANT(gt_ptx_lanes(warp, op->a), gt_ptx_lanes(warp, op->d), mask); \
		return done ? op + 1 : rsqrt_f32##VARIANT(warp, op, mask);                         \
	}
NEWTON(GT_FAST, _fast)
#define RSQRT_STEPS {rsqrt_f32_plain, rsqrt_f32_newton_fast}
#else
#define RSQRT_STEPS GT_STEPS(rsqrt_f32)
#endif

#define FLOATS(X) ARITHMETIC(X, f32, f) ARITHMETIC(X, f64, ) FUNCTIONS(X)
FLOATS(GT_LANES)
static const struct gt_ptx_form float_rows[] = {FLOATS(GT_ROW){"rsqrt.f32", GT_PTX_F32, {GT_PTX_F32}, RSQRT_STEPS}};
const struct gt_ptx_forms gt_ptx_float_forms = {float_rows, sizeof float_rows / sizeof float_rows[0]};

const struct gt_ptx_op *gt_ptx_rounded(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	static const int modes[] = {
		[GT_PTX_RN] = FE_TONEAREST, [GT_PTX_RZ] = FE_TOWARDZERO,
		[GT_PTX_RM] = FE_DOWNWARD, [GT_PTX_RP] = FE_UPWARD,
	};
	int before = fegetround();

	/* The step is a separate function, so the compiler cannot move its arithmetic past these calls. */
	fesetround(modes[op->choice]);
	const struct gt_ptx_op *next = op->with.inner(warp, op, mask);
	fesetround(before);
	return next;
}
