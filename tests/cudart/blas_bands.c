/* SPDX-License-Identifier: MIT */
/* Calls of cuBLAS for matrices of which a band is stored, or a triangle without gaps, for rotations, and for vectors of types that the
 * call names, compared with loops on the host. All values are small whole numbers, so that every result is exact. Built without CUDA. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "checks.h"

int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
int cublasCreate_v2(void **handle), cublasSetPointerMode_v2(void *handle, int mode);
/* Those of doubles and of double complex numbers have the same parameters. */
#define BOTH(REAL, COMPLEX, ...) int cublas##REAL(__VA_ARGS__), cublas##COMPLEX(__VA_ARGS__);
BOTH(Dgbmv_v2, Zgbmv_v2, void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int)
BOTH(Dsbmv_v2, Zhbmv_v2, void *, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int)
BOTH(Dspmv_v2, Zhpmv_v2, void *, int, int, const void *, const void *, const void *, int, const void *, void *, int)
BOTH(Dspr_v2, Zhpr_v2, void *, int, int, const double *, const void *, int, void *)
BOTH(Dspr2_v2, Zhpr2_v2, void *, int, int, const void *, const void *, int, const void *, int, void *)
BOTH(Dsyr2_v2, Zher2_v2, void *, int, int, const void *, const void *, int, const void *, int, void *, int)
BOTH(Dtbmv_v2, Ztbmv_v2, void *, int, int, int, int, int, const void *, int, void *, int)
BOTH(Dtbsv_v2, Ztbsv_v2, void *, int, int, int, int, int, const void *, int, void *, int)
BOTH(Dtpmv_v2, Ztpmv_v2, void *, int, int, int, int, const void *, void *, int)
BOTH(Dtpsv_v2, Ztpsv_v2, void *, int, int, int, int, const void *, void *, int)
int cublasSrotg_v2(void *, float *, float *, float *, float *), cublasDrotm_v2_64(void *, int64_t, double *, int64_t, double *, int64_t, const double *);
int cublasDrotmg_v2(void *, double *, double *, double *, const double *, double *);
int cublasDotEx(void *, int, const void *, int, int, const void *, int, int, void *, int, int);
int cublasDotcEx(void *, int, const void *, int, int, const void *, int, int, void *, int, int);
int cublasNrm2Ex(void *, int, const void *, int, int, void *, int, int), cublasAsumEx(void *, int, const void *, int, int, void *, int, int);
int cublasAxpyEx(void *, int, const void *, int, const void *, int, int, void *, int, int, int);
int cublasScalEx_64(void *, int64_t, const void *, int, void *, int, int64_t, int), cublasCopyEx(void *, int, const void *, int, int, void *, int, int);

enum { N = 5, K = 2, LD = N + 1, LOWER = 0, PACKED = N * (N + 1) / 2 };
enum { F32 = 0, F64 = 1, F16 = 2, C32 = 4, BF16 = 14 };
typedef double complex number;

static number *vector(int n, int from, int is_complex)
{
	void *at;

	MUST(cudaMallocManaged(&at, (size_t)n * sizeof(number), 1));
	for (int i = 0; i < n; i++)
		((number *)at)[i] = (i * 7 + from * 5) % 11 - 5 + (is_complex ? I * ((i * 3 + from) % 7 - 3) : 0);
	return at;
}

/* As doubles lie, in place. */
static void *as(number *x, int n, int is_complex)
{
	for (int i = 0; !is_complex && i < n; i++)
		((double *)x)[i] = creal(x[i]);
	return x;
}

static number at(const void *x, int i, int is_complex)
{
	return is_complex ? ((const number *)x)[i] : ((const double *)x)[i];
}

static number conjugate(number x, int is_complex)
{
	return is_complex ? conj(x) : x;
}

