/* SPDX-License-Identifier: MIT */
/* Macros that make a lane operation from an expression: a loop for all lanes and one for some, each compiled in every
 * variant that the processor may have instructions for (code.h). */
#ifndef GT_PTX_LANES_H
#define GT_PTX_LANES_H

#include "cuda/ptx/exec/warp.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

#define GT_INLINE static inline __attribute__((always_inline))
#if defined __x86_64__
#define GT_FAST __attribute__((target("avx2,fma,f16c")))
#endif

/* A result may have the slot of a source, element by element, which does not prevent vectorization. */
#if defined __clang__
#define GT_ELEMENTWISE
#else
#define GT_ELEMENTWISE _Pragma("GCC ivdep")
#endif
/* A short loop of a known length. */
#define GT_UNROLLED _Pragma("GCC unroll 8")

/* The lanes of every type, and the type's row in a form. */
#define GT_LANE_pred uint32_t
#define GT_LANE_none uint8_t
#define GT_LANE_u8  uint8_t
#define GT_LANE_s8  int8_t
#define GT_LANE_u16 uint16_t
#define GT_LANE_s16 int16_t
#define GT_LANE_u32 uint32_t
#define GT_LANE_s32 int32_t
#define GT_LANE_u64 uint64_t
#define GT_LANE_s64 int64_t
#define GT_LANE_b8  uint8_t
#define GT_LANE_b16 uint16_t
#define GT_LANE_b32 uint32_t
#define GT_LANE_b64 uint64_t
#define GT_LANE_f16 uint16_t
#define GT_LANE_bf16 uint16_t
#define GT_LANE_f16x2 uint32_t
#define GT_LANE_bf16x2 uint32_t
#define GT_LANE_f32 float
#define GT_LANE_f64 double
#define GT_TYPE_pred GT_PTX_PRED
#define GT_TYPE_none GT_PTX_NO_TYPE
#define GT_TYPE_u8  GT_PTX_U8
#define GT_TYPE_s8  GT_PTX_S8
#define GT_TYPE_u16 GT_PTX_U16
#define GT_TYPE_s16 GT_PTX_S16
#define GT_TYPE_u32 GT_PTX_U32
#define GT_TYPE_s32 GT_PTX_S32
#define GT_TYPE_u64 GT_PTX_U64
#define GT_TYPE_s64 GT_PTX_S64
#define GT_TYPE_b8  GT_PTX_B8
#define GT_TYPE_b16 GT_PTX_B16
#define GT_TYPE_b32 GT_PTX_B32
#define GT_TYPE_b64 GT_PTX_B64
#define GT_TYPE_f16 GT_PTX_F16
#define GT_TYPE_bf16 GT_PTX_BF16
#define GT_TYPE_f16x2 GT_PTX_F16X2
#define GT_TYPE_bf16x2 GT_PTX_BF16X2
#define GT_TYPE_f32 GT_PTX_F32
#define GT_TYPE_f64 GT_PTX_F64

#define GT_STEP_ARGUMENTS struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask

/* An inline step compiled in each variant, and the list of these. */
#define GT_STEP_HEAD(ID) static const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)
#if defined __x86_64__
#define GT_VARIANTS(X, ...) X(, _plain, __VA_ARGS__) X(GT_FAST, _fast, __VA_ARGS__)
#define GT_STEPS(ID) {ID##_plain, ID##_fast}
#else
#define GT_VARIANTS(X, ...) X(, _plain, __VA_ARGS__)
#define GT_STEPS(ID) {ID##_plain}
#endif
#define GT_IN_VARIANT(TARGET, VARIANT, ID) TARGET GT_STEP_HEAD(ID##VARIANT) { return ID(warp, op, mask); }
#define GT_EVERY(ID) GT_VARIANTS(GT_IN_VARIANT, ID)

#define GT_OPERANDS(A, B, C)                                                                       \
	const GT_LANE_##A *lanes_a = gt_ptx_lanes(warp, op->a);                                    \
	const GT_LANE_##B *lanes_b = gt_ptx_lanes(warp, op->b);                                    \
	const GT_LANE_##C *lanes_c = gt_ptx_lanes(warp, op->c);
#define GT_OPERAND_LANES(A, B, C)                                                                  \
	const GT_LANE_##A x = lanes_a[i];                                                          \
	const GT_LANE_##B y = lanes_b[i];                                                          \
	const GT_LANE_##C z = lanes_c[i];                                                          \
	(void)x, (void)y, (void)z;

