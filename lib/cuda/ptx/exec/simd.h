/* SPDX-License-Identifier: MIT */
/* What compilers do not make of a loop over lanes: tests of all lanes at once, in each variant. */
#ifndef GT_PTX_SIMD_H
#define GT_PTX_SIMD_H

#include "cuda/ptx/exec/lanes.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

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
