/* SPDX-License-Identifier: MIT */
/* Products of matrices in registers: mma, wmma.mma, and mma.sp, whose A is sparse. */
#include <math.h>
#include <string.h>

#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/numbers.h"

/* ---- sums of products ---- */

#if defined __x86_64__
#include <immintrin.h>

/* With AVX-512 a product takes half as many instructions, and no machine code is made of it. */
#define WIDEST __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

#define BLOCK 8 /* rows and columns that are made at once */
#define STEP 4	/* of the depth that are turned at once */
#define DEPTH_MAX 64
#define CUT_ROWS_MAX 32 /* of wmma; a warp of wgmma makes 16 */

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
		GT_UNROLLED for (unsigned i = 0; i < 2; i++) {
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
		GT_UNROLLED for (unsigned i = 0; i < 4; i++) {
			left[i] = _mm256_loadu_pd(d + i * columns);
			right[i] = _mm256_loadu_pd(d + i * columns + 4);
		}
		for (unsigned k = 0; k < depth; k++) {
			const __m256d x = _mm256_loadu_pd(b + k * BLOCK), y = _mm256_loadu_pd(b + k * BLOCK + 4);
			GT_UNROLLED for (unsigned i = 0; i < 4; i++) {
				left[i] = _mm256_fmadd_pd(_mm256_broadcast_sd(a + i * depth + k), x, left[i]);
				right[i] = _mm256_fmadd_pd(_mm256_broadcast_sd(a + i * depth + k), y, right[i]);
			}
		}
		GT_UNROLLED for (unsigned i = 0; i < 4; i++) {
			_mm256_storeu_pd(d + i * columns, left[i]);
			_mm256_storeu_pd(d + i * columns + 4, right[i]);
		}
	}
}