/* ID(NAME d, a, b, c): every lane of d becomes EXPRESSION, of x, y and z; in every variant, or in the plain one. */
#define GT_LANES(ID, NAME, D, A, B, C, EXPRESSION) GT_LOOP(ID, D, A, B, C, EXPRESSION) GT_EVERY(ID)
#define GT_LANES_PLAIN(ID, NAME, D, A, B, C, EXPRESSION)                                           \
	GT_LOOP(ID, D, A, B, C, EXPRESSION)                                                        \
	GT_IN_VARIANT(, _plain, ID)
#define GT_LOOP(ID, D, A, B, C, EXPRESSION)                                                        \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##D *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		GT_OPERANDS(A, B, C)                                                               \
		if (mask == GT_PTX_FULL) {                                                         \
			GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                    \
				GT_OPERAND_LANES(A, B, C)                                          \
				lanes_d[i] = (GT_LANE_##D)(EXPRESSION);                            \
			}                                                                          \
			return op + 1;                                                             \
		}                                                                                  \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			GT_OPERAND_LANES(A, B, C)                                                  \
			const GT_LANE_##D value = (GT_LANE_##D)(EXPRESSION);                       \
			lanes_d[i] = mask >> i & 1 ? value : lanes_d[i];                           \
		}                                                                                  \
		return op + 1;                                                                     \
	}

/* The same with AVX2, where compilers do not find the instructions: STORE writes the results from lane i on to those of d, for as many
 * lanes as it does at a time. */