/* Where element (i, j) of a triangle lies, in a matrix that is packed, or of which K diagonals beside the main one are stored. */
static int packed_at(int uplo, int i, int j)
{
	return uplo == LOWER ? i + (2 * N - j - 1) * j / 2 : i + j * (j + 1) / 2;
}
static int band_at(int uplo, int i, int j)
{
	return (uplo == LOWER ? i - j : K + i - j) + j * LD;
}

/* Element (i, j) of the whole matrix, of which the triangle is stored. */
static number whole(const void *a, int uplo, int i, int j, int band, int is_complex)
{
	const int stored = uplo == LOWER ? i >= j : i <= j, r = stored ? i : j, c = stored ? j : i;

	if (band && abs(i - j) > K)
		return 0;
	const number value = at(a, band ? band_at(uplo, r, c) : packed_at(uplo, r, c), is_complex);
	return i == j ? creal(value) : stored ? value : conjugate(value, is_complex);
}

static void half_times_vector(void *handle, int uplo, int band, int is_complex)
{
	const number alpha = is_complex ? 2 - I : 2, beta = is_complex ? 1 + I : 3;
	const double real[2] = {2, 3};
	void *a = as(vector(N * LD, 1, is_complex), N * LD, is_complex), *x = as(vector(N, 2, is_complex), N, is_complex),
	     *y = as(vector(2 * N, 3, is_complex), 2 * N, is_complex);
	const void *by = is_complex ? (const void *)&alpha : &real[0], *old = is_complex ? (const void *)&beta : &real[1];
	number expected[N];

	for (int i = 0; i < N; i++) {
		expected[i] = beta * at(y, 2 * i, is_complex);
		for (int j = 0; j < N; j++)
			expected[i] += alpha * whole(a, uplo, i, j, band, is_complex) * at(x, j, is_complex);
	}
	if (band)
		MUST((is_complex ? cublasZhbmv_v2 : cublasDsbmv_v2)(handle, uplo, N, K, by, a, LD, x, 1, old, y, 2));
	else
		MUST((is_complex ? cublasZhpmv_v2 : cublasDspmv_v2)(handle, uplo, N, by, a, x, 1, old, y, 2));
	for (int i = 0; i < N; i++)
		check(at(y, 2 * i, is_complex) == expected[i], band ? "sbmv or hbmv" : "spmv or hpmv");
}

static void updates(void *handle, int uplo, int is_complex)
{
	const number alpha = is_complex ? 2 - I : 2;
	const double real = 2;
	const void *by = is_complex ? (const void *)&alpha : &real;
	void *x = as(vector(N, 2, is_complex), N, is_complex), *y = as(vector(N, 3, is_complex), N, is_complex);

	for (int kind = 0; kind < 3; kind++) {
		void *a = as(vector(N * LD, 1, is_complex), N * LD, is_complex);
		number before[N * LD];
		for (int i = 0; i < N * LD; i++)
			before[i] = at(a, i, is_complex);
		if (kind == 0)
			MUST((is_complex ? cublasZhpr_v2 : cublasDspr_v2)(handle, uplo, N, &real, x, 1, a));
		else if (kind == 1)
			MUST((is_complex ? cublasZhpr2_v2 : cublasDspr2_v2)(handle, uplo, N, by, x, 1, y, 1, a));
		else
			MUST((is_complex ? cublasZher2_v2 : cublasDsyr2_v2)(handle, uplo, N, by, x, 1, y, 1, a, LD));
		for (int j = 0; j < N; j++)
			for (int i = uplo == LOWER ? j : 0; i < (uplo == LOWER ? N : j + 1); i++) {
				const int place = kind == 2 ? i + j * LD : packed_at(uplo, i, j);
				const number xi = at(x, i, is_complex), xj = conjugate(at(x, j, is_complex), is_complex);
				const number yi = at(y, i, is_complex), yj = conjugate(at(y, j, is_complex), is_complex);
				const number more = kind == 0 ? 2 * xi * xj : alpha * xi * yj + conjugate(alpha, is_complex) * yi * xj;
				check(at(a, place, is_complex) == (i == j ? creal(before[place]) : before[place]) + more, "spr, spr2 or syr2");
			}
	}
}