WIDEST GT_INLINE void turn_wide(const double *columns, unsigned depth, double *rows)
{
	const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
	__m512d both[4], even[2], odd[2]; /* both: columns i and i + 4 */

	GT_UNROLLED for (unsigned i = 0; i < 4; i++)
		both[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(columns + i * depth)),
					     _mm256_loadu_pd(columns + (i + 4) * depth), 1);
	GT_UNROLLED for (unsigned i = 0; i < 2; i++) {
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

	GT_UNROLLED for (unsigned i = 0; i < BLOCK; i++)
		sums[i] = _mm512_loadu_pd(d + i * columns);
	for (unsigned k = 0; k < depth; k++) {
		const __m512d x = _mm512_loadu_pd(b + k * BLOCK);
		GT_UNROLLED for (unsigned i = 0; i < BLOCK; i++)
			sums[i] = _mm512_fmadd_pd(_mm512_set1_pd(a[i * depth + k]), x, sums[i]);
	}
	GT_UNROLLED for (unsigned i = 0; i < BLOCK; i++)
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

/* ---- sums as a GPU makes them ---- */

#define NO_EXPONENT (-400) /* of 0: below that of any product */
#define SPECIAL	    500	   /* and from here on something is infinite or no number */

/* Of GPUs before the H100, of elements of 16 bits, and of wider and narrower ones: by compute capability, the last that is not above. */
static const struct generation {
	uint8_t capability, fraction, at_once, of_tf32, of_bytes;
} generations[] = {{70, 23, 4, 4, 4}, {75, 24, 4, 4, 4}, {80, 24, 8, 4, 16}, {90, 25, 0, 0, 0}};

struct gt_ptx_sums gt_ptx_sums_of(enum gt_ptx_element a, enum gt_ptx_element b, enum gt_ptx_element d, bool of_warpgroup, unsigned capability)
{
	static const int16_t least[] = {[GT_PTX_ELEMENT_F16] = -14, [GT_PTX_ELEMENT_BF16] = -126, [GT_PTX_ELEMENT_TF32] = -126,
					[GT_PTX_ELEMENT_E4M3] = -6, [GT_PTX_ELEMENT_E5M2] = -14};
	const bool known = a < sizeof least / sizeof *least && b < sizeof least / sizeof *least && least[a] && least[b];
	const bool bytes = a == GT_PTX_ELEMENT_E4M3 || a == GT_PTX_ELEMENT_E5M2, half = d == GT_PTX_ELEMENT_F16;
	size_t last = sizeof generations / sizeof *generations - 1;

	while (last > 0 && capability != 0 && capability < generations[last].capability)
		last--;
	const struct generation *const of = &generations[last];

	if (!known || (!half && d != GT_PTX_ELEMENT_F32))
		return (struct gt_ptx_sums){.fraction = 0};
	if (!bytes)
		return (struct gt_ptx_sums){{least[a], least[b]}, of->fraction, half ? 52 : 23, a == GT_PTX_ELEMENT_TF32 ? of->of_tf32 : of->at_once, false, half};
	if (of_warpgroup || of->of_bytes != 0)
		return (struct gt_ptx_sums){{least[a], least[b]}, 13, half ? 52 : 13, of->of_bytes, false, half};
	return (struct gt_ptx_sums){{-14, -14}, 25, half ? 52 : 23, 0, true, half}; /* bytes become f16 */
}

GT_INLINE int32_t exponent_of(double x, int32_t least)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	const int32_t exponent = (int32_t)(bits >> 52 & 2047) - 1023; /* no number is subnormal as a double */
	return exponent == -1023 ? NO_EXPONENT : exponent > least ? exponent : least;
}
GT_INLINE double power_of_2(int32_t exponent)
{
	const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Towards 0, to a float with so many bits of fraction; 52: as it is. */
GT_INLINE double cut(double x, unsigned kept)
{
	uint64_t bits;

	if (kept == 52)
		return x;
	if (fabs(x) < 0x1p-126)
		return trunc(x * 0x1p149) * 0x1p-149;
	memcpy(&bits, &x, sizeof bits);
	bits &= UINT64_MAX << (52 - kept);
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Numbers are below 2^27 when they are aligned. */
#define ALIGNED(X) ((double)(int32_t)(X))

/* An infinite product, or one that is no number, makes the sum such; others are summed by themselves. */
static void sum_of_one(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const double *b, int32_t most, double *d)
{
	const double scale = most < SPECIAL ? power_of_2(sums->fraction - most) : 1;
	double sum = most < SPECIAL ? 0 + ALIGNED(*d * scale) : *d;

	for (unsigned k = 0; k < depth; k++)
		sum += most < SPECIAL ? ALIGNED(a[k] * b[k * BLOCK] * scale) : a[k] * b[k * BLOCK];
	*d = most < SPECIAL ? cut(sum * power_of_2(most - sums->fraction), sums->kept) : sum;
}

/* Those of n numbers, a multiple of 8. */
static void exponents_plain(const double *x, unsigned n, int32_t least, int32_t *exponents)
{
	for (unsigned i = 0; i < n; i++)
		exponents[i] = exponent_of(x[i], least);
}

/* A row of A with eight columns. */
static void sum_of_row_plain(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const int32_t *of_a, const double *b,
			     const int32_t *of_b, double *d)
{
	for (unsigned j = 0; j < BLOCK; j++) {
		int32_t most = exponent_of(d[j], -126);
		for (unsigned k = 0; k < depth; k++) {
			const int32_t e = of_a[k] + of_b[k * BLOCK + j];
			most = e > most ? e : most;
		}
		sum_of_one(sums, depth, a, b + j, most, d + j);
	}
}

#if defined __x86_64__
GT_FAST GT_INLINE __m256i exponents_of(const double *x, int32_t least)
{
	const __m256 high = _mm256_shuffle_ps(_mm256_loadu_ps((const float *)x), _mm256_loadu_ps((const float *)(x + 4)), 0xdd);
	const __m256i words = _mm256_permute4x64_epi64(_mm256_castps_si256(high), 0xd8);
	const __m256i biased = _mm256_and_si256(_mm256_srli_epi32(words, 20), _mm256_set1_epi32(2047));
	const __m256i exponents = _mm256_max_epi32(_mm256_sub_epi32(biased, _mm256_set1_epi32(1023)), _mm256_set1_epi32(least));

	return _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), _mm256_cmpeq_epi32(biased, _mm256_setzero_si256()));
}
GT_FAST static void exponents_fast(const double *x, unsigned n, int32_t least, int32_t *exponents)
{
	for (unsigned i = 0; i < n; i += 8)
		_mm256_storeu_si256((__m256i *)(exponents + i), exponents_of(x + i, least));
}
GT_FAST GT_INLINE __m256i greatest_of(__m256i most, unsigned depth, const int32_t *of_a, const int32_t *of_b)
{
	for (unsigned k = 0; k < depth; k++)
		most = _mm256_max_epi32(most, _mm256_add_epi32(_mm256_set1_epi32(of_a[k]), _mm256_loadu_si256((const __m256i *)(of_b + k * BLOCK))));
	return most;
}
/* What is cut, or is done one by one: if something is special, or below the normal floats. */
GT_FAST GT_INLINE bool is_simple(__m256i most)
{
	const __m256i high = _mm256_cmpgt_epi32(most, _mm256_set1_epi32(SPECIAL - 1)), low = _mm256_cmpgt_epi32(_mm256_set1_epi32(-90), most);
	const __m256i nothing = _mm256_cmpgt_epi32(_mm256_set1_epi32(NO_EXPONENT / 2), most);

	return _mm256_testz_si256(_mm256_or_si256(high, _mm256_andnot_si256(nothing, low)), _mm256_set1_epi32(-1));
}

