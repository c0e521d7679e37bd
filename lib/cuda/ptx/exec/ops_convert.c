/* SPDX-License-Identifier: MIT */
/* Conversions between numbers: what rounds a value to a float of 16 bits, and the table of cvt. */
#include <math.h>
#include <stdbool.h>

#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/numbers.h"

/* ---- rounding to few bits ---- */

/* Whether to round up in magnitude when the low bits `rest` are cut; `half` is half a unit in the last place. */
static bool away(uint64_t kept, uint64_t rest, uint64_t half, bool negative, enum gt_ptx_rounding rounding)
{
	switch (rounding) {
	case GT_PTX_RZ: return false;
	case GT_PTX_RM: return rest && negative;
	case GT_PTX_RP: return rest && !negative;
	case GT_PTX_RNA: return rest >= half;
	case GT_PTX_AS_IT_IS:
	case GT_PTX_RN: break;
	}
	return rest > half || (rest == half && kept & 1);
}

uint32_t gt_ptx_to_small(double value, unsigned exponent_bits, unsigned fraction_bits,
			 enum gt_ptx_rounding rounding)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	bool negative = bits >> 63;
	uint32_t sign = (uint32_t)negative << (exponent_bits + fraction_bits);
	uint32_t infinity = ((UINT32_C(1) << exponent_bits) - 1) << fraction_bits;
	if (value != value)
		return infinity | ((UINT32_C(1) << fraction_bits) - 1);
	if (isinf(value))
		return sign | infinity;
	int exponent = (int)(bits >> 52 & 2047);
	uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 0 && fraction == 0)
		return sign;
	if (exponent > 0)
		fraction |= UINT64_C(1) << 52;
	else
		exponent = 1;
	/* More bits are cut if the exponent would be below the format's minimum (subnormal results). */
	int bias = (1 << (exponent_bits - 1)) - 1, to = exponent - 1023 + bias;
	unsigned cut = 52 - fraction_bits;
	if (to < 1) {
		cut += 1 - to < 12 + (int)fraction_bits ? (unsigned)(1 - to) : 12 + fraction_bits;
		to = 1;
	}
	if (cut > 60)
		cut = 60;
	uint64_t kept = fraction >> cut, rest = fraction & ((UINT64_C(1) << cut) - 1);
	kept += away(kept, rest, UINT64_C(1) << (cut - 1), negative, rounding);
	/* The hidden bit, if there is one, carries into the exponent. */
	uint64_t result = ((uint64_t)(to - 1) << fraction_bits) + kept;
	if (result < infinity)
		return sign | (uint32_t)result;
	bool stays = rounding == GT_PTX_RZ || (rounding == GT_PTX_RM && !negative) ||
		     (rounding == GT_PTX_RP && negative);
	return sign | (stays ? infinity - 1 : infinity);
}

double gt_ptx_odd_sum(double x, double y)
{
	double sum = x + y;

	if (!isfinite(sum))
		return sum;
	/* Knuth's two-sum: the exact error of the rounded sum. */
	double part = sum - x, lacks = (x - (sum - part)) + (y - part);
	if (lacks == 0)
		return sum;
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	if (bits & 1)
		return sum;
	bits += (sum > 0) == (lacks > 0) ? 1 : UINT64_MAX;
	memcpy(&sum, &bits, sizeof sum);
	return sum;
}

/* ---- cvt ---- */

/* cvt of every pair of types. Floats become integers by the given rounding, clamped to the range of the type. NaN becomes 0, but
 * from f64 or to 64 bits only the highest bit is set (PTX, cvt). */

#define LEAST_u8 0
#define LEAST_u16 0
#define LEAST_u32 0
#define LEAST_u64 0
#define LEAST_s8 INT8_MIN
#define LEAST_s16 INT16_MIN
#define LEAST_s32 INT32_MIN
#define LEAST_s64 INT64_MIN
#define MOST_u8 UINT8_MAX
#define MOST_u16 UINT16_MAX
#define MOST_u32 UINT32_MAX
#define MOST_u64 UINT64_MAX
#define MOST_s8 INT8_MAX
#define MOST_s16 INT16_MAX
#define MOST_s32 INT32_MAX
#define MOST_s64 INT64_MAX