/* A product with a triangle of ones on the diagonal, and the solution that undoes it. */
static void triangles(void *handle, int uplo, int operation, int band, int is_complex)
{
	void *a = as(vector(N * LD, 1, is_complex), N * LD, is_complex), *x = as(vector(N, 2, is_complex), N, is_complex);
	number before[N], expected[N];

	for (int i = 0; i < N; i++)
		before[i] = at(x, i, is_complex);
	for (int i = 0; i < N; i++) {
		expected[i] = before[i];
		for (int j = 0; j < N; j++) {
			const int r = operation ? j : i, c = operation ? i : j;
			if (r == c || (uplo == LOWER) != (r > c) || (band && abs(r - c) > K))
				continue;
			const number value = at(a, band ? band_at(uplo, r, c) : packed_at(uplo, r, c), is_complex);
			expected[i] += (operation == 2 ? conjugate(value, is_complex) : value) * before[j];
		}
	}
	if (band)
		MUST((is_complex ? cublasZtbmv_v2 : cublasDtbmv_v2)(handle, uplo, operation, 1, N, K, a, LD, x, 1));
	else
		MUST((is_complex ? cublasZtpmv_v2 : cublasDtpmv_v2)(handle, uplo, operation, 1, N, a, x, 1));
	for (int i = 0; i < N; i++)
		check(at(x, i, is_complex) == expected[i], "tbmv or tpmv");
	if (band)
		MUST((is_complex ? cublasZtbsv_v2 : cublasDtbsv_v2)(handle, uplo, operation, 1, N, K, a, LD, x, 1));
	else
		MUST((is_complex ? cublasZtpsv_v2 : cublasDtpsv_v2)(handle, uplo, operation, 1, N, a, x, 1));
	for (int i = 0; i < N; i++)
		check(at(x, i, is_complex) == before[i], "tbsv or tpsv");
}

/* A band of one diagonal below and two above, of 4 by 5. */
static void general_band(void *handle, int operation, int is_complex)
{
	enum { M = 4, BELOW = 1, ABOVE = 2, STORED = BELOW + ABOVE + 1 };
	const number one = 1, two = 2;
	const double real[2] = {1, 2};
	void *a = as(vector(N * STORED, 1, is_complex), N * STORED, is_complex), *x = as(vector(N, 2, is_complex), N, is_complex),
	     *y = as(vector(N, 3, is_complex), N, is_complex);
	number expected[N];

	for (int i = 0; i < (operation ? N : M); i++) {
		expected[i] = 2 * at(y, i, is_complex);
		for (int j = 0; j < (operation ? M : N); j++) {
			const int r = operation ? j : i, c = operation ? i : j;
			const number value = r - c > BELOW || c - r > ABOVE ? 0 : at(a, ABOVE + r - c + c * STORED, is_complex);
			expected[i] += (operation == 2 ? conjugate(value, is_complex) : value) * at(x, j, is_complex);
		}
	}
	MUST((is_complex ? cublasZgbmv_v2 : cublasDgbmv_v2)(handle, operation, M, N, BELOW, ABOVE, is_complex ? (const void *)&one : &real[0], a, STORED, x, 1,
							    is_complex ? (const void *)&two : &real[1], y, 1));
	for (int i = 0; i < (operation ? N : M); i++)
		check(at(y, i, is_complex) == expected[i], "gbmv");
}