/* Four columns. */
GT_FAST GT_INLINE void sum_of_4(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const double *b, __m128i most, double *d)
{
	const __m256i bias = _mm256_set1_epi64x(1023), exponent = _mm256_sub_epi64(_mm256_cvtepi32_epi64(most), _mm256_set1_epi64x(sums->fraction));
	const __m256d scale = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_sub_epi64(bias, exponent), 52));
	const __m256d back = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_add_epi64(bias, exponent), 52));
	const __m256i kept = _mm256_set1_epi64x((int64_t)(UINT64_MAX << (52 - sums->kept)));
	__m256d sum = _mm256_cvtepi32_pd(_mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_loadu_pd(d), scale)));

	for (unsigned k = 0; k < depth; k++) {
		const __m256d product = _mm256_mul_pd(_mm256_broadcast_sd(a + k), _mm256_loadu_pd(b + k * BLOCK));
		sum = _mm256_add_pd(sum, _mm256_cvtepi32_pd(_mm256_cvttpd_epi32(_mm256_mul_pd(product, scale))));
	}
	_mm256_storeu_pd(d, _mm256_and_pd(_mm256_mul_pd(sum, back), _mm256_castsi256_pd(kept)));
}
GT_FAST static void sum_of_row_fast(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const int32_t *of_a, const double *b,
				    const int32_t *of_b, double *d)
{
	const __m256i most = greatest_of(exponents_of(d, -126), depth, of_a, of_b);

	if (!is_simple(most)) {
		sum_of_row_plain(sums, depth, a, of_a, b, of_b, d);
		return;
	}
	sum_of_4(sums, depth, a, b, _mm256_castsi256_si128(most), d);
	sum_of_4(sums, depth, a, b + 4, _mm256_extracti128_si256(most, 1), d + 4);
}

