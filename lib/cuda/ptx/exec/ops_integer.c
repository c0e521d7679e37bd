/* SPDX-License-Identifier: MIT */
/* Lane operations of integers: arithmetic; products that are twice as wide, and sums that carry; logic, shifts, fields and
 * permutations of bits. A row of the table at the end of a section is an operation. */
#include <string.h>

#include "cuda/ptx/exec/lanes.h"

/* ---- integers ---- */

/* Integer arithmetic. Results that PTX does not define are those of an H100: a quotient and a remainder by zero are all ones; the
 * smallest number divided by -1 is itself, with remainder 0. */

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
		return (GT_LANE_##T)(y ? (GT_LANE_##T)(x % y) : (GT_LANE_##T)-1);                  \
	}
#define SIGNED_DIVISION(T, W)                                                                      \
	GT_INLINE GT_LANE_##T quotient_##T(GT_LANE_##T x, GT_LANE_##T y)                           \
	{                                                                                          \
		return (GT_LANE_##T)(y == 0 ? -1 : y == -1 ? (GT_LANE_##T)(0 - (W)x) : (GT_LANE_##T)(x / y)); \
	}                                                                                          \
	GT_INLINE GT_LANE_##T remainder_##T(GT_LANE_##T x, GT_LANE_##T y)                          \
	{                                                                                          \
		return (GT_LANE_##T)(y == 0 ? -1 : y == -1 ? 0 : (GT_LANE_##T)(x % y));             \
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

/* Two numbers of 16 bits in a register, each by itself. */
#define EACH(C, HOW)	    ((uint32_t)(uint16_t)HOW((C)(x >> 16), (C)(y >> 16)) << 16 | (uint16_t)HOW((C)x, (C)y))
#define SUM(A, B)	    ((A) + (B))
#define LESSER(A, B)	    ((A) < (B) ? (A) : (B))
#define GREATER(A, B)	    ((A) > (B) ? (A) : (B))
#define NOT_BELOW_0(A)	    GREATER(A, 0)
#define LESSER_RELU(A, B)   NOT_BELOW_0(LESSER(A, B))
#define GREATER_RELU(A, B)  NOT_BELOW_0(GREATER(A, B))
#define PAIRS16(X, T, C)                                                                           \
	X(add_##T##x2, "add." #T "x2", b32, b32, b32, none, EACH(C, SUM))                          \
	X(min_##T##x2, "min." #T "x2", b32, b32, b32, none, EACH(C, LESSER))                       \
	X(max_##T##x2, "max." #T "x2", b32, b32, b32, none, EACH(C, GREATER))
#define RECTIFIED16(X)                                                                             \
	X(min_relu_s16x2, "min.relu.s16x2", b32, b32, b32, none, EACH(int16_t, LESSER_RELU))       \
	X(max_relu_s16x2, "max.relu.s16x2", b32, b32, b32, none, EACH(int16_t, GREATER_RELU))

/* Two saturated numbers of N bits, behind the lower bits of a third. */
#define PACKS(X, T, N, LEAST, MOST)                                                                \
	X(pack_##T, "cvt.sat.pack." #T ".s32.b32", b32, s32, s32, b32,                             \
	  z << 2 * N | packed(x, LEAST, MOST, N) << N | packed(y, LEAST, MOST, N))
#define PACKS16(X, T, LEAST, MOST)                                                                 \
	X(pack_##T, "cvt.sat.pack." #T ".s32", b32, s32, s32, none, packed(x, LEAST, MOST, 16) << 16 | packed(y, LEAST, MOST, 16))
GT_INLINE uint32_t packed(int32_t x, int32_t least, int32_t most, unsigned bits)
{
	return (uint32_t)(x < least ? least : x > most ? most : x) & ((UINT32_C(1) << bits) - 1);
}
#define PACKED(X)                                                                                  \
	PACKS16(X, u16, 0, 65535) PACKS16(X, s16, -32768, 32767) PACKS(X, u8, 8, 0, 255) PACKS(X, s8, 8, -128, 127) \
	PACKS(X, u4, 4, 0, 15) PACKS(X, s4, 4, -8, 7) PACKS(X, u2, 2, 0, 3) PACKS(X, s2, 2, -2, 1)

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

/* Instructions for video: of parts that are extended to 64 bits, with a sum of 34. */
GT_INLINE void take_part(const uint32_t *lanes_a, const uint32_t *lanes_b, struct gt_ptx_part part, bool is_signed, int64_t *values)
{
	const uint32_t *lanes = part.at < 32 ? lanes_a : lanes_b;
	const unsigned up = 64U - part.at % 32U - part.bits, down = 64U - part.bits;

	for (int i = 0; i < GT_WARP_SIZE; i++) {
		const uint64_t high = (uint64_t)lanes[i] << up;
		values[i] = is_signed ? (int64_t)high >> down : (int64_t)(high >> down);
	}
}

/* vmad: the sum has 128 bits, of which 64 are left behind the shift. */
GT_INLINE int64_t multiplied(const struct gt_ptx_video *video, int64_t x, int64_t y, uint32_t z)
{
	const uint64_t low = (uint64_t)x * (uint64_t)y, high = (x < 0) != (y < 0) && low ? UINT64_MAX : 0;
	const uint64_t c = (video->d_signed ? (uint64_t)(int64_t)(int32_t)z : z) ^ video->turn_c;
	const uint64_t sum = (low ^ video->turn) + c, whole = sum + video->one;
	const uint64_t above = (high ^ video->turn) + ((int64_t)c < 0 ? UINT64_MAX : 0) + (sum < c) + (whole < sum);
	const uint64_t result = video->shift ? whole >> video->shift | above << (64 - video->shift) : whole;

	return !video->d_signed && video->saturates && result > UINT32_MAX ? UINT32_MAX : (int64_t)result;
}

/* Shifted to the left in 34 bits. */
GT_INLINE int64_t shifted34(int64_t x, unsigned n) { return (int64_t)((uint64_t)x << n << 30) >> 30; }
GT_INLINE unsigned video_shift(const struct gt_ptx_video *video, int64_t y)
{
	return video->wraps ? (unsigned)(y & 31) : y > 32 ? 32 : (unsigned)y;
}

#define VIDEO(X)                                                                            \
	X(ADD, x + y) X(SUB, x - y) X(DIFFERENCE, x < y ? y - x : x - y) X(MIN, x < y ? x : y) \
	X(MAX, x > y ? x : y) X(AVERAGE, (x + y + (x + y >= 0)) >> 1)                       \
	X(MAD, multiplied(video, x, y, lanes_c[i]))                                         \
	X(SHL, shifted34(x, video_shift(video, y))) X(SHR, x >> video_shift(video, y))      \
	X(EQ, x == y) X(NE, x != y) X(LT, x < y) X(LE, x <= y) X(GT, x > y) X(GE, x >= y)
#define VIDEO_CASE(OPERATION, EXPRESSION)                                                   \
	case GT_PTX_VIDEO_##OPERATION:                                                      \
		for (int i = 0; i < GT_WARP_SIZE; i++) {                                    \
			const int64_t x = a[i], y = b[i];                                   \
			a[i] = EXPRESSION;                                                  \
		}                                                                           \
		break;
/* The results are left in a. */
GT_INLINE void operate(const struct gt_ptx_video *video, int64_t *a, const int64_t *b, const uint32_t *lanes_c)
{
	switch (video->operation) {
		VIDEO(VIDEO_CASE)
	}
	for (int i = 0; video->saturates && i < GT_WARP_SIZE; i++)
		a[i] = a[i] < video->least ? video->least : a[i] > video->most ? video->most : a[i];
}

/* What a result and the third word, or what has become of it so far, are in the end. */
GT_INLINE uint32_t ended(const struct gt_ptx_video *video, struct gt_ptx_part to, uint32_t result, uint32_t z)
{
	const uint32_t ones = UINT32_MAX >> (32 - to.bits) << to.at, turned = video->d_signed ? UINT32_C(0x80000000) : 0;

	switch (video->end) {
	case GT_PTX_VIDEO_THEN_ADD: return z + result;
	case GT_PTX_VIDEO_THEN_MIN: return (z ^ turned) < (result ^ turned) ? z : result;
	case GT_PTX_VIDEO_THEN_MAX: return (z ^ turned) > (result ^ turned) ? z : result;
	default: return (z & ~ones) | (result << to.at & ones);
	}
}

GT_INLINE const struct gt_ptx_op *video(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_video *of = op->with.video;
	uint32_t *lanes_d = gt_ptx_lanes(warp, op->d), found[GT_WARP_SIZE];
	GT_OPERANDS(u32, u32, u32)

	memcpy(found, lanes_c, sizeof found);
	for (unsigned part = 0; part < of->n; part++) {
		int64_t a[GT_WARP_SIZE], b[GT_WARP_SIZE];
		if (!of->d[part].bits)
			continue;
		take_part(lanes_a, lanes_b, of->a[part], of->a_signed, a);
		take_part(lanes_a, lanes_b, of->b[part], of->b_signed, b);
		operate(of, a, b, lanes_c);
		for (int i = 0; i < GT_WARP_SIZE; i++)
			found[i] = ended(of, of->d[part], (uint32_t)a[i], found[i]);
	}
	for (int i = 0; i < GT_WARP_SIZE; i++)
		lanes_d[i] = mask >> i & 1 ? found[i] : lanes_d[i];
	return op + 1;
}
GT_EVERY(video)

#define INTEGER(X)                                                                                 \
	BASIC(X, s32, uint32_t) BASIC(X, u32, uint32_t) BASIC(X, s64, uint64_t) BASIC(X, u64, uint64_t) \
	BASIC(X, s16, uint32_t) BASIC(X, u16, uint32_t)                                            \
	SIGNED(X, s16, uint32_t) SIGNED(X, s32, uint32_t) SIGNED(X, s64, uint64_t)                 \
	PRODUCT24(X, u32) PRODUCT24(X, s32) SATURATED(X) RECTIFIED(X) DIFFERENCES(X, u32) \
	DIFFERENCES(X, s32) PAIRS16(X, u16, uint16_t) PAIRS16(X, s16, int16_t) RECTIFIED16(X) PACKED(X)

INTEGER(GT_LANES)
static const struct gt_ptx_form integer_rows[] = {
	INTEGER(GT_ROW){GT_PTX_VIDEO, GT_PTX_U32, {GT_PTX_U32, GT_PTX_U32, GT_PTX_U32}, GT_STEPS(video)},
};
const struct gt_ptx_forms gt_ptx_integer_forms = {integer_rows, sizeof integer_rows / sizeof integer_rows[0]};

/* ---- wide products, and carries ---- */

/* Products of twice the width, and sums with a carry: CC.CF, which is in slot q of all of them, with all bits of a lane alike. */

#define WIDE(X, T, D, W)                                                                         \
	X(mul_wide_##T, "mul.wide." #T, D, T, T, none, (W)x * (W)y)                              \
	X(mad_wide_##T, "mad.wide." #T, D, T, T, D, (GT_LANE_u64)((W)x * (W)y) + (GT_LANE_u64)z)
#define WIDES(X)                                                                                 \
	WIDE(X, s32, s64, int64_t) WIDE(X, u32, u64, uint64_t) WIDE(X, s16, s32, int32_t) WIDE(X, u16, u32, uint32_t)
WIDES(GT_LANES)

/* x + y + carry; CARRY_IN and CARRY_OUT tell which of these a form has. A difference is x + ~y + 1, and its CC.CF is the carry of that sum,
 * which is 1 if nothing is borrowed: so GPUs do, and nvcc's division of 128 bits relies on it, where an addc follows a subc. The highest bits
 * tell the carry of a sum: both terms have it, or one has and the sum has not. Without branches compilers make vector instructions of it. */
#define CARRIED_LANE(T, A, B, CARRY_IN, CARRY_OUT, ACTIVE)                                         \
	GT_OPERAND_LANES(T, T, T)                                                                  \
	const GT_LANE_##T left = (GT_LANE_##T)(A), right = (GT_LANE_##T)(B);                       \
	const GT_LANE_##T sum = left + right + (GT_LANE_##T)(CARRY_IN);                            \
	const uint32_t carry = (uint32_t)(((left & right) | ((left | right) & ~sum)) >> (8 * sizeof sum - 1)); \
	lanes_d[i] = ACTIVE ? sum : lanes_d[i];                                                    \
	if (CARRY_OUT)                                                                             \
		carries[i] = ACTIVE ? 0 - carry : carries[i];
#define CARRIED(ID, NAME, T, A, B, CARRY_IN, CARRY_OUT)                                            \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##T *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		uint32_t *carries = gt_ptx_lanes(warp, op->q);                                     \
		GT_OPERANDS(T, T, T)                                                               \
		(void)carries;                                                                     \
		if (mask == GT_PTX_FULL)                                                           \
			GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                    \
				CARRIED_LANE(T, A, B, CARRY_IN, CARRY_OUT, true)                   \
			}                                                                          \
		else                                                                               \
			GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                    \
				CARRIED_LANE(T, A, B, CARRY_IN, CARRY_OUT, (mask >> i & 1))        \
			}                                                                          \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
#define CARRIED_ROW2(ID, NAME, T, A, B, IN, OUT)                                                 \
	{NAME, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T}, GT_STEPS(ID)},
#define CARRIED_ROW3(ID, NAME, T, A, B, IN, OUT)                                                 \
	{NAME, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T, GT_TYPE_##T}, GT_STEPS(ID)},

enum { NOTHING, CARRIES };
#define CARRY (carries[i] & 1)
#define SUMS(X, T, U, NAME)                                                                      \
	X(add_cc_##NAME, "add.cc." #NAME, U, x, y, 0, CARRIES)                                   \
	X(addc_##NAME, "addc." #NAME, U, x, y, CARRY, NOTHING)                                   \
	X(addc_cc_##NAME, "addc.cc." #NAME, U, x, y, CARRY, CARRIES)                             \
	X(sub_cc_##NAME, "sub.cc." #NAME, U, x, ~y, 1, CARRIES)                                  \
	X(subc_##NAME, "subc." #NAME, U, x, ~y, CARRY, NOTHING)                                  \
	X(subc_cc_##NAME, "subc.cc." #NAME, U, x, ~y, CARRY, CARRIES)
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

/* ---- bits ---- */

/* Logic, shifts, and operations on bits. Shifts past the width give 0, or copies of the sign. */

#define LOGIC(X, T, W)                                                                             \
	X(and_##T, "and." #T, T, T, T, none, x & y)                                                \
	X(or_##T, "or." #T, T, T, T, none, x | y)                                                  \
	X(xor_##T, "xor." #T, T, T, T, none, x ^ y)                                                \
	X(not_##T, "not." #T, T, T, none, none, ~(W)x)                                             \
	X(cnot_##T, "cnot." #T, T, T, none, none, x == 0)
#define SHIFT(X, T, BITS, W, S)                                                                    \
	X(shl_b##T, "shl.b" #T, b##T, b##T, u32, none, y < BITS ? (W)x << (y & (BITS - 1)) : 0)    \
	X(shr_b##T, "shr.b" #T, b##T, b##T, u32, none, y < BITS ? x >> (y & (BITS - 1)) : 0)       \
	X(shr_u##T, "shr.u" #T, u##T, u##T, u32, none, y < BITS ? x >> (y & (BITS - 1)) : 0)       \
	X(shr_s##T, "shr.s" #T, s##T, s##T, u32, none, (S)x >> (y < BITS ? y & (BITS - 1) : BITS - 1))

GT_INLINE uint32_t reversed32(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}
GT_INLINE uint64_t reversed64(uint64_t x)
{
	return (uint64_t)reversed32((uint32_t)x) << 32 | reversed32((uint32_t)(x >> 32));
}

/* The position or length of a field. PTX leaves those above 255 undefined: GPUs take the low 8 bits in operations of 32 bits, and all in
 * those of 64. */
GT_INLINE unsigned of_field(uint32_t n, unsigned width) { return width == 64 ? n < 255 ? n : 255 : n & 255; }
/* Bits y to y + z - 1 of x; above the top, the sign, which is the field's highest bit within x. */
GT_INLINE uint64_t field(uint64_t x, uint32_t y, uint32_t z, unsigned width, bool is_signed)
{
	unsigned position = of_field(y, width), length = of_field(z, width);
	if (length == 0)
		return 0;
	unsigned last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
	uint64_t sign = is_signed && x >> last & 1 ? UINT64_MAX : 0;
	if (position >= width)
		return sign;
	uint64_t kept = last - position + 1 < 64 ? (UINT64_C(1) << (last - position + 1)) - 1 : UINT64_MAX;
	return (x >> position & kept) | (sign & ~kept);
}

/* The highest bit that differs from the sign; all ones if there is none. */
GT_INLINE uint32_t found(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX; }
GT_INLINE uint32_t shift_amount(uint32_t found_at, unsigned width)
{
	return found_at == UINT32_MAX ? found_at : width - 1 - found_at;
}
GT_INLINE uint64_t unsign32(int32_t x) { return (uint32_t)(x < 0 ? ~x : x); }
GT_INLINE uint64_t unsign64(int64_t x) { return (uint64_t)(x < 0 ? ~x : x); }

/* The upper or lower half of a shift of the 64 bits y:x. */
GT_INLINE uint32_t funnel_left(uint32_t x, uint32_t y, unsigned n)
{
	return (uint32_t)(((uint64_t)y << 32 | x) << n >> 32);
}
GT_INLINE uint32_t funnel_right(uint32_t x, uint32_t y, unsigned n)
{
	return (uint32_t)(((uint64_t)y << 32 | x) >> n);
}

/* y ones from bit x on. */
GT_INLINE uint32_t ones(uint32_t from, uint32_t length)
{
	uint64_t run = length >= 32 ? UINT32_MAX : (UINT64_C(1) << length) - 1;

	return from >= 32 ? 0 : (uint32_t)(run << from);
}

/* The n-th set bit of x, counted upwards from bit `from`, or downwards if n is negative; for n = 0 the bit `from` itself, if it
 * is set. All ones if there is none, and if bit `from` does not exist, where PTX defines no result. */
GT_INLINE uint32_t nth_set(uint32_t x, uint32_t from, int32_t n)
{
	uint32_t left = from >= 32 ? 0 : x;

	left &= n > 0 ? UINT32_MAX << (from & 31) : (UINT32_C(2) << (from & 31)) - 1;
	if (n == 0)
		left &= UINT32_C(1) << (from & 31);
	for (uint32_t more = n < 0 ? 0 - (uint32_t)n : (uint32_t)n; more > 1 && left; more--)
		left &= n > 0 ? left - 1 : ~(UINT32_C(1) << found(left));
	return left == 0 ? UINT32_MAX : n > 0 ? found(left & (0 - left)) : found(left);
}

/* Bytes of y:x selected by the nibbles of z; bit 3 of a nibble replicates the byte's sign. Of operations that vectors have, and without a
 * loop, so that a compiler takes many lanes at once. */
GT_INLINE uint32_t selected(uint32_t x, uint32_t y, uint32_t choice)
{
	const uint32_t top = (choice & 4 ? y : x) << (24 - 8 * (choice & 3));

	return (choice & 8 ? 0 - (top >> 31) : top) >> 24;
}
GT_INLINE uint32_t permuted(uint32_t x, uint32_t y, uint32_t z)
{
	return selected(x, y, z) | selected(x, y, z >> 4) << 8 | selected(x, y, z >> 8) << 16 | selected(x, y, z >> 12) << 24;
}

/* The modes of prmt: which byte of y:x is selected for byte i; n is the low two bits of z. */
GT_INLINE uint32_t permuted_by(uint32_t x, uint32_t y, const unsigned char *choice)
{
	uint32_t z = 0;

	for (unsigned i = 0; i < 4; i++)
		z |= (uint32_t)choice[i] << 4 * i;
	return permuted(x, y, z);
}
static const unsigned char forward4[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
static const unsigned char backward4[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
static const unsigned char replicate8[4][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
static const unsigned char edge_left[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
static const unsigned char edge_right[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
static const unsigned char replicate16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};

/* A value of z bits, sign or zero extended. */
GT_INLINE uint32_t extended(uint32_t x, uint32_t bits, bool is_signed)
{
	if (bits == 0)
		return 0;
	if (bits >= 32)
		return x;
	uint32_t kept = (UINT32_C(1) << bits) - 1;
	return is_signed && x >> (bits - 1) & 1 ? x | ~kept : x & kept;
}

/* The sums of products of dp4a and dp2a. */
GT_INLINE uint32_t part(uint32_t x, unsigned i, unsigned bits, bool is_signed)
{
	return extended(x >> i * bits, bits, is_signed);
}
GT_INLINE uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, bool x_signed, bool y_signed)
{
	for (unsigned i = 0; i < 4; i++)
		z += part(x, i, 8, x_signed) * part(y, i, 8, y_signed);
	return z;
}
GT_INLINE uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, bool x_signed, bool y_signed, unsigned from)
{
	for (unsigned i = 0; i < 2; i++)
		z += part(x, i, 16, x_signed) * part(y, i + from, 8, y_signed);
	return z;
}

#define COUNTS(X, N)                                                                               \
	X(popc_b##N, "popc.b" #N, u32, b##N, none, none, N == 64 ? __builtin_popcountll((uint64_t)x) : \
							  __builtin_popcount((uint32_t)x))         \
	X(clz_b##N, "clz.b" #N, u32, b##N, none, none,                                             \
	  x ? __builtin_clzll((uint64_t)x) - (64 - N) : N)                                         \
	X(brev_b##N, "brev.b" #N, b##N, b##N, none, none, reversed##N(x))                          \
	X(bfe_u##N, "bfe.u" #N, u##N, u##N, u32, u32, field(x, y, z, N, false))                    \
	X(bfe_s##N, "bfe.s" #N, s##N, u##N, u32, u32, field(x, y, z, N, true))                     \
	X(bfind_u##N, "bfind.u" #N, u32, u##N, none, none, found(x))                               \
	X(bfind_s##N, "bfind.s" #N, u32, s##N, none, none, found(unsign##N(x)))                    \
	X(bfind_shift_u##N, "bfind.shiftamt.u" #N, u32, u##N, none, none, shift_amount(found(x), N)) \
	X(bfind_shift_s##N, "bfind.shiftamt.s" #N, u32, s##N, none, none, shift_amount(found(unsign##N(x)), N))
#define FUNNELS(X)                                                                                 \
	X(shf_l_wrap, "shf.l.wrap.b32", b32, b32, b32, u32, funnel_left(x, y, z & 31))             \
	X(shf_r_wrap, "shf.r.wrap.b32", b32, b32, b32, u32, funnel_right(x, y, z & 31))            \
	X(shf_l_clamp, "shf.l.clamp.b32", b32, b32, b32, u32, funnel_left(x, y, z < 32 ? z : 32))  \
	X(shf_r_clamp, "shf.r.clamp.b32", b32, b32, b32, u32, funnel_right(x, y, z < 32 ? z : 32))
#define PERMUTES(X)                                                                                \
	X(prmt, "prmt.b32", b32, b32, b32, b32, permuted(x, y, z))                                 \
	X(prmt_f4e, "prmt.b32.f4e", b32, b32, b32, b32, permuted_by(x, y, forward4[z & 3]))        \
	X(prmt_b4e, "prmt.b32.b4e", b32, b32, b32, b32, permuted_by(x, y, backward4[z & 3]))       \
	X(prmt_rc8, "prmt.b32.rc8", b32, b32, b32, b32, permuted_by(x, y, replicate8[z & 3]))      \
	X(prmt_ecl, "prmt.b32.ecl", b32, b32, b32, b32, permuted_by(x, y, edge_left[z & 3]))       \
	X(prmt_ecr, "prmt.b32.ecr", b32, b32, b32, b32, permuted_by(x, y, edge_right[z & 3]))      \
	X(prmt_rc16, "prmt.b32.rc16", b32, b32, b32, b32, permuted_by(x, y, replicate16[z & 3]))
#define MASKS(X)                                                                                   \
	X(fns, "fns.b32", b32, b32, u32, s32, nth_set(x, y, z))                                    \
	X(bmsk_clamp, "bmsk.clamp.b32", b32, u32, u32, none, ones(x, y))                           \
	X(bmsk_wrap, "bmsk.wrap.b32", b32, u32, u32, none, ones(x & 31, y & 31))                   \
	X(szext_clamp_u32, "szext.clamp.u32", u32, u32, u32, none, extended(x, y, false))          \
	X(szext_clamp_s32, "szext.clamp.s32", s32, u32, u32, none, extended(x, y, true))           \
	X(szext_wrap_u32, "szext.wrap.u32", u32, u32, u32, none, extended(x, y & 31, false))       \
	X(szext_wrap_s32, "szext.wrap.s32", s32, u32, u32, none, extended(x, y & 31, true))
#define DOTS(X, T, U, XS, YS)                                                                      \
	X(dp4a_##T##_##U, "dp4a." #T "." #U, b32, b32, b32, b32, dot4(x, y, z, XS, YS))            \
	X(dp2a_lo_##T##_##U, "dp2a.lo." #T "." #U, b32, b32, b32, b32, dot2(x, y, z, XS, YS, 0))   \
	X(dp2a_hi_##T##_##U, "dp2a.hi." #T "." #U, b32, b32, b32, b32, dot2(x, y, z, XS, YS, 2))

#define BITS(X)                                                                                    \
	LOGIC(X, b32, uint32_t) LOGIC(X, b64, uint64_t) LOGIC(X, b16, uint32_t)                    \
	SHIFT(X, 16, 16, uint32_t, int32_t) SHIFT(X, 32, 32, uint32_t, int32_t) SHIFT(X, 64, 64, uint64_t, int64_t) \
	COUNTS(X, 32) COUNTS(X, 64) FUNNELS(X) PERMUTES(X) MASKS(X)                                \
	DOTS(X, u32, u32, false, false) DOTS(X, u32, s32, false, true)                             \
	DOTS(X, s32, u32, true, false) DOTS(X, s32, s32, true, true)
BITS(GT_LANES)

/* The bits of `one` where those of `which` are set, else those of `zero`. */
GT_INLINE uint32_t bits_by(uint32_t which, uint32_t zero, uint32_t one) { return zero ^ (which & (zero ^ one)); }

/* lop3: bit (4x + 2y + z) of the fourth source, the same in all lanes, for each bit. */
GT_INLINE uint32_t looked_up(uint32_t x, uint32_t y, uint32_t z, uint32_t table)
{
	/* For each of the four values of x and y: the bits that z chooses between. */
#define BY_Z(XY) bits_by(z, 0 - (table >> 2 * (XY) & 1), 0 - (table >> (2 * (XY) + 1) & 1))
	return bits_by(x, bits_by(y, BY_Z(0), BY_Z(1)), bits_by(y, BY_Z(2), BY_Z(3)));
#undef BY_Z
}
GT_INLINE const struct gt_ptx_op *lop3(GT_STEP_ARGUMENTS)
{
	uint32_t *lanes_d = gt_ptx_lanes(warp, op->d);
	GT_OPERANDS(b32, b32, b32)
	const uint32_t *tables = gt_ptx_lanes(warp, op->e);

	GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {
		const uint32_t result = looked_up(lanes_a[i], lanes_b[i], lanes_c[i], tables[i]);
		lanes_d[i] = mask >> i & 1 ? result : lanes_d[i];
	}
	return op + 1;
}
GT_EVERY(lop3)

/* bfi: z's field (length e) of y is overwritten by the low bits of x. */
#define INSERTS(N)                                                                                 \
	GT_INLINE const struct gt_ptx_op *bfi_b##N(GT_STEP_ARGUMENTS)                              \
	{                                                                                          \
		GT_LANE_b##N *lanes_d = gt_ptx_lanes(warp, op->d);                                 \
		GT_OPERANDS(b##N, b##N, u32)                                                       \
		const uint32_t *lengths = gt_ptx_lanes(warp, op->e);                               \
		for (unsigned i = 0; i < GT_WARP_SIZE; i++) {                                      \
			unsigned at = of_field(lanes_c[i], N), length = of_field(lengths[i], N);   \
			GT_LANE_b##N ones_##N = length >= N ? (GT_LANE_b##N)-1                     \
							   : ((GT_LANE_b##N)1 << length) - 1;      \
			GT_LANE_b##N hole = at >= N ? 0 : ones_##N << at;                          \
			GT_LANE_b##N put = at >= N ? 0 : lanes_a[i] << at;                         \
			GT_LANE_b##N value = (lanes_b[i] & ~hole) | (put & hole);                  \
			lanes_d[i] = mask >> i & 1 ? value : lanes_d[i];                           \
		}                                                                                  \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(bfi_b##N)
INSERTS(32)
INSERTS(64)

/* Logic of predicates, for all lanes in one word. */
#define PREDICATES(X)                                                                              \
	X(and_pred, "and.pred", pred, pred, pred, none, x & y)                                     \
	X(or_pred, "or.pred", pred, pred, pred, none, x | y)                                       \
	X(xor_pred, "xor.pred", pred, pred, pred, none, x ^ y)                                     \
	X(not_pred, "not.pred", pred, pred, none, none, ~x)                                        \
	X(mov_pred, "mov.pred", pred, pred, none, none, x)
#define PREDICATE(ID, NAME, D, A, B, C, EXPRESSION)                                                \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		const uint32_t x = gt_ptx_predicate(warp, op->a), y = gt_ptx_predicate(warp, op->b); \
		(void)y;                                                                           \
		gt_ptx_set_predicate(warp, op->d, mask, EXPRESSION);                               \
		return op + 1;                                                                     \
	}                                                                                          \
	GT_EVERY(ID)
PREDICATES(PREDICATE)

static const struct gt_ptx_form bit_rows[] = {
	BITS(GT_ROW) PREDICATES(GT_ROW)
	{"lop3.b32", GT_PTX_B32, {GT_PTX_B32, GT_PTX_B32, GT_PTX_B32, GT_PTX_U32}, GT_STEPS(lop3)},
	{"bfi.b32", GT_PTX_B32, {GT_PTX_B32, GT_PTX_B32, GT_PTX_U32, GT_PTX_U32}, GT_STEPS(bfi_b32)},
	{"bfi.b64", GT_PTX_B64, {GT_PTX_B64, GT_PTX_B64, GT_PTX_U32, GT_PTX_U32}, GT_STEPS(bfi_b64)},
};
const struct gt_ptx_forms gt_ptx_bit_forms = {bit_rows, sizeof bit_rows / sizeof bit_rows[0]};