static void rotations(void *handle)
{
	float a = 3, b = 4, c, s;
	double d1 = 2, d2 = 1, x1 = 3, y1 = 4, param[5], h11, h12, h21, h22;
	double *x = as(vector(N, 1, 0), N, 0), *y = as(vector(N, 2, 0), N, 0);
	const double full[5] = {-1, 2, 3, 4, 5}, x0 = x[N - 1], y0 = y[N - 1];

	MUST(cublasSrotg_v2(handle, &a, &b, &c, &s));
	check(fabsf(a - 5) < 1e-6f && fabsf(c - .6f) < 1e-6f && fabsf(s - .8f) < 1e-6f, "rotg");
	MUST(cublasDrotm_v2_64(handle, N, x, 1, y, 1, full)); /* columns: 2 3; 4 5 */
	check(x[N - 1] == 2 * x0 + 4 * y0 && y[N - 1] == 3 * x0 + 5 * y0, "rotm");
	MUST(cublasDrotmg_v2(handle, &d1, &d2, &x1, &y1, param));
	h11 = param[0] == 1 ? param[1] : param[0] == 0 ? 1 : param[1], h22 = param[0] == 1 ? param[4] : param[0] == 0 ? 1 : param[4];
	h12 = param[0] == 1 ? 1 : param[3], h21 = param[0] == 1 ? -1 : param[2];
	check(fabs(h21 * 3 + h22 * 4) < 1e-12 && fabs(h11 * 3 + h12 * 4 - x1) < 1e-12, "rotmg");
}

static void named_types(void *handle)
{
	const uint16_t halves[4] = {0x3c00, 0x4000, 0x4200, 0xc400}; /* 1 2 3 -4 of f16 */
	const float complex pair[2] = {1 + 2 * I, 3 - I}, other[2] = {2 - I, 1 + I};
	void *h, *to, *parts;
	float result = 0, two = 2;
	float complex dot;
	double length;

	MUST(cudaMallocManaged(&h, sizeof halves, 1));
	MUST(cudaMallocManaged(&to, sizeof halves, 1));
	MUST(cudaMallocManaged(&parts, sizeof pair + sizeof other, 1));
	memcpy(h, halves, sizeof halves);
	memcpy(parts, pair, sizeof pair);
	memcpy((char *)parts + sizeof pair, other, sizeof other);
	MUST(cublasDotEx(handle, 4, h, F16, 1, h, F16, -1, &result, F32, F32));
	check(result == 2 * (1 * -4 + 2 * 3), "DotEx");
	MUST(cublasDotcEx(handle, 2, parts, C32, 1, (float complex *)parts + 2, C32, 1, &dot, C32, C32));
	check(dot == conjf(pair[0]) * other[0] + conjf(pair[1]) * other[1], "DotcEx");
	MUST(cublasNrm2Ex(handle, 2, (uint16_t *)h + 2, F16, 1, &length, F64, F64));
	check(length == 5, "Nrm2Ex");
	MUST(cublasAsumEx(handle, 2, parts, C32, 1, &result, F32, F32));
	check(result == 7, "AsumEx");
	MUST(cublasCopyEx(handle, 4, h, F16, 1, to, F16, 1));
	MUST(cublasAxpyEx(handle, 2, &two, F32, h, F16, 2, to, F16, 1, F32)); /* 1 + 2, 2 + 6, 3, -4 */
	MUST(cublasScalEx_64(handle, 2, &two, F32, (uint16_t *)to + 2, F16, 1, F32));
	check(memcmp(to, (const uint16_t[4]){0x4200, 0x4800, 0x4600, 0xc800}, sizeof halves) == 0, "CopyEx, AxpyEx or ScalEx");
	check(cublasScalEx_64(handle, 2, &two, F32, to, 3, 1, F32) == 15, "ScalEx of integers is refused");
}

int main(void)
{
	void *handle;

	MUST(cublasCreate_v2(&handle));
	for (int is_complex = 0; is_complex < 2; is_complex++)
		for (int uplo = 0; uplo < 2; uplo++) {
			updates(handle, uplo, is_complex);
			for (int band = 0; band < 2; band++) {
				half_times_vector(handle, uplo, band, is_complex);
				for (int operation = 0; operation < 3; operation++)
					triangles(handle, uplo, operation, band, is_complex);
			}
			for (int operation = 0; uplo == 0 && operation < 3; operation++)
				general_band(handle, operation, is_complex);
		}
	rotations(handle);
	named_types(handle);
	printf(failures ? "%d differ\n" : "all as expected\n", failures);
	return failures != 0;
}