WIDEST static void sum_of_row_wide(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const int32_t *of_a, const double *b,
				   const int32_t *of_b, double *d)
{
	const __m256i most = greatest_of(exponents_of(d, -126), depth, of_a, of_b);

	if (!is_simple(most)) {
		sum_of_row_plain(sums, depth, a, of_a, b, of_b, d);
		return;
	}
	const __m512i bias = _mm512_set1_epi64(1023), exponent = _mm512_sub_epi64(_mm512_cvtepi32_epi64(most), _mm512_set1_epi64(sums->fraction));
	const __m512d scale = _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_sub_epi64(bias, exponent), 52));
	const __m512d back = _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(bias, exponent), 52));
	const __m512i kept = _mm512_set1_epi64((int64_t)(UINT64_MAX << (52 - sums->kept)));
	__m512d sums_of[2] = {_mm512_cvtepi32_pd(_mm512_cvttpd_epi32(_mm512_mul_pd(_mm512_loadu_pd(d), scale))), _mm512_setzero_pd()};

	for (unsigned k = 0; k < depth; k += 2)
		GT_UNROLLED for (unsigned i = 0; i < 2; i++) {
			const __m512d product = _mm512_mul_pd(_mm512_set1_pd(a[k + i]), _mm512_loadu_pd(b + (k + i) * BLOCK));
			sums_of[i] = _mm512_add_pd(sums_of[i], _mm512_cvtepi32_pd(_mm512_cvttpd_epi32(_mm512_mul_pd(product, scale))));
		}
	_mm512_storeu_pd(d, _mm512_and_pd(_mm512_mul_pd(_mm512_add_pd(sums_of[0], sums_of[1]), back), _mm512_castsi512_pd(kept)));
}
#endif

struct summer {
	void (*exponents)(const double *x, unsigned n, int32_t least, int32_t *exponents);
	void (*row)(const struct gt_ptx_sums *sums, unsigned depth, const double *a, const int32_t *of_a, const double *b, const int32_t *of_b,
		    double *d);
};
static const struct summer *chosen_summer(void)
{
	static const struct summer plain = {exponents_plain, sum_of_row_plain};

#if defined __x86_64__
	static const struct summer fast = {exponents_fast, sum_of_row_fast}, wide = {exponents_fast, sum_of_row_wide};
	if (gt_ptx_simd_variant() != GT_PTX_PLAIN)
		return gt_ptx_uses_avx512() ? &wide : &fast;
#endif
	return &plain;
}

/* Of the depth, so many that are listed. */
static void multiply_listed(const struct gt_ptx_sums *sums, unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b,
			    const uint8_t *list, unsigned n, double *d)
{
	const struct summer *summer = chosen_summer();
	int32_t of_a[CUT_ROWS_MAX * DEPTH_MAX], of_b[DEPTH_MAX * BLOCK];
	double listed[CUT_ROWS_MAX * DEPTH_MAX], turned[DEPTH_MAX * BLOCK];

	for (unsigned i = 0; i < rows && n < depth; i++)
		for (unsigned k = 0; k < n; k++)
			listed[i * n + k] = a[i * depth + list[k]];
	const double *const left = n < depth ? listed : a;
	summer->exponents(left, rows * n, sums->least[0], of_a);
	for (unsigned j = 0; j < columns; j += BLOCK) {
		for (unsigned k = 0; k < n; k++)
			for (unsigned i = 0; i < BLOCK; i++)
				turned[k * BLOCK + i] = b[(j + i) * depth + list[k]];
		summer->exponents(turned, n * BLOCK, sums->least[1], of_b);
		for (unsigned i = 0; i < rows; i++)
			summer->row(sums, n, left + i * n, of_a + i * n, turned, of_b, d + i * columns + j);
	}
}

/* Into how many parts the products along K come, each of which is summed at once. */
static unsigned parts_of(const struct gt_ptx_sums *sums, unsigned depth)
{
	return sums->twice ? 2 : sums->at_once > 0 && sums->at_once < depth ? depth / sums->at_once : 1;
}

static void round_to_halves(unsigned n, double *x)
{
	for (unsigned i = 0; i < n; i++)
		x[i] = (double)gt_ptx_from_half(gt_ptx_to_half(x[i], GT_PTX_RN));
}