/* Clamped to a range; the bits of the result. */
GT_INLINE uint64_t clamped_s(int64_t x, int64_t least, uint64_t most)
{
	if (x < 0)
		return (uint64_t)(x < least ? least : x);
	return (uint64_t)x > most ? most : (uint64_t)x;
}
GT_INLINE uint64_t clamped_u(uint64_t x, int64_t least, uint64_t most)
{
	(void)least;
	return x > most ? most : x;
}

GT_INLINE double integral(double x, unsigned rounding)
{
	switch (rounding) {
	case GT_PTX_RN: return nearbyint(x);
	case GT_PTX_RM: return floor(x);
	case GT_PTX_RP: return ceil(x);
	default: return trunc(x);
	}
}
GT_INLINE uint64_t clamped_f(double x, int64_t least, uint64_t most, uint64_t nan)
{
	if (x != x)
		return nan;
	if (x <= (double)least)
		return (uint64_t)least;
	if (x >= (double)most)
		return most;
	return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* A double that rounds to a 16-bit float as the integer does: bits beyond its 53 are merged into the lowest bit. */
GT_INLINE double odd_magnitude(uint64_t x)
{
	return x >> 53 ? (double)(x >> 11 | ((x & 2047) != 0)) * 2048.0 : (double)x;
}
GT_INLINE double odd_u64(uint64_t x) { return odd_magnitude(x); }
GT_INLINE double odd_s64(int64_t x) { return x < 0 ? -odd_magnitude(0 - (uint64_t)x) : odd_magnitude((uint64_t)x); }

GT_INLINE float float_of(double x)
{
	return x == x ? (float)x : gt_ptx_from_bits(0x7fffffff);
}
GT_INLINE float number_of(float x)
{
	return x == x ? x : gt_ptx_from_bits(0x7fffffff);
}
GT_INLINE uint32_t half_pair(float upper, float lower, enum gt_ptx_rounding rounding)
{
	return (uint32_t)gt_ptx_to_half((double)upper, rounding) << 16 | gt_ptx_to_half((double)lower, rounding);
}
/* A float without its lowest bits, which are those that `most` has: of another type of the same exponent. A carry into the exponent is
 * right, too. */
GT_INLINE uint32_t without(float x, uint32_t most, enum gt_ptx_rounding rounding)
{
	const uint32_t bits = gt_ptx_to_bits(x), sign = bits >> 31;
	const uint32_t outwards = rounding == GT_PTX_RM ? sign * most : rounding == GT_PTX_RP ? (1 - sign) * most : 0;
	const uint32_t nearest = most / 2 + (rounding == GT_PTX_RNA || bits & (most + 1));
	const uint32_t added = rounding == GT_PTX_RNA || rounding == GT_PTX_RN || rounding == GT_PTX_AS_IT_IS ? nearest : outwards;

	return x != x ? 0x7fffffff & ~most : (bits + added) & ~most;
}
/* The largest number of its sign in place of an infinity (.satfinite); `step`: how far that is in a type's bits. */
GT_INLINE uint32_t finite(uint32_t bits, uint32_t infinity, uint32_t step)
{
	const uint32_t magnitude = bits & (infinity | (infinity - 1));

	return magnitude == infinity ? bits - step : bits;
}
GT_INLINE uint32_t to_tf32(float x, enum gt_ptx_rounding rounding) { return without(x, 0x1fff, rounding); }
GT_INLINE uint16_t bfloat_of(float x, enum gt_ptx_rounding rounding) { return (uint16_t)(without(x, 0xffff, rounding) >> 16); }
GT_INLINE uint32_t bfloat_pair(float upper, float lower, enum gt_ptx_rounding rounding)
{
	return without(upper, 0xffff, rounding) | without(lower, 0xffff, rounding) >> 16;
}
/* Floats of 4 and 6 bits, which have neither infinities nor NaN: to nearest even; what is beyond the largest becomes it, and NaN, too. */
GT_INLINE uint8_t to_tiny(double x, int exponent_bits, int fraction_bits)
{
	const int least = 2 - (1 << (exponent_bits - 1)); /* exponent */
	const unsigned most = (1U << (exponent_bits + fraction_bits)) - 1;
	const double magnitude = x != x || fabs(x) > 64 ? 64 : fabs(x);
	int exponent;

	frexp(magnitude, &exponent);
	exponent = magnitude == 0 || exponent - 1 < least ? least : exponent - 1;
	unsigned bits = (unsigned)((exponent - least) * (1 << fraction_bits) + (int)nearbyint(ldexp(magnitude, fraction_bits - exponent)));
	bits = bits < most ? bits : most;
	return (uint8_t)(x == x && signbit(x) ? bits | (most + 1) : bits);
}
GT_INLINE float from_tiny(unsigned x, int exponent_bits, int fraction_bits)
{
	const unsigned exponent = x >> fraction_bits & ((1U << exponent_bits) - 1), fraction = x & ((1U << fraction_bits) - 1);
	const int least = 2 - (1 << (exponent_bits - 1));
	const float magnitude = ldexpf((float)(exponent ? fraction + (1U << fraction_bits) : fraction),
				       (exponent ? least + (int)exponent - 1 : least) - fraction_bits);

	return x >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}
/* A power of two, by the exponent of a float; its sign is lost. 255 is NaN. */
GT_INLINE uint8_t to_ue8m0(uint32_t bits, enum gt_ptx_rounding rounding, bool finite)
{
	const uint32_t magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
	const uint32_t up = rounding == GT_PTX_RP && magnitude << 9 && magnitude > 0x400000 && exponent < 255;

	return (uint8_t)(finite && magnitude <= 0x7f800000 && exponent + up == 255 ? 254 : exponent + up);
}
GT_INLINE uint32_t from_ue8m0(uint32_t x)
{
	return x == 0 ? 0x40 : x == 255 ? 0x7fff : x << 7;
}
#define TINY(X, NAME, D, BITS, E, M)                                                               \
	X(cvt_##NAME##_f32, "cvt.satfinite." #NAME ".f32", D, f32, f32, none,                      \
	  to_tiny((double)x, E, M) << BITS | to_tiny((double)y, E, M))                             \
	X(cvt_f16x2_##NAME, "cvt.f16x2." #NAME, f16x2, D, none, none,                              \
	  half_pair(from_tiny((unsigned)x >> BITS, E, M), from_tiny(x, E, M), GT_PTX_RN))
#define POWERS(X, ID, NAME, FINITE)                                                                \
	X(ID##_f32, NAME ".f32", u16, f32, f32, none,                                              \
	  to_ue8m0(gt_ptx_to_bits(x), ROUNDING, FINITE) << 8 | to_ue8m0(gt_ptx_to_bits(y), ROUNDING, FINITE)) \
	X(ID##_bf16x2, NAME ".bf16x2", u16, bf16x2, none, none,                                    \
	  to_ue8m0(x & 0xffff0000, ROUNDING, FINITE) << 8 | to_ue8m0(x << 16, ROUNDING, FINITE))
#define BYTE_PAIR(TO, UPPER, LOWER) ((uint16_t)(TO((double)(UPPER)) << 8 | TO((double)(LOWER))))
#define UPPER_HALF(X) gt_ptx_from_half((uint16_t)((X) >> 16))
#define LOWER_HALF(X) gt_ptx_from_half((uint16_t)(X))
#define HALF_PAIR(FROM, X) half_pair((float)FROM((X) >> 8), (float)FROM((X) & 0xff), GT_PTX_RN)
GT_INLINE double from_e5m2(uint32_t x) { return (double)gt_ptx_from_half((uint16_t)(x << 8)); }
#define BYTES(X, NAME, TO, FROM)                                                                   \
	X(cvt_##NAME##_f32, "cvt.satfinite." #NAME ".f32", b16, f32, f32, none, BYTE_PAIR(TO, x, y)) \
	X(cvt_##NAME##_f16x2, "cvt.satfinite." #NAME ".f16x2", b16, f16x2, none, none,             \
	  BYTE_PAIR(TO, UPPER_HALF(x), LOWER_HALF(x)))                                             \
	X(cvt_f16x2_##NAME, "cvt.f16x2." #NAME, f16x2, b16, none, none, HALF_PAIR(FROM, x))
#define ROUNDING ((enum gt_ptx_rounding)op->choice)

#define WHOLE(X, D, S, SIGN)                                                                     \
	X(cvt_##D##_##S, "cvt." #D "." #S, D, S, none, none, x)                                  \
	X(cvt_sat_##D##_##S, "cvt.sat." #D "." #S, D, S, none, none, clamped_##SIGN(x, LEAST_##D, MOST_##D))
#define UPPER_BIT(D) (UINT64_C(1) << (8 * sizeof(GT_LANE_##D) - 1))
#define FROM_FLOAT(X, D, S, AS_DOUBLE)                                                             \
	X(cvt_##D##_##S, "cvt." #D "." #S, D, S, none, none,                                       \
	  clamped_f(integral(AS_DOUBLE(x), op->choice), LEAST_##D, MOST_##D,                       \
		    sizeof(GT_LANE_##D) == 8 || sizeof(GT_LANE_##S) == 8 ? UPPER_BIT(D) : 0))
#define TO_INTEGER(X, D)                                                                           \
	WHOLE(X, D, u8, u) WHOLE(X, D, u16, u) WHOLE(X, D, u32, u) WHOLE(X, D, u64, u)             \
	WHOLE(X, D, s8, s) WHOLE(X, D, s16, s) WHOLE(X, D, s32, s) WHOLE(X, D, s64, s)             \
	FROM_FLOAT(X, D, f32, (double)) FROM_FLOAT(X, D, f64, )                                    \
	FROM_FLOAT(X, D, f16, (double)gt_ptx_from_half) FROM_FLOAT(X, D, bf16, (double)gt_ptx_from_bfloat)
#define FROM_INTEGER(X, S, ODD)                                                                    \
	X(cvt_f32_##S, "cvt.f32." #S, f32, S, none, none, x)                                       \
	X(cvt_f64_##S, "cvt.f64." #S, f64, S, none, none, x)                                       \
	X(cvt_f16_##S, "cvt.f16." #S, f16, S, none, none, gt_ptx_to_half(ODD(x), ROUNDING))        \
	X(cvt_bf16_##S, "cvt.bf16." #S, bf16, S, none, none, gt_ptx_to_bfloat(ODD(x), ROUNDING))
/* Rounded to integers of the same type: .rni and so on; by name, cvt.i. */
#define FLOAT_TO_FLOAT(X)                                                                          \
	X(cvt_f32_f32, "cvt.f32.f32", f32, f32, none, none, x)                                     \
	X(cvt_f64_f64, "cvt.f64.f64", f64, f64, none, none, x)                                     \
	X(cvt_f64_f32, "cvt.f64.f32", f64, f32, none, none, x)                                     \
	X(cvt_f32_f64, "cvt.f32.f64", f32, f64, none, none, float_of(x))                           \
	X(cvt_i_f32_f32, "cvt.i.f32.f32", f32, f32, none, none, float_of(integral((double)x, op->choice))) \
	X(cvt_i_f64_f64, "cvt.i.f64.f64", f64, f64, none, none, integral(x, op->choice))           \
	X(cvt_i_f16_f16, "cvt.i.f16.f16", f16, f16, none, none,                                    \
	  gt_ptx_to_half(integral((double)gt_ptx_from_half(x), op->choice), GT_PTX_RN))            \
	X(cvt_i_bf16_bf16, "cvt.i.bf16.bf16", bf16, bf16, none, none,                              \
	  gt_ptx_to_bfloat(integral((double)gt_ptx_from_bfloat(x), op->choice), GT_PTX_RN))        \
	X(cvt_f16_f16, "cvt.f16.f16", f16, f16, none, none, x)                                     \
	X(cvt_bf16_bf16, "cvt.bf16.bf16", bf16, bf16, none, none, x)                               \
	X(cvt_f64_f16, "cvt.f64.f16", f64, f16, none, none, gt_ptx_from_half(x))                   \
	X(cvt_f32_bf16, "cvt.f32.bf16", f32, bf16, none, none, number_of(gt_ptx_from_bfloat(x)))   \
	X(cvt_f64_bf16, "cvt.f64.bf16", f64, bf16, none, none, gt_ptx_from_bfloat(x))              \
	X(cvt_f16_f64, "cvt.f16.f64", f16, f64, none, none, gt_ptx_to_half(x, ROUNDING))           \
	X(cvt_bf16_f32, "cvt.bf16.f32", bf16, f32, none, none, bfloat_of(x, ROUNDING))         \
	X(cvt_bf16_f64, "cvt.bf16.f64", bf16, f64, none, none, gt_ptx_to_bfloat(x, ROUNDING))      \
	X(cvt_bf16_f16, "cvt.bf16.f16", bf16, f16, none, none,                                     \
	  gt_ptx_to_bfloat((double)gt_ptx_from_half(x), ROUNDING))                                 \
	X(cvt_f16_bf16, "cvt.f16.bf16", f16, bf16, none, none,                                     \
	  gt_ptx_to_half((double)gt_ptx_from_bfloat(x), ROUNDING))                                 \
	X(cvt_bf16x2_f32, "cvt.bf16x2.f32", bf16x2, f32, f32, none, bfloat_pair(x, y, ROUNDING))   \
	X(cvt_tf32_f32, "cvt.tf32.f32", b32, f32, none, none, to_tf32(x, ROUNDING))                \
	X(cvt_finite_tf32_f32, "cvt.satfinite.tf32.f32", b32, f32, none, none, finite(to_tf32(x, ROUNDING), 0x7f800000, 0x2000)) \
	X(cvt_finite_bf16_f32, "cvt.satfinite.bf16.f32", bf16, f32, none, none, finite(bfloat_of(x, ROUNDING), 0x7f80, 1)) \
	X(cvt_finite_bf16x2_f32, "cvt.satfinite.bf16x2.f32", bf16x2, f32, f32, none,               \
	  finite(bfloat_of(x, ROUNDING), 0x7f80, 1) << 16 | finite(bfloat_of(y, ROUNDING), 0x7f80, 1)) \
	X(cvt_finite_f16_f32, "cvt.satfinite.f16.f32", f16, f32, none, none, finite(gt_ptx_to_half((double)x, ROUNDING), 0x7c00, 1)) \
	X(cvt_finite_f16x2_f32, "cvt.satfinite.f16x2.f32", f16x2, f32, f32, none,                  \
	  finite(gt_ptx_to_half((double)x, ROUNDING), 0x7c00, 1) << 16 | finite(gt_ptx_to_half((double)y, ROUNDING), 0x7c00, 1))

#define CONVERSIONS(X)                                                                             \
	TO_INTEGER(X, u8) TO_INTEGER(X, u16) TO_INTEGER(X, u32) TO_INTEGER(X, u64)                 \
	TO_INTEGER(X, s8) TO_INTEGER(X, s16) TO_INTEGER(X, s32) TO_INTEGER(X, s64)                 \
	FROM_INTEGER(X, u8, (double)) FROM_INTEGER(X, u16, (double)) FROM_INTEGER(X, u32, (double)) \
	FROM_INTEGER(X, s8, (double)) FROM_INTEGER(X, s16, (double)) FROM_INTEGER(X, s32, (double)) \
	FROM_INTEGER(X, u64, odd_u64) FROM_INTEGER(X, s64, odd_s64) FLOAT_TO_FLOAT(X)              \
	BYTES(X, e4m3x2, gt_ptx_to_e4m3, gt_ptx_from_e4m3) BYTES(X, e5m2x2, gt_ptx_to_e5m2, from_e5m2)           \
	TINY(X, e2m1x2, u8, 4, 2, 1) TINY(X, e2m3x2, u16, 8, 2, 3) TINY(X, e3m2x2, u16, 8, 3, 2) \
	POWERS(X, cvt_ue8m0x2, "cvt.ue8m0x2", false) POWERS(X, cvt_finite_ue8m0x2, "cvt.satfinite.ue8m0x2", true) \
	X(cvt_bf16x2_ue8m0x2, "cvt.bf16x2.ue8m0x2", bf16x2, u16, none, none, from_ue8m0(x >> 8) << 16 | from_ue8m0(x & 0xff)) \
	X(relu_f32, "relu.f32", f32, f32, none, none, x > 0 || x != x ? x : 0)
CONVERSIONS(GT_LANES)

/* Between f16 and f32, for which there are instructions. */
#define BY_INSTRUCTION(X)                                                                          \
	X(cvt_f32_f16, "cvt.f32.f16", f32, f16, none, none, number_of(gt_ptx_from_half(x)))        \
	X(cvt_f16_f32, "cvt.f16.f32", f16, f32, none, none, gt_ptx_to_half((double)x, ROUNDING))   \
	X(cvt_f16x2_f32, "cvt.f16x2.f32", f16x2, f32, f32, none, half_pair(x, y, ROUNDING))
#if !defined __x86_64__
BY_INSTRUCTION(GT_LANES)
#else
BY_INSTRUCTION(GT_LANES_PLAIN)

GT_FAST GT_INLINE __m128i with_one_nan(__m128i halves)
{
	const __m128i nan = _mm_set1_epi16(0x7fff), infinity = _mm_set1_epi16(0x7c00);

	return _mm_blendv_epi8(halves, nan, _mm_cmpgt_epi16(_mm_and_si128(halves, nan), infinity));
}
GT_FAST GT_INLINE __m128i halves_of(const float *from, enum gt_ptx_rounding rounding)
{
	const __m256 x = _mm256_loadu_ps(from);

	switch (rounding) {
	case GT_PTX_RZ: return with_one_nan(_mm256_cvtps_ph(x, _MM_FROUND_TO_ZERO));
	case GT_PTX_RM: return with_one_nan(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEG_INF));
	case GT_PTX_RP: return with_one_nan(_mm256_cvtps_ph(x, _MM_FROUND_TO_POS_INF));
	default: return with_one_nan(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
	}
}
GT_FAST GT_INLINE __m256i half_pairs(const float *upper, const float *lower, enum gt_ptx_rounding rounding)
{
	const __m256i words = _mm256_cvtepu16_epi32(halves_of(lower, rounding));

	return _mm256_or_si256(words, _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves_of(upper, rounding)), 16));
}
GT_FAST GT_INLINE __m256 floats_of(const uint16_t *halves)
{
	const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)halves));

	return _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
GT_LANES_FAST(cvt_f32_f16, f32, f16, none, none, 8, _mm256_storeu_ps(d + i, floats_of(lanes_a + i)))
GT_LANES_FAST(cvt_f16_f32, f16, f32, none, none, 8, _mm_storeu_si128((__m128i *)(void *)(d + i), halves_of(lanes_a + i, ROUNDING)))
GT_LANES_FAST(cvt_f16x2_f32, f16x2, f32, f32, none, 8,
	      _mm256_storeu_si256((__m256i *)(void *)(d + i), half_pairs(lanes_a + i, lanes_b + i, ROUNDING)))
#endif

static const struct gt_ptx_form convert_rows[] = {CONVERSIONS(GT_ROW) BY_INSTRUCTION(GT_ROW)};
const struct gt_ptx_forms gt_ptx_convert_forms = {convert_rows, sizeof convert_rows / sizeof convert_rows[0]};