#define GT_LANES_FAST(ID, D, A, B, C, AT_A_TIME, STORE)                                            \
	GT_FAST GT_STEP_HEAD(ID##_fast)                                                            \
	{                                                                                          \
		GT_LANE_##D *lanes_d = gt_ptx_lanes(warp, op->d), found[GT_WARP_SIZE], *d = mask == GT_PTX_FULL ? lanes_d : found; \
		GT_OPERANDS(A, B, C)                                                               \
		(void)lanes_b, (void)lanes_c;                                                      \
		for (size_t i = 0; i < GT_WARP_SIZE; i += AT_A_TIME)                               \
			STORE;                                                                     \
		for (int i = 0; i < GT_WARP_SIZE && mask != GT_PTX_FULL; i++)                      \
			lanes_d[i] = mask >> i & 1 ? found[i] : lanes_d[i];                        \
		return op + 1;                                                                     \
	}

/* The row of such a form. */
#define GT_ROW(ID, NAME, D, A, B, C, EXPRESSION)                                                 \
	{NAME, GT_TYPE_##D, {GT_TYPE_##A, GT_TYPE_##B, GT_TYPE_##C, GT_PTX_NO_TYPE}, GT_STEPS(ID)},

/* The upper half of a product. */
GT_INLINE uint16_t high_u16(uint16_t x, uint16_t y) { return (uint16_t)((uint32_t)x * y >> 16); }
GT_INLINE int16_t high_s16(int16_t x, int16_t y) { return (int16_t)((int32_t)x * y >> 16); }
GT_INLINE uint32_t high_u32(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }
GT_INLINE int32_t high_s32(int32_t x, int32_t y) { return (int32_t)((int64_t)x * y >> 32); }

GT_INLINE uint64_t high_u64(uint64_t x, uint64_t y)
{
	uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
	uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
	uint64_t carried = x0 * y1 + (uint32_t)middle;

	return x1 * y1 + (middle >> 32) + (carried >> 32);
}

GT_INLINE int64_t high_s64(int64_t x, int64_t y)
{
	uint64_t high = high_u64((uint64_t)x, (uint64_t)y);

	return (int64_t)(high - (x < 0 ? (uint64_t)y : 0) - (y < 0 ? (uint64_t)x : 0));
}

/* What compilers do not make of a loop over lanes: tests of all lanes at once, in each variant. */

/* True if lane i's value is first + i * stride, for all lanes of a whole warp. */
#define GT_STRIDE_TEST(N)                                                                          \
	GT_INLINE bool gt_ptx_is_row##N##_plain(const uint##N##_t *lanes, uint##N##_t stride)      \
	{                                                                                          \
		uint##N##_t expected = lanes[0], differs = 0;                                      \
		for (int i = 0; i < GT_WARP_SIZE; i++, expected += stride)                         \
			differs |= lanes[i] ^ expected;                                            \
		return !differs;                                                                   \
	}
GT_STRIDE_TEST(32)
GT_STRIDE_TEST(64)

/* The same for a stride of 0 (`next` false), or of the constant `bytes`. */
#define GT_NEXT_TEST(N)                                                                            \
	GT_INLINE bool gt_ptx_is_next##N##_plain(const uint##N##_t *lanes, unsigned bytes, bool next) \
	{                                                                                          \
		return gt_ptx_is_row##N##_plain(lanes, next ? bytes : 0);                          \
	}
GT_NEXT_TEST(32)
GT_NEXT_TEST(64)

/* One byte a lane, 0 or 1, to one bit a lane. */
GT_INLINE uint32_t gt_ptx_packed_plain(const uint8_t *bytes)
{
	uint32_t mask = 0;

	for (unsigned k = 0; k < GT_WARP_SIZE / 8; k++) {
		uint64_t eight = 0;
		for (unsigned i = 0; i < 8; i++)
			eight |= (uint64_t)bytes[8 * k + i] << 8 * i;
		mask |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << 8 * k;
	}
	return mask;
}

/* to[i] = from[sources[i]]; sources are below 32. */
GT_INLINE void gt_ptx_permuted_plain(const uint32_t *from, const uint32_t *sources, uint32_t *to)
{
	for (int i = 0; i < GT_WARP_SIZE; i++)
		to[i] = from[sources[i]];
}

#if defined __x86_64__
GT_FAST GT_INLINE void gt_ptx_permuted_fast(const uint32_t *from, const uint32_t *sources, uint32_t *to)
{
	gt_ptx_permuted_plain(from, sources, to);
}
GT_FAST GT_INLINE bool gt_ptx_is_row32_fast(const uint32_t *lanes, uint32_t stride)
{
	const __m256i *at = (const __m256i *)(const void *)lanes, step = _mm256_set1_epi32((int)stride);
	__m256i expected = _mm256_add_epi32(_mm256_set1_epi32((int)lanes[0]),
					    _mm256_mullo_epi32(step, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
	__m256i differs = _mm256_setzero_si256();

	for (int i = 0; i < 4; i++) {
		differs = _mm256_or_si256(differs, _mm256_xor_si256(_mm256_loadu_si256(at + i), expected));
		expected = _mm256_add_epi32(expected, _mm256_slli_epi32(step, 3));
	}
	return _mm256_testz_si256(differs, differs);
}

GT_FAST GT_INLINE bool gt_ptx_is_row64_fast(const uint64_t *lanes, uint64_t stride)
{
	const __m256i *at = (const __m256i *)(const void *)lanes, step = _mm256_set1_epi64x((int64_t)stride);
	__m256i odd = _mm256_and_si256(step, _mm256_setr_epi64x(0, -1, 0, -1));
	__m256i upper = _mm256_and_si256(_mm256_slli_epi64(step, 1), _mm256_setr_epi64x(0, 0, -1, -1));
	__m256i expected = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)lanes[0]), _mm256_add_epi64(odd, upper));
	__m256i differs = _mm256_setzero_si256();

	for (int i = 0; i < 8; i++) {
		differs = _mm256_or_si256(differs, _mm256_xor_si256(_mm256_loadu_si256(at + i), expected));
		expected = _mm256_add_epi64(expected, _mm256_slli_epi64(step, 2));
	}
	return _mm256_testz_si256(differs, differs);
}

/* Lane i's distance from lane 0, against i * bytes, which is a constant. */
GT_FAST GT_INLINE bool gt_ptx_is_next32_fast(const uint32_t *lanes, unsigned bytes, bool next)
{
	const int b = (int)bytes;
	const __m256i *at = (const __m256i *)(const void *)lanes, first = _mm256_set1_epi32((int)lanes[0]);
	const __m256i low = _mm256_setr_epi32(0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b);
	__m256i differs = _mm256_setzero_si256();

	for (int i = 0; i < 4; i++) {
		__m256i x = _mm256_sub_epi32(_mm256_loadu_si256(at + i), first);
		if (next)
			x = _mm256_xor_si256(x, _mm256_add_epi32(low, _mm256_set1_epi32(8 * i * b)));
		differs = _mm256_or_si256(differs, x);
	}
	return _mm256_testz_si256(differs, differs);
}

GT_FAST GT_INLINE bool gt_ptx_is_next64_fast(const uint64_t *lanes, unsigned bytes, bool next)
{
	const int64_t b = bytes;
	const __m256i *at = (const __m256i *)(const void *)lanes, first = _mm256_set1_epi64x((int64_t)lanes[0]);
	const __m256i low = _mm256_setr_epi64x(0, b, 2 * b, 3 * b);
	__m256i differs = _mm256_setzero_si256();

	for (int i = 0; i < 8; i++) {
		__m256i x = _mm256_sub_epi64(_mm256_loadu_si256(at + i), first);
		if (next)
			x = _mm256_xor_si256(x, _mm256_add_epi64(low, _mm256_set1_epi64x(4 * i * b)));
		differs = _mm256_or_si256(differs, x);
	}
	return _mm256_testz_si256(differs, differs);
}

GT_FAST GT_INLINE uint32_t gt_ptx_packed_fast(const uint8_t *bytes)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(_mm256_loadu_si256((const __m256i *)(const void *)bytes), 7));
}
#endif

#endif