void gt_ptx_multiply_cut(const struct gt_ptx_sums *sums, unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b,
			 double *d)
{
	const unsigned parts = parts_of(sums, depth), n = depth / parts;
	double sum[CUT_ROWS_MAX * BLOCK] = {0}, *const to = sums->twice ? sum : d;
	uint8_t list[DEPTH_MAX];

	for (unsigned k = 0; k < depth; k++) /* of bytes, the first two of each four come first */
		list[k] = (uint8_t)(sums->twice ? k % (depth / 2) / 2 * 4 + k % 2 + k / (depth / 2) * 2 : k);
	for (unsigned part = 0; part < parts; part++) {
		multiply_listed(sums, rows, columns, depth, a, b, list + part * n, n, to);
		if (sums->halves && parts > 1)
			round_to_halves(rows * columns, to);
	}
	for (unsigned i = 0; i < rows * columns && sums->twice; i++)
		d[i] += sum[i];
}

/* ---- mma and wmma.mma ---- */

#define ELEMENTS_MAX 1024 /* 16 x 64 of 4 bits */
#define QUADS 4
#define QUAD_UNITS (QUADS * 8 * 8)

/* The lines of a matrix, one behind the other, but of one of doubles. */
union lines {
	unsigned char bytes[GT_PTX_LINES_MAX];
	uint16_t halves[GT_PTX_LINES_MAX / 2];
	uint32_t words[GT_PTX_LINES_MAX / 4];
};

/* The values of n elements, element i of which is the expression BITS. */
#define VALUES(ELEMENT, BITS)                                                                                \
	case GT_PTX_ELEMENT_##ELEMENT:                                                                       \
		for (unsigned i = 0; i < n; i++) {                                                           \
			const uint64_t x = BITS;                                                             \
			numbers[i] = gt_ptx_number_of(GT_PTX_ELEMENT_##ELEMENT, x);                          \
		}                                                                                            \
		break;

/* The n numbers of a matrix, line by line. */
GT_INLINE void read_numbers(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, unsigned n, double *numbers)
{
	union lines lines;

	if (fragment->element == GT_PTX_ELEMENT_F64) {
		gt_ptx_read_wide_runs(fragment, warp, (unsigned char *)numbers, fragment->line, true);
		return;
	}
	gt_ptx_read_wide_runs(fragment, warp, lines.bytes, fragment->line, false);
	switch (fragment->element) {
		VALUES(F16, lines.halves[i])
		VALUES(BF16, lines.halves[i])
		VALUES(E4M3, lines.bytes[i])
		VALUES(E5M2, lines.bytes[i])
		VALUES(E2M3, lines.bytes[i])
		VALUES(E3M2, lines.bytes[i])
		VALUES(E2M1, lines.bytes[i / 2] >> i % 2 * 4)
		VALUES(E2M1_IN_BYTE, lines.bytes[i])
		VALUES(TF32, lines.words[i])
		VALUES(F32, lines.words[i])
		VALUES(S8, lines.bytes[i])
		VALUES(U8, lines.bytes[i])
		VALUES(S4, lines.bytes[i / 2] >> i % 2 * 4 & 15)
		VALUES(U4, lines.bytes[i / 2] >> i % 2 * 4 & 15)
		VALUES(S32, lines.words[i])
	default: break;
	}
}

/* And back. */
GT_INLINE void write_numbers(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, bool saturates, unsigned n,
			     const double *numbers)
{
	union lines lines;

	switch (fragment->element) {
	case GT_PTX_ELEMENT_F64:
		gt_ptx_write_wide_runs(fragment, warp, (const unsigned char *)numbers, fragment->line, true);
		return;
	case GT_PTX_ELEMENT_F16:
		for (unsigned i = 0; i < n; i++)
			lines.halves[i] = (uint16_t)gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_F16, saturates);
		break;
	case GT_PTX_ELEMENT_S32:
		for (unsigned i = 0; i < n; i++)
			lines.words[i] = gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_S32, saturates);
		break;
	default:
		for (unsigned i = 0; i < n; i++)
			lines.words[i] = gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_F32, saturates);
	}
	gt_ptx_write_wide_runs(fragment, warp, lines.bytes, fragment->line, false);
}

