/* SPDX-License-Identifier: MIT */
/* rsqrt.f32 on processors with AVX2, where a root and a quotient of doubles would take most of a kernel's time: from the
 * processor's estimate by two steps of Newton's method, in doubles. Its result is that of (float)(1 / sqrt((double)x)): each of the
 * two is within two units in the last place of the double, so that they can become different floats only next to the middle of two
 * floats, where the lanes are computed in the slow way. */
#ifndef GT_PTX_RSQRT_H
#define GT_PTX_RSQRT_H

#include <float.h>

#include "cuda/ptx/exec/simd.h"

#if defined __x86_64__
/* Of the 29 bits that a double has more than a float: the middle, and how near it is too near. */
#define GT_RSQRT_MIDDLE (INT64_C(1) << 28)
#define GT_RSQRT_NEAR	8

/* 1 / sqrt of four floats, to two units in the last place of doubles; *hard: of which it is not known, or is too near to the middle
 * of two floats. The estimate is right to 1.5 / 2^12, and knows no denormal numbers. */
GT_FAST GT_INLINE __m256d gt_ptx_rsqrt_near4(__m128 floats, unsigned *hard)
{
	const __m256d one = _mm256_set1_pd(1), half = _mm256_set1_pd(0.5), rest = _mm256_set1_pd(0.375), x = _mm256_cvtps_pd(floats);
	const __m256i bits = _mm256_set1_epi64x(2 * GT_RSQRT_MIDDLE - 1), from = _mm256_set1_epi64x(GT_RSQRT_MIDDLE - GT_RSQRT_NEAR);
	__m256d y = _mm256_cvtps_pd(_mm_rsqrt_ps(floats)), error = _mm256_fnmadd_pd(_mm256_mul_pd(x, y), y, one);

	y = _mm256_fmadd_pd(_mm256_mul_pd(y, error), _mm256_fmadd_pd(error, rest, half), y);
	error = _mm256_fnmadd_pd(_mm256_mul_pd(x, y), y, one);
	y = _mm256_fmadd_pd(_mm256_mul_pd(y, error), half, y);
	const __m256i low = _mm256_sub_epi64(_mm256_and_si256(_mm256_castpd_si256(y), bits), from);
	const __m256i far = _mm256_or_si256(_mm256_cmpgt_epi64(low, _mm256_set1_epi64x(2 * GT_RSQRT_NEAR)),
					    _mm256_cmpgt_epi64(_mm256_setzero_si256(), low));
	const __m256d usual = _mm256_and_pd(_mm256_cmp_pd(x, _mm256_set1_pd((double)FLT_MIN), _CMP_GE_OQ),
					    _mm256_cmp_pd(x, _mm256_set1_pd(__builtin_inf()), _CMP_LT_OQ));
	*hard = 15U ^ (unsigned)_mm256_movemask_pd(_mm256_and_pd(_mm256_castsi256_pd(far), usual));
	return y;
}

/* False if a lane in `mask` must be computed in the slow way; nothing is stored then. */
GT_FAST GT_INLINE bool gt_ptx_rsqrt_fast(const float *from, float *to, uint32_t mask)
{
	float roots[GT_WARP_SIZE];
	uint32_t hard = 0;

	for (int i = 0; i < GT_WARP_SIZE; i += 4) {
		unsigned these;
		_mm_storeu_ps(roots + i, _mm256_cvtpd_ps(gt_ptx_rsqrt_near4(_mm_loadu_ps(from + i), &these)));
		hard |= (uint32_t)these << i;
	}
	for (int i = 0; i < GT_WARP_SIZE && !(hard & mask); i++)
		to[i] = mask >> i & 1 ? roots[i] : to[i];
	return !(hard & mask);
}

#endif

#endif
