/* SPDX-License-Identifier: MIT */
/* Every form of a lane operation against C, on edge values, in whole warps and in parted ones. A
 * row is an instruction, its types, and what it should compute; the reference works in wider types
 * or in the rounding mode itself. */
#include <fenv.h>
#include <math.h>

#include "check.h"
#include "ptx_kernel.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* Types: how a value of theirs lies in a 64-bit cell, and the register that holds it. */
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef uint8_t none;
typedef bool pred;
typedef uint16_t f16;

enum type { t_none, t_u8, t_s8, t_u16, t_s16, t_u32, t_s32, t_u64, t_s64, t_f32, t_f64, t_pred, t_f16 };
static const unsigned type_bits[] = {0, 8, 8, 16, 16, 32, 32, 64, 64, 32, 64, 32, 16};

static const uint64_t integer_edges[] = {
	0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
	0x12345678, 0x55555555, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x100000000,
	0x123456789abcdef0, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff,
};
static const float single_edges[] = {
	0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.99999994f, 1.0000001f, 3.1415927f, 1e-45f,
		-1e-45f,
	1.1754942e-38f, 1.17549435e-38f, -1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 65504.0f, 65519.0f,
		65520.0f,
	6.1e-5f, 5.96e-8f, 2147483648.0f, -2147483648.0f, 4294967296.0f, 9.223372e18f, 1.8446744e19f, 255.5f,
		-128.5f,
	1e20f, 0.33333334f, INFINITY, -INFINITY, NAN,
};
#define N_INTEGERS (sizeof integer_edges / sizeof integer_edges[0])
#define N_SINGLES (sizeof single_edges / sizeof single_edges[0])

static size_t edges_of(enum type type)
{
	return type == t_f32 || type == t_f64 || type == t_f16 ? N_SINGLES : type == t_pred ? 2 : N_INTEGERS;
}

/* Truncated: what a half holds of a float's bits, for edges alone. */
static uint64_t half_edge(size_t i)
{
	static const uint16_t halves[] = {
		0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3c01, 0x3800, 0x3555, 0x7bff, 0xfbff,
			0x7c00, 0xfc00,
		0x7e00, 0x4200, 0x5640,
	};

	return halves[i % (sizeof halves / sizeof halves[0])];
}

static uint64_t edge(enum type type, size_t i)
{
	uint64_t bits = 0;

	if (type == t_f32) {
		memcpy(&bits, &single_edges[i], sizeof(float));
		bits = isnan(single_edges[i]) ? 0x7fffffff : bits; /* so that copies are the same */
	} else if (type == t_f64) {
		double value = (double)single_edges[i] * (i % 5 == 4 ? 1.0000000001 : 1);
		memcpy(&bits, &value, sizeof value);
	} else if (type == t_f16) {
		bits = half_edge(i);
	} else if (type == t_pred) {
		bits = i;
	} else {
		bits = integer_edges[i];
	}
	return bits;
}

/* Results as bits. */
#define PUT(T)                                                                                   \
	static inline uint64_t put_##T(T value)                                                           \
	{                                                                                          \
		uint64_t bits = 0;                                                                 \
		memcpy(&bits, &value, sizeof value);                                               \
		return bits;                                                                       \
	}                                                                                          \
	__attribute__((unused)) static inline T get_##T(uint64_t bits)                             \
	{                                                                                          \
		T value;                                                                           \
		memcpy(&value, &bits, sizeof value);                                               \
		return value;                                                                      \
	}
PUT(u8) PUT(s8) PUT(u16) PUT(s16) PUT(u32) PUT(s32) PUT(u64) PUT(s64) PUT(f64)
static uint64_t put_pred(bool value) { return value; }
static bool get_pred(uint64_t bits) { return bits != 0; }
static uint64_t get_none(uint64_t bits) { return bits; }
static uint64_t put_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return value == value ? bits : 0x7fffffff;
}
static float get_f32(uint64_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* The rounding mode of a row's arithmetic. */
#define IN_MODE(NAME, T, EXPRESSION)                                                             \
	static T NAME(int mode, T a, T b, T c)                                                     \
	{                                                                                          \
		volatile T x = a, y = b, z = c, result;                                            \
		(void)x, (void)y, (void)z;                                                         \
		fesetround(mode);                                                                  \
		result = EXPRESSION;                                                               \
		fesetround(FE_TONEAREST);                                                          \
		return result;                                                                     \
	}
IN_MODE(add32, float, x + y)
IN_MODE(mul32, float, x *y)
IN_MODE(div32, float, x / y)
IN_MODE(sqrt32, float, sqrtf(x))
IN_MODE(fma32, float, fmaf(x, y, z))
IN_MODE(add64, double, x + y)
IN_MODE(mul64, double, x *y)
IN_MODE(div64, double, x / y)
IN_MODE(sqrt64, double, sqrt(x))
IN_MODE(fma64, double, fma(x, y, z))
#define FROM(NAME, T, FROM_T)                                                                    \
	static T NAME(int mode, FROM_T a)                                                          \
	{                                                                                          \
		volatile FROM_T x = a;                                                             \
		volatile T result;                                                                 \
		fesetround(mode);                                                                  \
		result = (T)x;                                                                     \
		fesetround(FE_TONEAREST);                                                          \
		return result;                                                                     \
	}
FROM(narrow, float, double)
FROM(single_s32, float, int32_t)
FROM(single_u32, float, uint32_t)
FROM(single_s64, float, int64_t)
FROM(single_u64, float, uint64_t)
FROM(double_s64, double, int64_t)
FROM(double_u64, double, uint64_t)

static wide clamp(wide x, wide least, wide most) { return x < least ? least : x > most ? most : x; }
/* NaN is 0, or the upper bit alone: from 64 bits and to them. */
static wide whole(double x, wide least, wide most, size_t to, size_t from)
{
	if (x != x)
		return to == 8 || from == 8 ? (wide)1 << (8 * to - 1) : 0;
	return x < -1e30 ? least : x > 1e30 ? most : clamp((wide)x, least, most);
}
static float flush(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0, x) : x; }
static float sat(float x) { return !(x > 0) ? 0 : x > 1 ? 1 : x; }
static uint64_t bits_between(uint64_t x, unsigned from, unsigned n, unsigned width, bool is_signed)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < width; i++) {
		unsigned at = from + (i < n ? i : n - 1);
		bool bit = at < width ? x >> at & 1 : is_signed && x >> (width - 1) & 1;
		if (n > 0 && (i < n || is_signed))
			result |= (uint64_t)bit << i;
	}
	return result;
}
/* As an H100 has it, also where PTX defines nothing: above 255. */
static unsigned of_field(u32 n, unsigned width) { return width == 32 ? n % 256 : n > 255 ? 255 : n; }
static u32 highest(uint64_t x, unsigned width)
{
	for (unsigned i = width; i-- > 0;)
		if (x >> i & 1)
			return i;
	return UINT32_MAX;
}
static u64 backwards(u64 x, unsigned width)
{
	u64 result = 0;

	for (unsigned i = 0; i < width; i++)
		result |= (x >> i & 1) << (width - 1 - i);
	return result;
}
static u32 nibbles(u32 x, u32 y, u32 z)
{
	u32 result = 0;

	for (int i = 0; i < 4; i++) {
		u32 choice = z >> 4 * i & 15, byte = choice & 4 ? y >> 8 * (choice & 3) & 255
			: x >> 8 * (choice & 3) & 255;
		result |= (choice & 8 ? (byte >= 128 ? 255U : 0U) : byte) << 8 * i;
	}
	return result;
}
static u32 nth(u32 x, u32 from, s64 n)
{
	s64 seen = 0;

	if (from < 32 && n == 0)
		return x >> from & 1 ? from : UINT32_MAX;
	for (s64 at = from; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
		seen += x >> at & 1;
		if (seen == (n < 0 ? -n : n))
			return (u32)at;
	}
	return UINT32_MAX;
}
static u32 dots(u32 x, u32 y, u32 z)
{
	for (int i = 0; i < 4; i++)
		z += (u32)((s32)(s8)(x >> 8 * i) * (s32)(s8)(y >> 8 * i));
	return z;
}
/* A half's value, and the nearest half by trying all. */
static double half_value(unsigned bits)
{
	double m = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
	int e = (int)(bits >> 10 & 31);

	if (e == 31)
		return m > 0 ? (double)NAN : sign * (double)INFINITY;
	return sign * (e ? ldexp(1024 + m, e - 25) : ldexp(m, -24));
}
static u16 nearest_half(double x)
{
	unsigned best = 0;

	if (x != x)
		return 0x7fff;
	unsigned sign = signbit(x) ? 0x8000 : 0;
	x = fabs(x);
	if (x >= 65520)
		return (u16)(sign | 0x7c00);
	for (unsigned h = 1; h < 0x7c00; h++) {
		double d = fabs(half_value(h) - x), least = fabs(half_value(best) - x);
		if (d < least || (d == least && !(h & 1)))
			best = h;
	}
	return (u16)(sign | best);
}
static float lesser(float x, float y) { return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x
				       : y; }