/* Multiplies the lines of A, or of B, by their scales. Elements of a line are `step` apart, and lines `next`. A sparse A has half of the elements.
 * False after a fault. */
static bool apply_scales(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, bool is_b, unsigned step, unsigned next, double *numbers)
{
	const struct gt_ptx_product *this = op->with.product;
	const struct gt_ptx_scales *scales = &this->scales;
	const uint32_t *words = gt_ptx_lanes(warp, scales->of[is_b].words);
	const unsigned byte = *(const uint16_t *)gt_ptx_lanes(warp, scales->of[is_b].byte);
	const unsigned thread = *(const uint16_t *)gt_ptx_lanes(warp, scales->of[is_b].thread);
	const unsigned depth = is_b ? this->b.rows : this->a.columns, lines = is_b ? this->shape.n : this->shape.m;
	const unsigned n = this->a.columns / scales->scaled; /* of a line */

	if (byte + n > sizeof *words || byte % n != 0 || thread >= (is_b ? 4U : 2U)) {
		gt_ptx_fault(warp, op, 0, "no scales of %c are at byte %u of thread %u", is_b ? 'B' : 'A', byte, thread);
		return false;
	}
	for (unsigned line = 0; line < lines; line++) {
		const uint32_t word = words[line % 8 * 4 + (is_b ? thread : 2 * thread + line / 8)] >> 8 * byte;
		for (unsigned i = 0; i < n; i++) {
			const double factor = gt_ptx_from_scale((uint8_t)(word >> 8 * i), scales->powers);
			for (unsigned k = i * (depth / n); k < (i + 1) * (depth / n); k++)
				numbers[line * next + k * step] *= factor;
		}
	}
	return true;
}

GT_INLINE const struct gt_ptx_op *product(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->shape.k;
	double a[ELEMENTS_MAX], b[ELEMENTS_MAX], d[ELEMENTS_MAX];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	read_numbers(&this->a, warp, rows * depth, a);
	read_numbers(&this->b, warp, depth * columns, b);
	if (this->scales.scaled && !(apply_scales(warp, op, false, 1, depth, a) && apply_scales(warp, op, true, 1, depth, b)))
		return NULL;
	read_numbers(&this->c, warp, rows * columns, d);
	if (this->sums.fraction > 0)
		gt_ptx_multiply_cut(&this->sums, rows, columns, depth, a, b, d);
	else
		this->multiply(rows, columns, depth, a, b, d);
	write_numbers(&this->d, warp, this->saturates, rows * columns, d);
	return op + 1;
}
GT_EVERY(product)

/* Of words of bits those that both have, or that differ, are counted. */
GT_INLINE const struct gt_ptx_op *count_bits(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->a.columns;
	union lines a, b, d;

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	gt_ptx_read_runs(&this->a, warp, a.bytes, this->a.line);
	gt_ptx_read_runs(&this->b, warp, b.bytes, this->b.line);
	gt_ptx_read_runs(&this->c, warp, d.bytes, this->c.line);
	for (unsigned i = 0; i < rows; i++)
		for (unsigned j = 0; j < columns; j++)
			for (unsigned k = 0; k < depth; k++) {
				const uint32_t x = a.words[i * depth + k], y = b.words[j * depth + k];
				d.words[i * columns + j] += (uint32_t)__builtin_popcount(this->differs ? x ^ y : x & y);
			}
	gt_ptx_write_runs(&this->d, warp, d.bytes, this->d.line);
	return op + 1;
}
GT_EVERY(count_bits)

