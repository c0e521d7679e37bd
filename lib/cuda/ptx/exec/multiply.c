/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/multiply.h"

#include <math.h>
#include <string.h>

#include "cuda/ptx/exec/lanes.h"

#if defined __x86_64__
#include <immintrin.h>

/* With AVX-512 a product takes half as many instructions, and no machine code is made of it. */
#define WIDEST __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

#define BLOCK 8 /* rows and columns that are made at once */
#define STEP 4	/* of the depth that are turned at once */
#define DEPTH_MAX 64
#define UNROLLED _Pragma("GCC unroll 8")

/* Four successive elements of eight columns to rows of eight. */
GT_INLINE void turn_plain(const double *columns, unsigned depth, double *rows)
{
	for (unsigned k = 0; k < STEP; k++)
		for (unsigned j = 0; j < BLOCK; j++)
			rows[k * BLOCK + j] = columns[j * depth + k];
}

/* d += a b, for eight rows and eight columns, which lie in b as rows of eight. */
GT_INLINE void block_plain(unsigned columns, unsigned depth, const double *a, const double *b, double *d)
{
	for (unsigned i = 0; i < BLOCK; i++)
		for (unsigned j = 0; j < BLOCK; j++)
			for (unsigned k = 0; k < depth; k++)
				d[i * columns + j] = fma(a[i * depth + k], b[k * BLOCK + j], d[i * columns + j]);
}

#if defined __x86_64__
GT_FAST GT_INLINE void turn_fast(const double *columns, unsigned depth, double *rows)
{
	for (unsigned j = 0; j < BLOCK; j += STEP, columns += STEP * depth, rows += STEP) {
		__m256d even[2], odd[2]; /* k = 0 and 2, or 1 and 3, of two columns */
		UNROLLED for (unsigned i = 0; i < 2; i++) {
			const __m256d x = _mm256_loadu_pd(columns + 2 * i * depth), y = _mm256_loadu_pd(columns + (2 * i + 1) * depth);
			even[i] = _mm256_unpacklo_pd(x, y);
			odd[i] = _mm256_unpackhi_pd(x, y);
		}
		_mm256_storeu_pd(rows, _mm256_permute2f128_pd(even[0], even[1], 0x20));
		_mm256_storeu_pd(rows + BLOCK, _mm256_permute2f128_pd(odd[0], odd[1], 0x20));
		_mm256_storeu_pd(rows + 2 * BLOCK, _mm256_permute2f128_pd(even[0], even[1], 0x31));
		_mm256_storeu_pd(rows + 3 * BLOCK, _mm256_permute2f128_pd(odd[0], odd[1], 0x31));
	}
}

/* Two columns of vectors, of four rows at a time: what 16 registers hold. */
GT_FAST GT_INLINE void block_fast(unsigned columns, unsigned depth, const double *a, const double *b, double *d)
{
	for (unsigned row = 0; row < BLOCK; row += 4, a += 4 * depth, d += 4 * columns) {
		__m256d left[4], right[4];
		UNROLLED for (unsigned i = 0; i < 4; i++) {
			left[i] = _mm256_loadu_pd(d + i * columns);
			right[i] = _mm256_loadu_pd(d + i * columns + 4);
		}
		for (unsigned k = 0; k < depth; k++) {
			const __m256d x = _mm256_loadu_pd(b + k * BLOCK), y = _mm256_loadu_pd(b + k * BLOCK + 4);
			UNROLLED for (unsigned i = 0; i < 4; i++) {
				left[i] = _mm256_fmadd_pd(_mm256_broadcast_sd(a + i * depth + k), x, left[i]);
				right[i] = _mm256_fmadd_pd(_mm256_broadcast_sd(a + i * depth + k), y, right[i]);
			}
		}
		UNROLLED for (unsigned i = 0; i < 4; i++) {
			_mm256_storeu_pd(d + i * columns, left[i]);
			_mm256_storeu_pd(d + i * columns + 4, right[i]);
		}
	}
}

WIDEST GT_INLINE void turn_wide(const double *columns, unsigned depth, double *rows)
{
	const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
	__m512d both[4], even[2], odd[2]; /* both: columns i and i + 4 */

	UNROLLED for (unsigned i = 0; i < 4; i++)
		both[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(columns + i * depth)),
					     _mm256_loadu_pd(columns + (i + 4) * depth), 1);
	UNROLLED for (unsigned i = 0; i < 2; i++) {
		even[i] = _mm512_unpacklo_pd(both[2 * i], both[2 * i + 1]);
		odd[i] = _mm512_unpackhi_pd(both[2 * i], both[2 * i + 1]);
	}
	_mm512_storeu_pd(rows, _mm512_permutex2var_pd(even[0], low, even[1]));
	_mm512_storeu_pd(rows + BLOCK, _mm512_permutex2var_pd(odd[0], low, odd[1]));
	_mm512_storeu_pd(rows + 2 * BLOCK, _mm512_permutex2var_pd(even[0], high, even[1]));
	_mm512_storeu_pd(rows + 3 * BLOCK, _mm512_permutex2var_pd(odd[0], high, odd[1]));
}

WIDEST GT_INLINE void block_wide(unsigned columns, unsigned depth, const double *a, const double *b, double *d)
{
	__m512d sums[BLOCK];

	UNROLLED for (unsigned i = 0; i < BLOCK; i++)
		sums[i] = _mm512_loadu_pd(d + i * columns);
	for (unsigned k = 0; k < depth; k++) {
		const __m512d x = _mm512_loadu_pd(b + k * BLOCK);
		UNROLLED for (unsigned i = 0; i < BLOCK; i++)
			sums[i] = _mm512_fmadd_pd(_mm512_set1_pd(a[i * depth + k]), x, sums[i]);
	}
	UNROLLED for (unsigned i = 0; i < BLOCK; i++)
		_mm512_storeu_pd(d + i * columns, sums[i]);
}
#endif

#define MULTIPLY(TARGET, VARIANT, ...)                                                                       \
	TARGET static void multiply##VARIANT(unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b, double *d) \
	{                                                                                                    \
		double turned[DEPTH_MAX * BLOCK];                                                            \
		for (unsigned j = 0; j < columns; j += BLOCK) {                                              \
			for (unsigned k = 0; k < depth; k += STEP)                                           \
				turn##VARIANT(b + j * depth + k, depth, turned + k * BLOCK);                 \
			for (unsigned i = 0; i < rows; i += BLOCK)                                           \
				block##VARIANT(columns, depth, a + i * depth, turned, d + i * columns + j);  \
		}                                                                                            \
	}
GT_VARIANTS(MULTIPLY, )
#if defined __x86_64__
MULTIPLY(WIDEST, _wide, )
#endif

gt_ptx_multiplier *gt_ptx_multiply(void)
{
	static gt_ptx_multiplier *const multipliers[] = GT_STEPS(multiply);

#if defined __x86_64__
	if (gt_ptx_uses_avx512())
		return multiply_wide;
#endif
	return multipliers[gt_ptx_simd_variant()];
}