static float greater(float x, float y) { return x != x ? y : y != y ? x : x > y || (x == y && !signbit(x)) ? x
					: y; }

static wide apart(wide x, wide y) { return x > y ? x - y : y - x; }

/* The upper half of a product; u64's needs all 128 bits. */
#define HIGH(T) ((T)-1 < 1 ? (T)((wide)x * y >> sizeof(T) * 8) : (T)((uwide)x * (uwide)y >> sizeof(T) * 8))

#define INTEGERS(X, T, LEAST, MOST)                                                              \
	X("add." #T, T, T, T, none, (T)((wide)x + y))                                              \
	X("sub." #T, T, T, T, none, (T)((wide)x - y))                                              \
	X("mul.lo." #T, T, T, T, none, (T)(uwide)((uwide)x * (uwide)y))                            \
	X("mul.hi." #T, T, T, T, none, (T)HIGH(T))                          \
	X("mad.lo." #T, T, T, T, T, (T)((uwide)x * (uwide)y + (uwide)z))                           \
	X("mad.hi." #T, T, T, T, T, (T)((wide)HIGH(T) + z))                       \
	X("min." #T, T, T, T, none, (T)((wide)x < y ? x : y))                                      \
	X("max." #T, T, T, T, none, (T)((wide)x > y ? x : y))                                      \
	X("sad." #T, T, T, T, T, (T)(z + ((wide)x > y ? (wide)x - y : (wide)y - x)))               \
	X("div." #T, T, T, T, none, (T)(y == 0 ? -1 : (wide)x / y))                                \
	X("rem." #T, T, T, T, none, (T)(y == 0 ? -1 : (wide)x % y))                                \
	X("setp.eq." #T, pred, T, T, none, x == y) X("setp.ne." #T, pred, T, T, none, x != y)      \
	X("setp.lt." #T, pred, T, T, none, x < y) X("setp.le." #T, pred, T, T, none, x <= y)       \
	X("setp.gt." #T, pred, T, T, none, x > y) X("setp.ge." #T, pred, T, T, none, x >= y)       \
	X("selp." #T, T, T, T, pred, z ? x : y)                                                    \
	X("cvt.u8." #T, u8, T, none, none, (u8)x) X("cvt.s8." #T, s8, T, none, none, (s8)x)        \
	X("cvt.u16." #T, u16, T, none, none, (u16)x) X("cvt.s16." #T, s16, T, none, none, (s16)x)  \
	X("cvt.u32." #T, u32, T, none, none, (u32)x) X("cvt.s32." #T, s32, T, none, none, (s32)x)  \
	X("cvt.u64." #T, u64, T, none, none, (u64)x) X("cvt.s64." #T, s64, T, none, none, (s64)x)  \
	X("cvt.sat.u8." #T, u8, T, none, none, (u8)clamp(x, 0, UINT8_MAX))                         \
	X("cvt.sat.s8." #T, s8, T, none, none, (s8)clamp(x, INT8_MIN, INT8_MAX))                   \
	X("cvt.sat.u16." #T, u16, T, none, none, (u16)clamp(x, 0, UINT16_MAX))                     \
	X("cvt.sat.s16." #T, s16, T, none, none, (s16)clamp(x, INT16_MIN, INT16_MAX))              \
	X("cvt.sat.u32." #T, u32, T, none, none, (u32)clamp(x, 0, UINT32_MAX))                     \
	X("cvt.sat.s32." #T, s32, T, none, none, (s32)clamp(x, INT32_MIN, INT32_MAX))              \
	X("cvt.sat.u64." #T, u64, T, none, none, (u64)clamp(x, 0, UINT64_MAX))                     \
	X("cvt.sat.s64." #T, s64, T, none, none, (s64)clamp(x, INT64_MIN, INT64_MAX))              \
	X("cvt.rn.f32." #T, f32, T, none, none, (f32)x) X("cvt.rn.f64." #T, f64, T, none, none, (f64)x) \
	X("cvt.rn.f16." #T, f16, T, none, none, nearest_half((f64)x))                              \
	X("cvt.rni." #T ".f32", T, f32, none, none, (T)whole(rint((f64)x), LEAST, MOST, sizeof(T), sizeof(f32)))           \
	X("cvt.rzi." #T ".f32", T, f32, none, none, (T)whole(trunc((f64)x), LEAST, MOST, sizeof(T), sizeof(f32)))          \
	X("cvt.rmi." #T ".f32", T, f32, none, none, (T)whole(floor((f64)x), LEAST, MOST, sizeof(T), sizeof(f32)))          \
	X("cvt.rpi." #T ".f64", T, f64, none, none, (T)whole(ceil(x), LEAST, MOST, sizeof(T), sizeof(f64)))                \
	X("cvt.rzi." #T ".f64", T, f64, none, none, (T)whole(trunc(x), LEAST, MOST, sizeof(T), sizeof(f64)))               \
	X("cvt.rzi." #T ".f16", T, f16, none, none, (T)whole(trunc(half_value(x)), LEAST, MOST, sizeof(T), sizeof(f16)))
#define SIGNED(X, T)                                                                             \
	X("abs." #T, T, T, none, none, (T)(x < 0 ? -(wide)x : x)) X("neg." #T, T, T, none, none, (T)-(wide)x)
#define UNSIGNED(X, T)                                                                           \
	X("setp.lo." #T, pred, T, T, none, x < y) X("setp.ls." #T, pred, T, T, none, x <= y)       \
	X("setp.hi." #T, pred, T, T, none, x > y) X("setp.hs." #T, pred, T, T, none, x >= y)
#define WIDENED(X, T, D)                                                                         \
	X("mul.wide." #T, D, T, T, none, (D)((wide)x * y)) X("mad.wide." #T, D, T, T, D, (D)((wide)x * y + z))
#define LOGIC(X, N, U, S)                                                                        \
	X("and.b" #N, U, U, U, none, (U)(x & y)) X("or.b" #N, U, U, U, none, (U)(x | y))           \
	X("xor.b" #N, U, U, U, none, (U)(x ^ y)) X("not.b" #N, U, U, none, none, (U)~x)            \
	X("cnot.b" #N, U, U, none, none, x ? 0 : 1) X("mov.b" #N, U, U, none, none, x)             \
	X("shl.b" #N, U, U, u32, none, (U)(y >= N ? 0 : (uwide)x << y))                            \
	X("shr.b" #N, U, U, u32, none, (U)(y >= N ? 0 : x >> y))                                   \
	X("shr.u" #N, U, U, u32, none, (U)(y >= N ? 0 : x >> y))                                   \
	X("shr.s" #N, S, S, u32, none, (S)(y >= N ? (x < 0 ? -1 : 0) : x >> y))
#define BITS(X, N, U, S)                                                                         \
	X("popc.b" #N, u32, U, none, none, (u32)__builtin_popcountll(x))                           \
	X("clz.b" #N, u32, U, none, none, x ? N - 1 - highest(x, N) : N)                           \
	X("brev.b" #N, U, U, none, none, (U)backwards(x, N))                                       \
	X("bfind.u" #N, u32, U, none, none, highest(x, N))                                         \
	X("bfind.s" #N, u32, S, none, none, highest((U)(x < 0 ? ~x : x), N))                       \
	X("bfind.shiftamt.u" #N, u32, U, none, none, x ? N - 1 - highest(x, N) : UINT32_MAX)       \
	X("bfe.u" #N, U, U, u32, u32, (U)bits_between(x, of_field(y, N), of_field(z, N), N, false)) \
	X("bfe.s" #N, U, U, u32, u32, (U)bits_between(x, of_field(y, N), of_field(z, N), N, true))
/* The halves of two registers, each by itself: their sum modulo 2^16, or the lesser or greater one, signed and not below `floor`. */
static u32 halves(u32 x, u32 y, char what, bool is_signed, wide floor)
{
	u32 result = 0;

	for (int i = 0; i < 32; i += 16) {
		const wide a = is_signed ? (wide)(s16)(x >> i) : (wide)(u16)(x >> i), b = is_signed ? (wide)(s16)(y >> i) : (wide)(u16)(y >> i);
		const wide value = what == '+' ? a + b : (a < b) == (what == '<') ? a : b;
		result |= (u32)(u16)(value < floor ? floor : value) << i;
	}
	return result;
}
static u32 pack(s32 x, s32 y, wide least, wide most, int bits, u32 z)
{
	const u32 mask = ((u32)1 << bits) - 1;

	return (bits == 16 ? 0 : z << 2 * bits) | ((u32)clamp(x, least, most) & mask) << bits | ((u32)clamp(y, least, most) & mask);
}
#define OTHERS(X)                                                                                \
	X("min.relu.s32", s32, s32, s32, none, (s32)clamp(x < y ? x : y, 0, INT32_MAX))            \
	X("max.relu.s32", s32, s32, s32, none, (s32)clamp(x > y ? x : y, 0, INT32_MAX))            \
	X("max.s32.relu", s32, s32, s32, none, (s32)clamp(x > y ? x : y, 0, INT32_MAX))            \
	X("add.u16x2", u32, u32, u32, none, halves(x, y, '+', false, 0)) X("add.s16x2", u32, u32, u32, none, halves(x, y, '+', true, -65536)) \
	X("min.u16x2", u32, u32, u32, none, halves(x, y, '<', false, 0)) X("max.u16x2", u32, u32, u32, none, halves(x, y, '>', false, 0)) \
	X("min.s16x2", u32, u32, u32, none, halves(x, y, '<', true, -65536)) X("max.s16x2", u32, u32, u32, none, halves(x, y, '>', true, -65536)) \
	X("min.s16x2.relu", u32, u32, u32, none, halves(x, y, '<', true, 0)) X("max.relu.s16x2", u32, u32, u32, none, halves(x, y, '>', true, 0)) \
	X("cvt.pack.sat.u16.s32", u32, s32, s32, none, pack(x, y, 0, 65535, 16, 0)) X("cvt.pack.sat.s16.s32", u32, s32, s32, none, pack(x, y, -32768, 32767, 16, 0)) \
	X("cvt.pack.sat.u8.s32.b32", u32, s32, s32, u32, pack(x, y, 0, 255, 8, z)) X("cvt.pack.sat.s8.s32.b32", u32, s32, s32, u32, pack(x, y, -128, 127, 8, z)) \
	X("cvt.pack.sat.u4.s32.b32", u32, s32, s32, u32, pack(x, y, 0, 15, 4, z)) X("cvt.pack.sat.s2.s32.b32", u32, s32, s32, u32, pack(x, y, -2, 1, 2, z)) \
	X("add.sat.s32", s32, s32, s32, none, (s32)clamp((wide)x + y, INT32_MIN, INT32_MAX))       \
	X("sub.sat.s32", s32, s32, s32, none, (s32)clamp((wide)x - y, INT32_MIN, INT32_MAX))       \
	X("mad.hi.sat.s32", s32, s32, s32, s32, (s32)clamp(((wide)x * y >> 32) + z, INT32_MIN, INT32_MAX)) \
	X("mul24.lo.u32", u32, u32, u32, none, (u32)((uwide)(x & 0xffffff) * (y & 0xffffff)))      \
	X("mul24.hi.u32", u32, u32, u32, none, (u32)((uwide)(x & 0xffffff) * (y & 0xffffff) >> 16)) \
	X("mul24.lo.s32", s32, s32, s32, none, (s32)((wide)((s32)((u32)x << 8) >> 8) * ((s32)((u32)y << 8) >> 8))) \
	X("mul24.hi.s32", s32, s32, s32, none, (s32)((wide)((s32)((u32)x << 8) >> 8) * ((s32)((u32)y << 8) >> 8) >> 16)) \
	X("mad24.lo.u32", u32, u32, u32, u32, (u32)((uwide)(x & 0xffffff) * (y & 0xffffff) + z))   \
	X("shf.l.wrap.b32", u32, u32, u32, u32, (u32)(((u64)y << 32 | x) << (z & 31) >> 32))       \
	X("shf.r.wrap.b32", u32, u32, u32, u32, (u32)(((u64)y << 32 | x) >> (z & 31)))             \
	X("shf.l.clamp.b32", u32, u32, u32, u32, z >= 32 ? x : (u32)(((u64)y << 32 | x) << z >> 32)) \
	X("shf.r.clamp.b32", u32, u32, u32, u32, z >= 32 ? y : (u32)(((u64)y << 32 | x) >> z))     \
	X("prmt.b32", u32, u32, u32, u32, nibbles(x, y, z))                                        \
	X("prmt.b32.f4e", u32, u32, u32, u32, nibbles(x, y, 0x3210 + 0x1111 * (z & 3)))            \
	X("prmt.b32.rc8", u32, u32, u32, u32, nibbles(x, y, 0x1111 * (z & 3)))                     \
	X("prmt.b32.rc16", u32, u32, u32, u32, nibbles(x, y, z & 1 ? 0x3232 : 0x1010))             \
	X("dp4a.s32.s32", u32, u32, u32, u32, dots(x, y, z))                                       \
	X("vabsdiff4.u32.u32.u32", u32, u32, u32, u32,                                             \
	  (u32)(apart((u8)x, (u8)y) + 256 * apart((u8)(x >> 8), (u8)(y >> 8)) +                      \
		65536 * apart((u8)(x >> 16), (u8)(y >> 16)) + 16777216 * apart((u8)(x >> 24), (u8)(y >> 24)))) \
	X("vabsdiff4.u32.s32.s32.add", u32, u32, u32, u32,                                         \
	  (u32)(z + apart((s8)x, (s8)y) + apart((s8)(x >> 8), (s8)(y >> 8)) +                        \
		apart((s8)(x >> 16), (s8)(y >> 16)) + apart((s8)(x >> 24), (s8)(y >> 24))))         \
	X("vabsdiff2.u32.s32.s32", u32, u32, u32, u32,                                             \
	  (u32)(apart((s16)x, (s16)y) + 65536 * apart((s16)(x >> 16), (s16)(y >> 16))))              \
	X("vabsdiff2.u32.u32.u32.add", u32, u32, u32, u32,                                         \
	  (u32)(z + apart((u16)x, (u16)y) + apart((u16)(x >> 16), (u16)(y >> 16))))                  \
	X("bmsk.clamp.b32", u32, u32, u32, none,                                                   \
	  (u32)(x >= 32 ? 0 : (((uwide)1 << (y > 32 ? 32 : y)) - 1) << x))                         \
	X("fns.b32", u32, u32, u32, s32, nth(x, y, z))                                             \
	X("szext.clamp.s32", s32, u32, u32, none,                                                  \
	  (s32)(y == 0 ? 0 : y >= 32 ? x : (u32)((s32)(x << (32 - y)) >> (32 - y))))               \
	X("slct.u32.s32", u32, u32, u32, s32, z >= 0 ? x : y)                                      \
	X("slct.f64.f32", f64, f64, f64, f32, z >= 0 ? x : y)                                      \
	X("setp.lt.and.s32", pred, s32, s32, pred, x < y && z) X("setp.lt.or.u32", pred, u32, u32, pred, x < y || z) \
	X("setp.ge.xor.f32", pred, f32, f32, pred, (x >= y) != z)                                  \
	X("set.lt.u32.s32", u32, s32, s32, none, x < y ? UINT32_MAX : 0)                           \
	X("set.ge.f32.f32", f32, f32, f32, none, x >= y ? 1.0f : 0)
/* The least half that is no less. */
static u16 half_above(f64 x)
{
	const u16 half = nearest_half(x);

	return !(half_value(half) < x) ? half : half == 0x8000 ? 1 : (u16)(half & 0x8000 ? half - 1 : half + 1);
}
#define FLOATS(X, T, N, F)                                                                       \
	X("add." #T, T, T, T, none, x + y) X("sub.rn." #T, T, T, T, none, x - y)                   \
	X("mul." #T, T, T, T, none, x * y) X("fma.rn." #T, T, T, T, T, fma##F(x, y, z))            \
	X("add.rz." #T, T, T, T, none, add##N(FE_TOWARDZERO, x, y, 0))                             \
	X("add.rm." #T, T, T, T, none, add##N(FE_DOWNWARD, x, y, 0))                               \
	X("sub.rp." #T, T, T, T, none, add##N(FE_UPWARD, x, -y, 0))                                \
	X("mul.rz." #T, T, T, T, none, mul##N(FE_TOWARDZERO, x, y, 0))                             \
	X("mul.rp." #T, T, T, T, none, mul##N(FE_UPWARD, x, y, 0))                                 \
	X("fma.rz." #T, T, T, T, T, fma##N(FE_TOWARDZERO, x, y, z))                                \
	X("fma.rm." #T, T, T, T, T, fma##N(FE_DOWNWARD, x, y, z))                                  \
	X("mad.rn." #T, T, T, T, T, fma##F(x, y, z))                                               \
	X("div.rn." #T, T, T, T, none, x / y)                                                      \
	X("div.rp." #T, T, T, T, none, div##N(FE_UPWARD, x, y, 0))                                 \
	X("rcp.rn." #T, T, T, none, none, 1 / x)                                                   \
	X("rcp.rm." #T, T, T, none, none, div##N(FE_DOWNWARD, 1, x, 0))                            \
	X("sqrt.rn." #T, T, T, none, none, sqrt##F(x))                                             \
	X("sqrt.rz." #T, T, T, none, none, sqrt##N(FE_TOWARDZERO, x, 0, 0))                        \
	X("copysign." #T, T, T, T, none, copysign##F(y, x))                                        \
	X("mov." #T, T, T, none, none, x)                                                          \
	X("selp." #T, T, T, T, pred, z ? x : y)                                                    \
	X("setp.eq." #T, pred, T, T, none, x == y) X("setp.ne." #T, pred, T, T, none, x < y || x > y) \
	X("setp.lt." #T, pred, T, T, none, x < y) X("setp.le." #T, pred, T, T, none, x <= y)       \
	X("setp.gt." #T, pred, T, T, none, x > y) X("setp.ge." #T, pred, T, T, none, x >= y)       \
	X("setp.equ." #T, pred, T, T, none, !(x < y || x > y)) X("setp.neu." #T, pred, T, T, none, x != y) \
	X("setp.ltu." #T, pred, T, T, none, !(x >= y)) X("setp.leu." #T, pred, T, T, none, !(x > y)) \
	X("setp.gtu." #T, pred, T, T, none, !(x <= y)) X("setp.geu." #T, pred, T, T, none, !(x < y)) \
	X("setp.num." #T, pred, T, T, none, !isnan(x) && !isnan(y))                                \
	X("setp.nan." #T, pred, T, T, none, isnan(x) || isnan(y))                                  \
	X("testp.finite." #T, pred, T, none, none, x - x == 0)                                     \
	X("testp.infinite." #T, pred, T, none, none, isinf(x))                                     \
	X("testp.number." #T, pred, T, none, none, !isnan(x)) X("testp.notanumber." #T, pred, T, none, none, isnan(x)) \
	X("testp.normal." #T, pred, T, none, none, isnormal(x) || x == 0)                          \
	X("testp.subnormal." #T, pred, T, none, none, fpclassify(x) == FP_SUBNORMAL)               \
	X("cvt.rni." #T "." #T, T, T, none, none, rint##F(x)) X("cvt.rzi." #T "." #T, T, T, none, none, trunc##F(x)) \
	X("cvt.rmi." #T "." #T, T, T, none, none, floor##F(x)) X("cvt.rpi." #T "." #T, T, T, none, none, ceil##F(x)) \
	X("cvt.rn.f16." #T, f16, T, none, none, nearest_half((f64)x))                              \
	X("cvt." #T ".f16", T, f16, none, none, (T)half_value(x))
static f32 signed_as(f32 number, f32 x, f32 y) { return isnan(number) ? number : copysignf(number, copysignf(1, x) * copysignf(1, y)); }
/* A float without its lowest bits, rounded to nearest and never to infinity. */
static u32 cut(f32 x, int bits, u32 half)
{
	const u32 word = (u32)put_f32(x), sign = word & 0x80000000, mask = ~(((u32)1 << bits) - 1);
	const u32 rounded = ((word & 0x7fffffff) + half) & mask;

	return isnan(x) ? 0x7fffffff & mask : sign | (rounded < 0x7f800000 ? rounded : 0x7f7fffff & mask);
}
static u32 finite(f32 x, int bits) { return cut(x, bits, ((u32)1 << (bits - 1)) - 1 + ((u32)put_f32(x) >> bits & 1)); }
static u32 away(f32 x, int bits) { return cut(x, bits, (u32)1 << (bits - 1)); }
#define SINGLES(X)                                                                               \
	X("add.ftz.f32", f32, f32, f32, none, flush(flush(x) + flush(y)))                          \
	X("mul.ftz.f32", f32, f32, f32, none, flush(flush(x) * flush(y)))                          \
	X("fma.rn.ftz.f32", f32, f32, f32, f32, flush(fmaf(flush(x), flush(y), flush(z))))         \
	X("add.sat.f32", f32, f32, f32, none, sat(x + y)) X("fma.rn.sat.f32", f32, f32, f32, f32, sat(fmaf(x, y, z))) \
	X("mul.ftz.sat.f32", f32, f32, f32, none, sat(flush(flush(x) * flush(y))))                 \
	X("neg.ftz.f32", f32, f32, none, none, -flush(x)) \
	X("setp.lt.ftz.f32", pred, f32, f32, none, flush(x) < flush(y))                            \
	X("min.f32", f32, f32, f32, none, lesser(x, y)) X("max.f32", f32, f32, f32, none, greater(x, y)) \
	X("min.NaN.f32", f32, f32, f32, none, isnan(x) || isnan(y) ? NAN : lesser(x, y))           \
	X("min.f32", f32, f32, f32, f32, lesser(lesser(x, y), z)) X("max.f32", f32, f32, f32, f32, greater(greater(x, y), z)) \
	X("max.NaN.f32", f32, f32, f32, f32, isnan(x) || isnan(y) || isnan(z) ? NAN : greater(greater(x, y), z)) \
	X("min.abs.f32", f32, f32, f32, f32, lesser(lesser(fabsf(x), fabsf(y)), fabsf(z)))         \
	X("max.NaN.abs.f32", f32, f32, f32, f32, isnan(x) || isnan(y) || isnan(z) ? NAN : greater(greater(fabsf(x), fabsf(y)), fabsf(z))) \
	X("min.xorsign.abs.f32", f32, f32, f32, none, signed_as(lesser(fabsf(x), fabsf(y)), x, y)) \
	X("max.NaN.xorsign.abs.f32", f32, f32, f32, none, isnan(x) || isnan(y) ? NAN : signed_as(greater(fabsf(x), fabsf(y)), x, y)) \
	X("cvt.rn.satfinite.bf16.f32", u16, f32, none, none, (u16)(finite(x, 16) >> 16))           \
	X("cvt.rn.satfinite.relu.bf16x2.f32", u32, f32, f32, none, finite(x > 0 || isnan(x) ? x : 0, 16) | finite(y > 0 || isnan(y) ? y : 0, 16) >> 16) \
	X("cvt.rna.satfinite.tf32.f32", u32, f32, none, none, away(x, 13))                         \
	X("cvt.rp.ftz.f16.f32", f16, f32, none, none, half_above((f64)x)) /* subnormal ones too */  \
	X("cvt.sat.f32.f32", f32, f32, none, none, sat(x)) X("cvt.f64.f32", f64, f32, none, none, (f64)x) \
	X("cvt.rn.f32.f64", f32, f64, none, none, (f32)x)                                          \
	X("cvt.rz.f32.f64", f32, f64, none, none, narrow(FE_TOWARDZERO, x))                        \
	X("cvt.rm.f32.f64", f32, f64, none, none, narrow(FE_DOWNWARD, x))                          \
	X("cvt.rp.f32.f64", f32, f64, none, none, narrow(FE_UPWARD, x))                            \
	X("cvt.rz.f32.s32", f32, s32, none, none, single_s32(FE_TOWARDZERO, x))                    \
	X("cvt.rp.f32.u32", f32, u32, none, none, single_u32(FE_UPWARD, x))                        \
	X("cvt.rm.f32.s64", f32, s64, none, none, single_s64(FE_DOWNWARD, x))                      \
	X("cvt.rp.f32.u64", f32, u64, none, none, single_u64(FE_UPWARD, x))                        \
	X("cvt.rz.f32.u64", f32, u64, none, none, single_u64(FE_TOWARDZERO, x))                    \
	X("cvt.rz.f64.s64", f64, s64, none, none, double_s64(FE_TOWARDZERO, x))                    \
	X("cvt.rp.f64.u64", f64, u64, none, none, double_u64(FE_UPWARD, x))                        \
	X("min.f64", f64, f64, f64, none, x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y)
/* Of the absolute values, with the sign of the product; 0x7fff if it is no number. */
static u16 signed_extreme(u16 x, u16 y, bool greater, bool strict)
{
	const double a = fabs(half_value(x)), b = fabs(half_value(y));
	const bool takes_x = isnan(b) || (greater ? a > b : a < b);

	if ((isnan(a) && isnan(b)) || (strict && (isnan(a) || isnan(b))))
		return 0x7fff;
	return (u16)(((isnan(a) || !takes_x ? y : x) & 0x7fff) | ((x ^ y) & 0x8000));
}
#define HALVES(X)                                                                                \
	X("add.f16", f16, f16, f16, none, nearest_half(half_value(x) + half_value(y)))             \
	X("sub.f16", f16, f16, f16, none, nearest_half(half_value(x) - half_value(y)))             \
	X("mul.f16", f16, f16, f16, none, nearest_half(half_value(x) * half_value(y)))             \
	X("fma.rn.f16", f16, f16, f16, f16, nearest_half(half_value(x) * half_value(y) + half_value(z))) \
	X("neg.f16", f16, f16, none, none, (u16)(x ^ 0x8000)) X("abs.f16", f16, f16, none, none, x & 0x7fff) \
	X("min.xorsign.abs.f16", f16, f16, f16, none, signed_extreme(x, y, false, false))          \
	X("max.xorsign.abs.f16", f16, f16, f16, none, signed_extreme(x, y, true, false))           \
	X("min.NaN.xorsign.abs.f16", f16, f16, f16, none, signed_extreme(x, y, false, true))       \
	X("max.NaN.xorsign.abs.f16", f16, f16, f16, none, signed_extreme(x, y, true, true))        \
	X("setp.lt.f16", pred, f16, f16, none, half_value(x) < half_value(y))                      \
	X("setp.geu.f16", pred, f16, f16, none, !(half_value(x) < half_value(y)))

/* Floats of 8 bits by the definition of OCP: a sign, `e` bits of exponent, the others of the fraction. */
static double byte_value(unsigned bits, int e)
{
	int fraction_bits = 7 - e, bias = (1 << (e - 1)) - 1, exponent = (int)(bits >> fraction_bits & ((1U << e) - 1));
	double fraction = (bits & ((1U << fraction_bits) - 1)) / (double)(1 << fraction_bits);
	double value = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);

	if (e == 4 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c)
		return NAN;
	return bits & 0x80 ? -value : e == 5 && bits == 0x7c ? INFINITY : value;
}

/* The finite one that is nearest, of two the even one. */
static unsigned nearest_byte(double x, int e)
{
	unsigned best = 0, sign = signbit(x) ? 0x80 : 0;

	if (isnan(x))
		return 0x7f;
	x = fabs(x) < 1e6 ? fabs(x) : 1e6;
	for (unsigned b = 1; b <= (e == 4 ? 0x7eU : 0x7bU); b++) {
		double d = fabs(byte_value(b, e) - x), least = fabs(byte_value(best, e) - x);
		if (d < least || (d == least && b % 2 == 0))
			best = b;
	}
	return best | sign;
}
static u32 halves_of(unsigned bytes, int e)
{
	unsigned upper = bytes >> 8 & 0xff, lower = bytes & 0xff;
	u32 h = isnan(byte_value(upper, e)) ? 0x7fff : e == 5 && (upper & 0x7f) == 0x7c ? (u32)(upper << 8) : nearest_half(byte_value(upper, e));
	u32 l = isnan(byte_value(lower, e)) ? 0x7fff : e == 5 && (lower & 0x7f) == 0x7c ? (u32)(lower << 8) : nearest_half(byte_value(lower, e));

	return h << 16 | l;
}
#define BYTES(X, NAME, E)                                                                        \
	X("cvt.rn.satfinite." NAME ".f32", u16, f32, f32, none, (u16)(nearest_byte((double)x, E) << 8 | nearest_byte((double)y, E))) \
	X("cvt.rn.satfinite." NAME ".f16x2", u16, u32, none, none,                                 \
	  (u16)(nearest_byte(half_value(x >> 16), E) << 8 | nearest_byte(half_value(x & 0xffff), E))) \
	X("cvt.rn.f16x2." NAME, u32, u16, none, none, halves_of(x, E))

/* Floats of 4 and 6 bits: all values, of which the nearest is taken, of two the even one. */
static double tiny_value(unsigned bits, int e, int m)
{
	double fraction = (bits & ((1U << m) - 1)) / (double)(1 << m);
	int exponent = (int)(bits >> m & ((1U << e) - 1)), bias = (1 << (e - 1)) - 1;
	double value = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);

	return bits >> (e + m) & 1 ? -value : value;
}
static unsigned nearest_tiny(double x, int e, int m)
{
	unsigned most = (1U << (e + m)) - 1, best = 0;

	if (isnan(x))
		return most;
	for (unsigned b = 1; b <= most; b++) {
		double wanted = fabs(x) < 100 ? fabs(x) : 100, d = fabs(tiny_value(b, e, m) - wanted);
		double least = fabs(tiny_value(best, e, m) - wanted);
		if (d < least || (d == least && b % 2 == 0))
			best = b;
	}
	return signbit(x) ? best | (most + 1) : best;
}
#define TINY(X, NAME, T, BITS, E, M)                                                               \
	X("cvt.rn.satfinite." NAME ".f32", T, f32, f32, none,                                      \
	  (T)(nearest_tiny((double)x, E, M) << BITS | nearest_tiny((double)y, E, M)))              \
	X("cvt.rn.f16x2." NAME, u32, T, none, none,                                                \
	  (uint32_t)nearest_half(tiny_value((unsigned)x >> BITS, E, M)) << 16 | nearest_half(tiny_value((unsigned)x, E, M)))

/* Powers of two: the exponent of a float, where the next one up is asked for unless the rest is 0. */
static unsigned power_of(double x, bool up, bool finite)
{
	double least = ldexp(1, -127);
	int exponent;

	if (isnan(x))
		return 255;
	if (isinf(x))
		return finite ? 254 : 255;
	if (fabs(x) < ldexp(1, -126))
		return up && fabs(x) > least ? 1 : 0;
	exponent = ilogb(fabs(x)) + 127;
	exponent += up && fabs(x) > ldexp(1, exponent - 127);
	return finite && exponent == 255 ? 254 : (unsigned)exponent;
}
#define POWERS(X, WORDS, UP, FINITE)                                                               \
	X("cvt." WORDS "ue8m0x2.f32", u16, f32, f32, none,                                         \
	  (u16)(power_of((double)x, UP, FINITE) << 8 | power_of((double)y, UP, FINITE)))
#define FLUSHED_TWO(X, NAME, OPERATION)                                                            \
	X(NAME ".rn.ftz.f32x2", u64, u64, u64, none,                                               \
	  put_f32(flush(flush(get_f32(x >> 32)) OPERATION flush(get_f32(y >> 32)))) << 32 |        \
		  put_f32(flush(flush(get_f32((u32)x)) OPERATION flush(get_f32((u32)y)))))
#define TWO(X, NAME, OPERATION)                                                                    \
	X(NAME ".rn.f32x2", u64, u64, u64, none,                                                   \
	  put_f32(get_f32(x >> 32) OPERATION get_f32(y >> 32)) << 32 | put_f32(get_f32((u32)x) OPERATION get_f32((u32)y)))

#define get_f16 get_u16
#define put_f16 put_u16

#define CELLS 4096
struct form {
	const char *name;
	enum type d, a, b, c;
};
static uint64_t cells_a[CELLS], cells_b[CELLS], cells_c[CELLS], expected[CELLS];

/* All pairs of edges of the first two sources, and for each some of the third. */
static size_t lay_out(const struct form *form)
{
	size_t na = edges_of(form->a), nb = form->b ? edges_of(form->b) : 1, nc = edges_of(form->c), n = 0;

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			for (size_t k = 0; k < (form->c ? 3 : 1); k++, n++) {
				cells_a[n] = edge(form->a, i);
				cells_b[n] = form->b ? edge(form->b, j) : 0;
				cells_c[n] = form->c ? edge(form->c, (i * 5 + j * 11 + k * 7) % nc) : 0;
			}
	return n;
}

static const char *register_of(enum type type)
{
	return type_bits[type] == 64 ? "%rd" : type_bits[type] == 32 ? "%r" : "%rs";
}

/* Loads a source; predicates from whether it is zero. */
static int write_source(char *text, size_t room, enum type type, int i)
{
	unsigned bits = type_bits[type];

	if (type == t_none)
		return 0;
	int n = snprintf(text, room, "ld.global.b%u %s%d, [%%rd1%d];\n", bits, register_of(type), i, i);
	if (type == t_pred)
		n += snprintf(text + n, room - (size_t)n, "setp.ne.u32 %%p%d, %%r%d, 0;\n", i, i);
	return n;
}

static void write_kernel(char *text, size_t room, const struct form *form, bool guarded)
{
	const enum type sources[] = {form->a, form->b, form->c};
	size_t n = (size_t)snprintf(text, room, "%s",
		".version 7.5\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
		".reg .b64 %rd<40>;\n.reg .b32 %r<40>;\n.reg .b16 %rs<10>;\n.reg .pred %p<10>;\n"
		"ld.param.u64 %rd10, [a];\nld.param.u64 %rd11, [b];\nld.param.u64 %rd12, [c];\n"
		"ld.param.u64 %rd13, [d];\n"
		"mov.u32 %r20, %tid.x;\nmov.u32 %r21, %ctaid.x;\nmad.lo.u32 %r22, %r21, 64, %r20;\n"
		"mul.wide.u32 %rd20, %r22, 8;\nadd.s64 %rd10, %rd10, %rd20;\nadd.s64 %rd11, %rd11, %rd20;\n"
		"add.s64 %rd12, %rd12, %rd20;\nadd.s64 %rd13, %rd13, %rd20;\n"
		"and.b32 %r23, %r22, 5;\nsetp.eq.u32 %p9, %r23, 1;\n"
		"mov.u32 %r9, 7;\nmov.u64 %rd9, 7;\nmov.u16 %rs9, 7;\nsetp.ne.u32 %p3, %r9, 7;\n");

	for (int i = 0; i < 3; i++)
		n += (size_t)write_source(text + n, room - n, sources[i], i);
	if (form->d == t_pred)
		n += (size_t)snprintf(text + n, room - n, "%s%s %%p3", guarded ? "@%p9 " : "", form->name);
	else
		n += (size_t)snprintf(text + n, room - n, "%s%s %s9", guarded ? "@%p9 " : "", form->name,
				      register_of(form->d));
	for (int i = 0; i < 3; i++)
		if (sources[i])
			n += (size_t)snprintf(text + n, room - n, ", %s%d", sources[i] == t_pred ? "%p"
					      : register_of(sources[i]), i);
	n += (size_t)snprintf(text + n, room - n, ";\n");
	if (form->d == t_pred)
		n += (size_t)snprintf(text + n, room - n, "selp.u32 %%r9, 1, 0, %%p3;\n");
	snprintf(text + n, room - n, "st.global.b%u [%%rd13], %s9;\nret;\n}\n", form->d == t_pred ? 32
		 : type_bits[form->d],
		 register_of(form->d));
}

static bool same(enum type type, uint64_t got, uint64_t want)
{
	if (type == t_f64 && get_f64(want) != get_f64(want))
		return get_f64(got) != get_f64(got);
	/* The sign of a NaN is that of the operand where a form moves signs. */
	return got == want || (type == t_f32 && want == 0x7fffffff && got == 0xffffffff);
}

static void check_form(const struct form *form, size_t n)
{
	static uint64_t results[CELLS];
	char text[4096];

	for (int guarded = 0; guarded < 2; guarded++) {
		struct gt_ptx_launch launch = {.grid = {(uint32_t)(n + 63) / 64, 1, 1}, .block = {64, 1, 1}};
		struct buffer buffers[BUFFERS] = {{cells_a, sizeof cells_a, "a"}, {cells_b, sizeof cells_b,
				"b"},
						  {cells_c, sizeof cells_c, "c"}, {results, sizeof results,
								  "d"}};
		struct gt_ptx_ran ran;
		struct gt_error error;
		size_t wrong = 0;
		memset(results, 0, sizeof results);
		write_kernel(text, sizeof text, form, guarded);
		if (run_kernel(text, &launch, buffers, &ran, &error) != 0) {
			CHECK_TEXT(error.text, form->name);
			return;
		}
		for (size_t i = 0; i < n; i++) {
			uint64_t want = !guarded || (i & 5) == 1 ? expected[i] : form->d == t_pred ? 0 : 7;
			if (same(form->d, results[i], want) || wrong++ > 2)
				continue;
			check_failures++;
			printf("# %s%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64 ", expected 0x%" PRIx64
			       "\n", guarded ? "@p " : "", form->name, cells_a[i], cells_b[i], cells_c[i],
				       results[i], want);
		}
	}
}

#define CASE(NAME, D, A, B, C, EXPRESSION)                                                       \
	{                                                                                          \
		const struct form form = {NAME, t_##D, t_##A, t_##B, t_##C};                       \
		size_t n = lay_out(&form);                                                         \
		for (size_t i = 0; i < n; i++) {                                                   \
			const A x = (A)get_##A(cells_a[i]);                                        \
			const B y = (B)get_##B(cells_b[i]);                                        \
			const C z = (C)get_##C(cells_c[i]);                                        \
			(void)x, (void)y, (void)z;                                                 \
			expected[i] = put_##D((D)(EXPRESSION));                                    \
		}                                                                                  \
		check_form(&form, n);                                                              \
	}
static void test_s16(void) { INTEGERS(CASE, s16, INT16_MIN, INT16_MAX) SIGNED(CASE, s16) WIDENED(CASE, s16,
		s32) }
static void test_u16(void) { INTEGERS(CASE, u16, 0, UINT16_MAX) UNSIGNED(CASE, u16) WIDENED(CASE, u16, u32) }
static void test_s32(void) { INTEGERS(CASE, s32, INT32_MIN, INT32_MAX) SIGNED(CASE, s32) WIDENED(CASE, s32,
		s64) }
static void test_u32(void) { INTEGERS(CASE, u32, 0, UINT32_MAX) UNSIGNED(CASE, u32) WIDENED(CASE, u32, u64) }
static void test_s64(void) { INTEGERS(CASE, s64, INT64_MIN, INT64_MAX) SIGNED(CASE, s64) }
static void test_u64(void) { INTEGERS(CASE, u64, 0, UINT64_MAX) UNSIGNED(CASE, u64) }
static void test_logic(void) { LOGIC(CASE, 16, u16, s16) LOGIC(CASE, 32, u32, s32) LOGIC(CASE, 64, u64, s64) }
static void test_bits(void) { BITS(CASE, 32, u32, s32) BITS(CASE, 64, u64, s64) }
static void test_others(void) { OTHERS(CASE) }
static void test_f32(void) { FLOATS(CASE, f32, 32, f) SINGLES(CASE) }
static void test_f64(void) { FLOATS(CASE, f64, 64, ) }
static void test_f16(void) { HALVES(CASE) }
static void test_bytes(void) { BYTES(CASE, "e4m3x2", 4) BYTES(CASE, "e5m2x2", 5) }
static void test_tiny(void) { TINY(CASE, "e2m1x2", u8, 4, 2, 1) TINY(CASE, "e2m3x2", u16, 8, 2, 3) TINY(CASE, "e3m2x2", u16, 8, 3, 2) }
static void test_powers(void)
{
	POWERS(CASE, "rz.", false, false) POWERS(CASE, "rz.satfinite.", false, true)
	POWERS(CASE, "rp.", true, false) POWERS(CASE, "rp.satfinite.", true, true)
}
static void test_pairs(void)
{
	TWO(CASE, "add", +) TWO(CASE, "sub", -) TWO(CASE, "mul", *)
	FLUSHED_TWO(CASE, "add", +) FLUSHED_TWO(CASE, "sub", -) FLUSHED_TWO(CASE, "mul", *)
}

/* The approximate forms: within what PTX allows, about 2^-20 of the value. */
#define NEAR(NAME, EXPRESSION)                                                                   \
	{                                                                                          \
		const struct form form = {NAME, t_f32, t_f32, t_none, t_none};                     \
		size_t n = lay_out(&form);                                                         \
		check_near(&form, n);                                                              \
		for (size_t i = 0; i < n; i++) {                                                   \
			const double x = (double)get_f32(cells_a[i]), want = EXPRESSION;           \
			const double got = (double)get_f32(expected[i]);                           \
			bool close = want != want ? got != got                                     \
						  : got == want || fabs(got - want) <= 1e-6 * fabs(want) + 1e-37 || \
							    (fabs(want) > 3.4e38 && isinf(got));       \
			if (!close)                                                                \
				printf("# %s of %g: %g, expected %g\n", NAME, x, got, want);       \
			CHECK(close);                                                              \
		}                                                                                  \
	}
/* Leaves what the form computes in `expected`. */
static void check_near(const struct form *form, size_t n)
{
	struct gt_ptx_launch launch = {.grid = {(uint32_t)(n + 63) / 64, 1, 1}, .block = {64, 1, 1}};
	struct buffer buffers[BUFFERS] = {{cells_a, sizeof cells_a, "a"}, {cells_b, sizeof cells_b, "b"},
					  {cells_c, sizeof cells_c, "c"}, {expected, sizeof expected, "d"}};
	struct gt_ptx_ran ran;
	struct gt_error error;
	char text[4096];

	write_kernel(text, sizeof text, form, false);
	CHECK(run_kernel(text, &launch, buffers, &ran, &error) == 0);
}

static void test_approximations(void)
{
	NEAR("sin.approx.f32", sin(x))
	NEAR("cos.approx.f32", cos(x))
	NEAR("ex2.approx.f32", exp2(x))
	NEAR("ex2.approx.ftz.f32", exp2(x))
	NEAR("lg2.approx.f32", log2(x))
	NEAR("tanh.approx.f32", tanh(x))
	NEAR("rsqrt.approx.f32", 1 / sqrt(x))
	NEAR("rcp.approx.f32", 1 / x)
	NEAR("sqrt.approx.f32", sqrt(x))
}

/* Sums, differences and products of 128 bits, of 64-bit words that carry; and what a difference leaves for a sum, and a sum for a difference; and a sum of
 * 32-bit words, half of whose lanes take a branch before they carry. */
static void test_carries(void)
{
	static const char text[] =
		".version 7.5\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
		".reg .b64 %rd<40>;\n.reg .b32 %r<40>;\n.reg .pred %p1;\n"
		"ld.param.u64 %rd10, [a];\nld.param.u64 %rd11, [b];\nld.param.u64 %rd13, [d];\n"
		"mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 16;\nadd.s64 %rd10, %rd10, %rd1;\n"
		"add.s64 %rd11, %rd11, %rd1;\nmul.wide.u32 %rd1, %r1, 80;\nadd.s64 %rd13, %rd13, %rd1;\n"
		"ld.global.v2.u64 {%rd2, %rd3}, [%rd10];\nld.global.v2.u64 {%rd4, %rd5}, [%rd11];\n"
		"add.cc.u64 %rd6, %rd2, %rd4;\naddc.u64 %rd7, %rd3, %rd5;\n"
		"st.global.v2.u64 [%rd13], {%rd6, %rd7};\n"
		"sub.cc.u64 %rd6, %rd2, %rd4;\nsubc.u64 %rd7, %rd3, %rd5;\n"
		"st.global.v2.u64 [%rd13+16], {%rd6, %rd7};\n"
		"mov.u64 %rd6, 0;\nmov.u64 %rd7, 0;\nmad.lo.cc.u64 %rd6, %rd2, %rd4, %rd3;\n"
		"madc.hi.u64 %rd7, %rd2, %rd4, %rd5;\n"
		"st.global.v2.u64 [%rd13+32], {%rd6, %rd7};\n"
		"sub.cc.u64 %rd6, %rd2, %rd4;\naddc.u64 %rd6, 0, 0;\nadd.cc.u64 %rd7, %rd2, %rd4;\nsubc.u64 %rd7, 0, 0;\n"
		"st.global.v2.u64 [%rd13+48], {%rd6, %rd7};\n"
		"mov.b64 {%r2, %r3}, %rd2;\nmov.b64 {%r4, %r5}, %rd4;\nadd.cc.u32 %r6, %r2, %r4;\nsetp.gt.u32 %p1, %r1, 15;\n"
		"@%p1 bra NEXT;\nst.global.u64 [%rd13+64], %rd2;\nNEXT:\naddc.u32 %r7, %r3, %r5;\n"
		"mov.b64 %rd6, {%r6, %r7};\nst.global.u64 [%rd13+72], %rd6;\nret;\n}\n";
	static uint64_t results[CELLS];
	const size_t n = 32;
	struct gt_ptx_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct buffer buffers[BUFFERS] = {{cells_a, sizeof cells_a, "a"}, {cells_b, sizeof cells_b, "b"},
					  {cells_c, sizeof cells_c, "c"}, {results, sizeof results, "d"}};
	struct gt_ptx_ran ran;
	struct gt_error error;

	for (size_t i = 0; i < 2 * n; i++) {
		cells_a[i] = edge(t_u64, i * 7 % N_INTEGERS);
		cells_b[i] = edge(t_u64, (i * 5 + 3) % N_INTEGERS);
	}
	CHECK(run_kernel(text, &launch, buffers, &ran, &error) == 0);
	for (size_t i = 0; i < n; i++) {
		uwide x = (uwide)cells_a[2 * i + 1] << 64 | cells_a[2 * i],
			y = (uwide)cells_b[2 * i + 1] << 64 | cells_b[2 * i];
		uwide product = (uwide)cells_a[2 * i] * cells_b[2 * i];
		uwide wants[3] = {x + y, x - y,
				  product + ((uwide)cells_b[2 * i + 1] << 64) + cells_a[2 * i + 1]};
		for (size_t k = 0; k < 3; k++) {
			CHECK_EQUAL(results[10 * i + 2 * k], (uint64_t)wants[k]);
			CHECK_EQUAL(results[10 * i + 2 * k + 1], (uint64_t)(wants[k] >> 64));
		}
		CHECK_EQUAL(results[10 * i + 6], cells_a[2 * i] >= cells_b[2 * i]);
		CHECK_EQUAL(results[10 * i + 7], cells_a[2 * i] + cells_b[2 * i] < cells_a[2 * i] ? 0 : UINT64_MAX);
		CHECK_EQUAL(results[10 * i + 9], cells_a[2 * i] + cells_b[2 * i]);
	}
}

int main(void)
{
	RUN(test_s16);
	RUN(test_u16);
	RUN(test_s32);
	RUN(test_u32);
	RUN(test_s64);
	RUN(test_u64);
	RUN(test_logic);
	RUN(test_bits);
	RUN(test_others);
	RUN(test_f32);
	RUN(test_f64);
	RUN(test_f16);
	RUN(test_bytes);
	RUN(test_tiny);
	RUN(test_powers);
	RUN(test_pairs);
	RUN(test_approximations);
	RUN(test_carries);
	return check_report();
}