/* The numbers of matrices of quads, one below the other; column by column if `turned`. */
GT_INLINE void read_quads(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, bool turned, double *numbers)
{
	const unsigned rows = fragment->rows / QUADS, columns = fragment->columns, all = rows * columns;
	uint64_t bits[QUAD_UNITS];

	gt_ptx_fragment_gather(fragment, warp, bits);
	for (unsigned i = 0; i < QUADS * all; i++) {
		const unsigned row = i % all / columns, column = i % columns;
		numbers[turned ? i / all * all + column * rows + row : i] = gt_ptx_number_of(fragment->element, bits[i]);
	}
}

GT_INLINE const struct gt_ptx_op *quads(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->shape.k;
	double a[QUAD_UNITS], b[QUAD_UNITS], d[QUAD_UNITS];
	uint64_t bits[QUAD_UNITS];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	read_quads(&this->a, warp, false, a);
	read_quads(&this->b, warp, true, b);
	read_quads(&this->c, warp, false, d);
	for (unsigned quad = 0; quad < QUADS; quad++)
		this->multiply(rows, columns, depth, a + quad * rows * depth, b + quad * depth * columns, d + quad * rows * columns);
	for (unsigned i = 0; i < QUADS * rows * columns; i++)
		bits[i] = gt_ptx_element_of(d[i], this->d.element, false);
	gt_ptx_fragment_scatter(&this->d, warp, bits);
	return op + 1;
}
GT_EVERY(quads)

gt_ptx_step *gt_ptx_product_step(const struct gt_ptx_product *product)
{
	static gt_ptx_step *const steps[] = GT_STEPS(product), *const counts[] = GT_STEPS(count_bits), *const of_quads[] = GT_STEPS(quads);

	return (product->shape.quads ? of_quads : product->a.element == GT_PTX_ELEMENT_B1 ? counts : steps)[gt_ptx_simd_variant()];
}

/* ---- mma.sp ---- */

/* mma.sp: of each group of successive elements of a row of A half are stored, and metadata say which: 4 bits a group.
 * Groups are of 4 elements, of 2 (tf32), and of 8 (4 bits), where the elements are kept in pairs. The layouts are those of the
 * PTX ISA, "Sparsity metadata". */

#define ROWS GT_PTX_SPARSE_ROWS
#define COLUMNS 8
#define SPARSE_DEPTH_MAX 128

unsigned gt_ptx_metadata_lanes(struct gt_ptx_shape shape, enum gt_ptx_element element)
{
	return shape.k / gt_ptx_group_of(element) / 4;
}

/* The metadata of a group of a row. A word has 4 groups of a row and of the one 8 below it; or, of elements of at most 8 bits,
 * 8 groups of a row, and the next lane's those of the one 8 below. */
static unsigned metadata(const uint32_t *lanes, unsigned first, bool narrow, unsigned row, unsigned group)
{
	const unsigned low = row >= ROWS / 2, lane = row % 8 * 4 + first + (narrow ? group / 8 * 2 + low : group / 4);

	return lanes[lane % GT_WARP_SIZE] >> (narrow ? group % 8 : low * 4 + group % 4) * 4 & 0xf;
}

void gt_ptx_read_metadata(struct gt_ptx_sparsity *sparsity, const uint32_t *lanes, unsigned first)
{
	const bool narrow = gt_ptx_element_bits(sparsity->element) <= 8;

	for (unsigned row = 0; row < ROWS; row++)
		for (unsigned group = 0; group < GT_PTX_SPARSE_GROUPS; group++)
			sparsity->bits[row][group] = (uint8_t)metadata(lanes, first, narrow, row, group);
}

/* The column of the e-th element that a group keeps, within the group. */
static unsigned column_of(unsigned bits, unsigned width, unsigned e)
{
	switch (width) {
	case 2: return (bits & 3) >> 1; /* 0100 or 1110: of the halves of two elements */
	case 4: return bits >> 2 * e & 3;
	default: return (bits >> 2 * (e / 2) & 3) * 2 + e % 2;
	}
}

/* The same by such sums, of the rows of B that each row of A meets. */
static void multiply_sparse_cut(const struct gt_ptx_sparsity *sparsity, const struct gt_ptx_sums *sums, unsigned stored, unsigned columns,
				const double *a, const double *b, double *d)
{
	const unsigned width = gt_ptx_group_of(sparsity->element), kept = width / 2;
	const struct summer *summer = chosen_summer();
	int32_t of_a[DEPTH_MAX], of_b[DEPTH_MAX * BLOCK];
	double met[DEPTH_MAX * BLOCK];

	double listed[DEPTH_MAX], part[BLOCK];
	const unsigned parts = parts_of(sums, stored), n = stored / parts;

	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned j = 0; j < columns; j += BLOCK) {
			double *const to = sums->twice ? part : d + i * columns + j;
			memset(part, 0, sizeof part);
			for (unsigned first = 0; first < parts; first++) {
				for (unsigned k = 0; k < n; k++) {
					const unsigned e = sums->twice ? k / 2 * 4 + k % 2 + 2 * first : first * n + k, group = e / kept;
					const double *row = b + (group * width + column_of(sparsity->bits[i][group], width, e % kept)) * columns + j;
					listed[k] = a[i * stored + e];
					of_a[k] = exponent_of(listed[k], sums->least[0]);
					memcpy(met + k * BLOCK, row, BLOCK * sizeof *met);
				}
				summer->exponents(met, n * BLOCK, sums->least[1], of_b);
				summer->row(sums, n, listed, of_a, met, of_b, to);
				if (sums->halves && parts > 1 && !sums->twice)
					round_to_halves(BLOCK, to);
			}
			for (unsigned column = 0; column < BLOCK && sums->twice; column++)
				d[i * columns + j + column] += part[column];
		}
}

void gt_ptx_multiply_sparse(const struct gt_ptx_sparsity *sparsity, const struct gt_ptx_sums *sums, unsigned stored, unsigned columns,
			    const double *a, const double *b, double *d)
{
	const unsigned width = gt_ptx_group_of(sparsity->element), kept = width / 2;

	if (sums->fraction > 0) {
		multiply_sparse_cut(sparsity, sums, stored, columns, a, b, d);
		return;
	}

	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned k = 0; k < stored; k++) {
			const unsigned group = k / kept;
			const unsigned row = group * width + column_of(sparsity->bits[i][group], width, k % kept);
			for (unsigned j = 0; j < columns; j++) /* the products are exact */
				d[i * columns + j] += a[i * stored + k] * b[row * columns + j];
		}
}

static void gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, double *numbers)
{
	uint64_t bits[SPARSE_DEPTH_MAX * COLUMNS];

	gt_ptx_fragment_gather(fragment, warp, bits);
	for (unsigned i = 0; i < (unsigned)fragment->rows * fragment->columns; i++)
		numbers[i] = gt_ptx_number_of(fragment->element, bits[i]);
}

const struct gt_ptx_op *gt_ptx_sparse_product(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	double a[ROWS * SPARSE_DEPTH_MAX / 2], b[SPARSE_DEPTH_MAX * COLUMNS], d[ROWS * COLUMNS];
	uint64_t bits[ROWS * COLUMNS];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	gather(&this->a, warp, a);
	gather(&this->b, warp, b);
	if (this->scales.scaled &&
	    !(apply_scales(warp, op, false, 1, this->a.columns, a) && apply_scales(warp, op, true, COLUMNS, 1, b)))
		return NULL;
	gather(&this->c, warp, d);
	struct gt_ptx_sparsity sparsity = {.element = this->a.element};
	gt_ptx_read_metadata(&sparsity, gt_ptx_lanes(warp, op->a), op->choice);
	gt_ptx_multiply_sparse(&sparsity, &this->sums, this->a.columns, COLUMNS, a, b, d);
	for (unsigned i = 0; i < ROWS * COLUMNS; i++)
		bits[i] = gt_ptx_element_of(d[i], this->d.element, this->saturates);
	gt_ptx_fragment_scatter(&this->d, warp, bits);
	return op + 1;
}
