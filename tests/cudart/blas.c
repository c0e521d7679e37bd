/* SPDX-License-Identifier: MIT */
/* Calls of cuBLAS, compared with loops on the host. All values are small whole numbers, so that every result is exact. Built
 * without CUDA: blas PART, of: results, refused, stray, far, beyond, captured. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

int cudaMalloc(void **pointer, size_t bytes);
int cudaEventCreate(void **event), cudaEventRecord(void *event, void *stream), cudaEventElapsedTime(float *milliseconds, void *from, void *to);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);

int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetPointerMode_v2(void *handle, int mode);
int cublasSetStream_v2(void *handle, void *stream);
const char *cublasGetStatusName(int status);
int cublasSetMatrix(int rows, int columns, int bytes, const void *from, int from_leading, void *to, int to_leading);
int cublasGetMatrix(int rows, int columns, int bytes, const void *from, int from_leading, void *to, int to_leading);
int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *,
		   int);
int cublasDgemmStridedBatched_64(void *, int, int, int64_t, int64_t, int64_t, const double *, const double *, int64_t, long long,
				 const double *, int64_t, long long, const double *, double *, int64_t, long long, int64_t);
int cublasSgemmBatched(void *, int, int, int, int, int, const float *, const void *const *, int, const void *const *, int,
		       const float *, const void *const *, int, int);
int cublasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *,
		 void *, int, int, int, int);
int cublasSgemv_v2(void *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
int cublasSsymv_v2(void *, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
int cublasSger_v2(void *, int, int, const float *, const float *, int, const float *, int, float *, int);
int cublasIsamax_v2(void *, int, const float *, int, int *);
int cublasIdamin_v2_64(void *, int64_t, const double *, int64_t, int64_t *);
int cublasSasum_v2(void *, int, const float *, int, float *);
int cublasDnrm2_v2(void *, int, const double *, int, double *);
int cublasSdot_v2(void *, int, const float *, int, const float *, int, float *);
int cublasSaxpy_v2(void *, int, const float *, const float *, int, float *, int);
int cublasScopy_v2(void *, int, const float *, int, float *, int);
int cublasSswap_v2(void *, int, float *, int, float *, int);
int cublasSrot_v2(void *, int, float *, int, float *, int, const float *, const float *);
int cublasDscal_v2(void *, int, const double *, double *, int);
int cublasDsymm_v2(void *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int);
int cublasDtrmm_v2(void *, int, int, int, int, int, int, const double *, const double *, int, const double *, int, double *, int);
int cublasDtrsm_v2(void *, int, int, int, int, int, int, const double *, const double *, int, double *, int);
int cublasStrsmBatched(void *, int, int, int, int, int, int, const float *, const float *const *, int, float *const *, int, int);
int cublasDsyrk_v2(void *, int, int, int, int, const double *, const double *, int, const double *, double *, int);
int cublasDsyr2k_v2(void *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int);
int cublasDsyrkx(void *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int);
int cublasStrmv_v2(void *, int, int, int, int, const float *, int, float *, int);
int cublasStrsv_v2(void *, int, int, int, int, const float *, int, float *, int);
int cublasSsyr_v2(void *, int, int, const float *, const float *, int, float *, int);
int cublasSgeam(void *, int, int, int, int, const float *, const float *, int, const float *, const float *, int, float *, int);
int cublasSdgmm(void *, int, int, int, const float *, int, const float *, int, float *, int);
int cublasZgemm_v2(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasCgemmStridedBatched(void *, int, int, int, int, int, const void *, const void *, int, long long, const void *, int,
			      long long, const void *, void *, int, long long, int);
int cublasCgemmBatched(void *, int, int, int, int, int, const void *, const void *const *, int, const void *const *, int,
		       const void *, const void *const *, int, int);
int cublasCgemv_v2(void *, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasCgerc_v2(void *, int, int, const void *, const void *, int, const void *, int, void *, int);
int cublasCaxpy_v2(void *, int, const void *, const void *, int, void *, int), cublasCscal_v2(void *, int, const void *, void *, int);
int cublasCsscal_v2(void *, int, const float *, void *, int), cublasCcopy_v2(void *, int, const void *, int, void *, int);
int cublasCdotu_v2(void *, int, const void *, int, const void *, int, void *);
int cublasCdotc_v2(void *, int, const void *, int, const void *, int, void *);
int cublasDznrm2_v2(void *, int, const void *, int, double *), cublasScasum_v2(void *, int, const void *, int, float *);
int cublasIcamax_v2(void *, int, const void *, int, int *), cublasIcamin_v2(void *, int, const void *, int, int *);
int cublasCswap_v2(void *, int, void *, int, void *, int), cublasCdgmm(void *, int, int, int, const void *, int, const void *, int, void *, int);
int cublasChemv_v2(void *, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasCher_v2(void *, int, int, const float *, const void *, int, void *, int);
int cublasCtrmv_v2(void *, int, int, int, int, const void *, int, void *, int), cublasCtrsv_v2(void *, int, int, int, int, const void *, int, void *, int);
int cublasCtrsmBatched(void *, int, int, int, int, int, int, const void *, const void *const *, int, void *const *, int, int);
int cublasGemmBatchedEx(void *, int, int, int, int, int, const void *, const void *const *, int, int, const void *const *, int, int, const void *,
			const void *const *, int, int, int, int, int);
int cublasZtrsm_v2(void *, int, int, int, int, int, int, const void *, const void *, int, void *, int);
int cublasZsyrk_v2(void *, int, int, int, int, const void *, const void *, int, const void *, void *, int);
int cublasZherk_v2(void *, int, int, int, int, const double *, const void *, int, const double *, void *, int);
int cublasZsymm_v2(void *, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasZhemm_v2(void *, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasZtrmm_v2(void *, int, int, int, int, int, int, const void *, const void *, int, const void *, int, void *, int);
int cublasZsyr2k_v2(void *, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasZher2k_v2(void *, int, int, int, int, const void *, const void *, int, const void *, int, const double *, void *, int);
int cublasZsyrkx(void *, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasZherkx(void *, int, int, int, int, const void *, const void *, int, const void *, int, const double *, void *, int);
int cublasCgemmEx(void);
int cublasInit(void), cublasGetError(void);
void cublasSgemm(char, char, int, int, int, float, const float *, int, const float *, int, float, float *, int);
float cublasSdot(int, const float *, int, const float *, int);
int cublasIsamax(int, const float *, int);

enum { N, T };
#define COUNT(ARRAY) ((int)(sizeof(ARRAY) / sizeof(ARRAY)[0]))

static void *handle;

static void *on_device(const void *from, size_t bytes)
{
	void *to;

	MUST(cudaMalloc(&to, bytes));
	MUST(cudaMemcpy(to, from, bytes, 1));
	return to;
}

/* Whether n numbers on the device are those expected. */
static void compare(const void *device, const void *expected, size_t bytes, const char *what)
{
	void *got = malloc(bytes);

	MUST(cudaMemcpy(got, device, bytes, 2));
	check(memcmp(got, expected, bytes) == 0, what);
	free(got);
}

static float whole(int i, int from)
{
	return (float)((i * 7 + from * 5) % 11 - 5);
}

/* Every transposition, with room between columns, and a C that is not read. */
/* A sum of ones that is added to what each of them would be lost beside. */
static void gemm_beside_large(void)
{
	const float ones[4] = {1, 1, 1, 1}, large = 0x1p25F, half = 0.5F, two = 2;
	const double dones[4] = {1, 1, 1, 1}, dlarge = 0x1p54, done = 1;
	const double complex zlarge = 0x1p54 * I, zone = I;
	float *da = on_device(ones, sizeof ones), *dc = on_device(&large, sizeof large);
	double *dda = on_device(dones, sizeof dones), *ddc = on_device(&dlarge, sizeof dlarge);
	double complex zones[4] = {1, 1, 1, 1}, *za = on_device(zones, sizeof zones), *zc = on_device(&zlarge, sizeof zlarge);

	MUST(cublasSgemm_v2(handle, T, N, 1, 1, 4, &two, da, 4, da, 4, &half, dc, 1));
	compare(dc, &(const float){0x1p24F + 8}, sizeof large, "gemm beside a large number");
	MUST(cublasDgemmStridedBatched_64(handle, T, N, 1, 1, 4, &done, dda, 4, 4, dda, 4, 4, &done, ddc, 1, 1, 1));
	compare(ddc, &(const double){0x1p54 + 4}, sizeof dlarge, "gemm of doubles beside a large number");
	MUST(cublasZgemm_v2(handle, T, N, 1, 1, 4, &zone, za, 4, za, 4, &(const double complex){1}, zc, 1));
	compare(zc, &(const double complex){(0x1p54 + 4) * I}, sizeof zlarge, "complex gemm beside a large number");
}

static void gemm(void)
{
	enum { M = 5, NN = 4, K = 3, LD = 7 };
	static const float factors[2][2] = {{2, -1}, {3, 0}};
	float a[LD * 8], b[LD * 8], c[LD * NN];

	for (int form = 0; form < 8; form++) {
		int ta = form & 1, tb = form >> 1 & 1;
		float alpha = factors[form >> 2][0], beta = factors[form >> 2][1];
		for (int i = 0; i < COUNT(a); i++) {
			a[i] = whole(i, 1);
			b[i] = whole(i, 2);
		}
		for (int i = 0; i < COUNT(c); i++)
			c[i] = beta == 0 ? NAN : whole(i, 3);
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		MUST(cublasSgemm_v2(handle, ta ? T : N, tb ? T : N, M, NN, K, &alpha, da, LD, db, LD, &beta, dc, LD));
		for (int i = 0; i < M; i++)
			for (int j = 0; j < NN; j++) {
				float sum = 0;
				for (int p = 0; p < K; p++)
					sum += (ta ? a[i * LD + p] : a[p * LD + i]) * (tb ? b[p * LD + j] : b[j * LD + p]);
				c[j * LD + i] = alpha * sum + (beta == 0 ? 0 : beta * c[j * LD + i]);
			}
		compare(dc, c, sizeof c, "gemm");
	}
}

static void batches(void)
{
	enum { M = 2, BATCHES = 3 };
	double a[4 * BATCHES], b[4 * BATCHES], c[4 * BATCHES] = {0}, one = 1, none = 0;
	float fa[4 * BATCHES], fb[4 * BATCHES], fc[4 * BATCHES] = {0}, fone = 1, fnone = 0;

	for (int i = 0; i < COUNT(a); i++) {
		a[i] = (double)(fa[i] = whole(i, 4));
		b[i] = (double)(fb[i] = whole(i, 5));
	}
	void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
	MUST(cublasDgemmStridedBatched_64(handle, N, N, M, M, M, &one, da, M, 4, db, M, 4, &none, dc, M, 4, BATCHES));
	float *list[3] = {on_device(fa, sizeof fa), on_device(fb, sizeof fb), on_device(fc, sizeof fc)};
	const void *addresses[3][BATCHES];
	for (int o = 0; o < 3; o++)
		for (int i = 0; i < BATCHES; i++)
			addresses[o][i] = list[o] + 4 * (BATCHES - 1 - i);
	void *lists = on_device(addresses, sizeof addresses);
	const void *const *rows = lists;
	MUST(cublasSgemmBatched(handle, N, N, M, M, M, &fone, rows, M, rows + BATCHES, M, &fnone, rows + 2 * BATCHES, M, BATCHES));
	for (int n = 0; n < BATCHES; n++)
		for (int i = 0; i < M; i++)
			for (int j = 0; j < M; j++)
				for (int p = 0; p < M; p++)
					c[4 * n + 2 * j + i] += a[4 * n + 2 * p + i] * b[4 * n + 2 * j + p];
	for (int i = 0; i < COUNT(c); i++)
		fc[i] = (float)c[i];
	compare(dc, c, sizeof c, "strided batches");
	compare(list[2], fc, sizeof fc, "batches by address");
}

/* Bytes to 32-bit integers; f16 and bf16 to floats, of numbers whose patterns are known: 1, 2, -3. */
static void types(void)
{
	enum { I8 = 3, I32 = 10, F16 = 2, BF16 = 14, F32 = 0, COMPUTE_32F = 68, COMPUTE_32I = 72 };
	const signed char a[3] = {100, -100, 127}, b[3] = {127, 100, -128};
	const uint16_t half[3] = {0x3c00, 0x4000, 0xc200}, brain[3] = {0x3f80, 0x4000, 0xc040};
	const int one = 1, none = 0, product = 100 * 127 - 100 * 100 - 127 * 128;
	const float fone = 1, fnone = 0, squares = 14;
	int zero = 0;
	void *c = on_device(&zero, sizeof zero);

	MUST(cublasGemmEx(handle, T, N, 1, 1, 3, &one, on_device(a, sizeof a), I8, 3, on_device(b, sizeof b), I8, 3, &none, c, I32,
			  1, COMPUTE_32I, -1));
	compare(c, &product, sizeof product, "bytes");
	void *h = on_device(half, sizeof half), *g = on_device(brain, sizeof brain);
	MUST(cublasGemmEx(handle, T, N, 1, 1, 3, &fone, h, F16, 3, h, F16, 3, &fnone, c, F32, 1, COMPUTE_32F, -1));
	compare(c, &squares, sizeof squares, "f16");
	MUST(cublasGemmEx(handle, T, N, 1, 1, 3, &fone, g, BF16, 3, g, BF16, 3, &fnone, c, F32, 1, COMPUTE_32F, -1));
	compare(c, &squares, sizeof squares, "bf16");
	const uint16_t brain_14 = 0x4160;
	MUST(cublasGemmEx(handle, T, N, 1, 1, 3, &fone, g, BF16, 3, g, BF16, 3, &fnone, c, BF16, 1, COMPUTE_32F, -1));
	compare(c, &brain_14, sizeof brain_14, "to bf16");
}

/* y = 2 op(A) x + y, x from its end; the symmetric one reads one triangle; A + x y^T. */
static void matrix_and_vectors(void)
{
	const float a[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, -1, 2}, two = 2, one = 1;
	float y[3] = {1, 1, 1};
	void *da = on_device(a, sizeof a), *dx = on_device(x, sizeof x), *dy = on_device(y, sizeof y);

	/* A = [1 3 5; 2 4 6]; x backwards is 2 -1 1 */
	MUST(cublasSgemv_v2(handle, N, 2, 3, &two, da, 2, dx, -1, &one, dy, 1));
	compare(dy, (const float[3]){2 * (2 - 3 + 5) + 1, 2 * (4 - 4 + 6) + 1, 1}, sizeof y, "gemv");
	MUST(cudaMemcpy(dy, y, sizeof y, 1));
	MUST(cublasSgemv_v2(handle, T, 2, 3, &two, da, 2, dx, 2, &one, dy, 1)); /* x: 1 2 */
	compare(dy, (const float[3]){2 * (1 + 4) + 1, 2 * (3 + 8) + 1, 2 * (5 + 12) + 1}, sizeof y, "gemv, transposed");
	/* The lower triangle of [1 .; 2 4] read as [1 2; 2 4]. */
	MUST(cudaMemcpy(dy, y, sizeof y, 1));
	MUST(cublasSsymv_v2(handle, 0, 2, &two, da, 2, dx, 1, &one, dy, 1)); /* x: 1 -1; A: 1 3; 2 4 */
	compare(dy, (const float[3]){2 * (1 - 2) + 1, 2 * (2 - 4) + 1, 1}, sizeof y, "symv");
	MUST(cublasSger_v2(handle, 2, 3, &one, dx, 1, dx, 1, da, 2));
	compare(da, (const float[6]){2, 1, 2, 5, 7, 4}, sizeof a, "ger");
}

/* A sum with a transpose, a transpose alone, and rows and columns scaled. */
static void elementwise(void)
{
	const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {10, 20, 30, 40, 50, 60}, two = 2, one = 1, none = 0;
	float c[6] = {0};
	void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);

	/* A = [1 3 5; 2 4 6], B^T = [10 20 30; 40 50 60] */
	MUST(cublasSgeam(handle, N, T, 2, 3, &two, da, 2, &one, db, 3, dc, 2));
	compare(dc, (const float[6]){12, 44, 26, 58, 40, 72}, sizeof c, "geam");
	MUST(cublasSgeam(handle, T, N, 3, 2, &one, da, 2, &none, NULL, 3, dc, 3));
	compare(dc, (const float[6]){1, 3, 5, 2, 4, 6}, sizeof c, "geam, one matrix");
	MUST(cublasSdgmm(handle, 0, 2, 3, da, 2, db, 2, dc, 2)); /* 10, 30 */
	compare(dc, (const float[6]){10, 60, 30, 120, 50, 180}, sizeof c, "dgmm, rows");
	MUST(cublasSdgmm(handle, 1, 2, 3, da, 2, db, 1, dc, 2));
	compare(dc, (const float[6]){10, 20, 60, 80, 150, 180}, sizeof c, "dgmm, columns");
}

/* Small whole numbers, with a power of two on the diagonal of a matrix of leading dimension LD, so that quotients are exact. */
enum { ROWS = 4, COLUMNS = 3, LD = 5 };
static void draw(double *to, int n, int from)
{
	for (int i = 0; i < n; i++)
		to[i] = i % (LD + 1) == 0 ? 2 : (double)whole(i, from);
}

/* The element of op(A) where one triangle of A is stored; the other is the same, or 0. */
static double half(const double *a, int upper, int turned, int unit, int mirrored, int i, int j)
{
	int row = turned ? j : i, column = turned ? i : j;

	if (row == column)
		return unit ? 1 : a[row * LD + row];
	if (upper == (row < column))
		return a[column * LD + row];
	return mirrored ? a[row * LD + column] : 0;
}

/* x = A b, or b A: of ROWS by COLUMNS elements. */
static void by_half(const double *a, int form, int mirrored, const double *b, double *x)
{
	int right = form & 1, upper = form >> 1 & 1, turned = form >> 2 & 1, unit = form >> 3 & 1;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++) {
			x[j * LD + i] = 0;
			for (int k = 0; k < (right ? COLUMNS : ROWS); k++)
				x[j * LD + i] += right ? b[k * LD + i] * half(a, upper, turned, unit, mirrored, k, j)
						       : half(a, upper, turned, unit, mirrored, i, k) * b[j * LD + k];
		}
}

/* Every side, triangle, operation and diagonal: a product, and back again by the system of equations. */
static void triangles(void)
{
	double a[LD * LD], b[LD * LD], c[LD * LD], x[LD * LD];
	const double two = 2, half_of = 0.5, minus = -1;

	for (int form = 0; form < 16; form++) {
		int side = form & 1, upper = form >> 1 & 1, operation = form >> 2 & 1, unit = form >> 3 & 1;
		draw(a, COUNT(a), form);
		draw(b, COUNT(b), 3);
		draw(c, COUNT(c), 4);
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		by_half(a, form, 0, b, x);
		for (int i = 0; i < COUNT(c); i++)
			if (i % LD < ROWS && i / LD < COLUMNS)
				c[i] = 2 * x[i];
		MUST(cublasDtrmm_v2(handle, side, upper, operation, unit, ROWS, COLUMNS, &two, da, LD, db, LD, dc, LD));
		compare(dc, c, sizeof c, "trmm");
		for (int i = 0; i < COUNT(c); i++)
			if (i % LD < ROWS && i / LD < COLUMNS)
				c[i] = b[i];
		MUST(cublasDtrsm_v2(handle, side, upper, operation, unit, ROWS, COLUMNS, &half_of, da, LD, dc, LD));
		compare(dc, c, sizeof c, "trsm");
		if (operation || unit)
			continue;
		by_half(a, form, 1, b, x);
		for (int i = 0; i < COUNT(c); i++)
			if (i % LD < ROWS && i / LD < COLUMNS)
				c[i] = 2 * x[i] - c[i];
		MUST(cublasDsymm_v2(handle, side, upper, ROWS, COLUMNS, &two, da, LD, db, LD, &minus, dc, LD));
		compare(dc, c, sizeof c, "symm");
	}
	check(cublasDtrmm_v2(handle, 2, 0, 0, 0, 1, 1, &two, NULL, 1, NULL, 1, NULL, 1) == 7, "a side that is none");
}

/* One triangle of C = 2 op(A) op(B)^T (+ 2 op(B) op(A)^T) - C, and of A + x x^T; the other keeps what it has. */
static void updates(void)
{
	double a[LD * LD], b[LD * LD], c[LD * LD];
	const double two = 2, minus = -1;

	for (int form = 0; form < 12; form++) {
		int upper = form & 1, turned = form >> 1 & 1, kind = form >> 2;
		const double *other = kind ? b : a;
		draw(a, COUNT(a), 1);
		draw(b, COUNT(b), 2);
		draw(c, COUNT(c), 3);
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < ROWS; j++) {
				double sum = 0;
				for (int k = 0; k < COLUMNS; k++) {
					int at_i = turned ? i * LD + k : k * LD + i, at_j = turned ? j * LD + k : k * LD + j;
					sum += a[at_i] * other[at_j] + (kind == 2 ? other[at_i] * a[at_j] : 0);
				}
				if (upper ? i <= j : i >= j)
					c[j * LD + i] = 2 * sum - c[j * LD + i];
			}
		if (kind == 0)
			MUST(cublasDsyrk_v2(handle, upper, turned, ROWS, COLUMNS, &two, da, LD, &minus, dc, LD));
		else
			MUST((kind == 1 ? cublasDsyrkx : cublasDsyr2k_v2)(handle, upper, turned, ROWS, COLUMNS, &two, da, LD, db, LD,
									    &minus, dc, LD));
		compare(dc, c, sizeof c, "an update of a triangle");
	}
	/* [1 .; 2 4] by (1 2), backwards; solved again; plus (1 2)(1 2)^T above */
	const float m[4] = {1, 2, 9, 4}, x[2] = {1, 2}, one = 1;
	void *dm = on_device(m, sizeof m), *dx = on_device(x, sizeof x);
	MUST(cublasStrmv_v2(handle, 0, N, 0, 2, dm, 2, dx, -1)); /* x: 2 1 */
	compare(dx, (const float[2]){8, 2}, sizeof x, "trmv");
	MUST(cublasStrsv_v2(handle, 0, N, 0, 2, dm, 2, dx, -1));
	compare(dx, x, sizeof x, "trsv");
	MUST(cublasSsyr_v2(handle, 1, 2, &one, dx, 1, dm, 2));
	compare(dm, (const float[4]){2, 2, 11, 8}, sizeof m, "syr");
	const float *const lists[2] = {dm, (float *)dx};
	const float *const *list = on_device(lists, sizeof lists);
	MUST(cublasStrsmBatched(handle, 0, 1, N, 1, 2, 1, &one, list, 2, (float *const *)(uintptr_t)(list + 1), 2, 1));
	compare(dx, (const float[2]){1 - 2 * 11, 2}, sizeof x, "batches of trsm");
}

/* An element of op(A), of N, T and C. */
static double _Complex turned(const double _Complex *a, int operation, int leading, int i, int j)
{
	double _Complex value = operation ? a[i * leading + j] : a[j * leading + i];

	return operation == 2 ? conj(value) : value;
}

static void complex_products(void)
{
	enum { M = 3, NN = 2, K = 4, LEAD = 5 };
	double _Complex a[LEAD * 4], b[LEAD * 4], c[LEAD * NN];
	const double _Complex alpha = 2 - 1 * I, betas[2] = {0, 1 + 3 * I};

	for (int form = 0; form < 18; form++) {
		int ta = form % 3, tb = form / 3 % 3;
		double _Complex beta = betas[form / 9];
		for (int i = 0; i < COUNT(a); i++) {
			a[i] = whole(i, 1) + whole(i, 2) * I;
			b[i] = whole(i, 3) + whole(i, 4) * I;
		}
		for (int i = 0; i < COUNT(c); i++)
			c[i] = beta == 0 ? NAN : whole(i, 5) + whole(i, 6) * I;
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		MUST(cublasZgemm_v2(handle, ta, tb, M, NN, K, &alpha, da, LEAD, db, LEAD, &beta, dc, LEAD));
		for (int i = 0; i < M; i++)
			for (int j = 0; j < NN; j++) {
				double _Complex sum = 0;
				for (int k = 0; k < K; k++)
					sum += turned(a, ta, LEAD, i, k) * turned(b, tb, LEAD, k, j);
				/* A sum that is 0 has no sign here. */
				c[j * LEAD + i] = alpha * sum + (beta == 0 ? 0 : beta * c[j * LEAD + i]) + 0.0;
			}
		double _Complex got[LEAD * NN];
		MUST(cudaMemcpy(got, dc, sizeof got, 2));
		for (int i = 0; i < COUNT(c); i++)
			check(got[i] == c[i] || (isnan(creal(c[i])) && isnan(creal(got[i]))), "complex gemm");
	}
}

/* An element of op(A), of which a triangle is stored. */
static double _Complex of_triangle(const double _Complex *a, int operation, int leading, int lower, int unit, int i, int j)
{
	int row = operation ? j : i, column = operation ? i : j;

	return unit && i == j ? 1 : lower ? (row >= column ? turned(a, operation, leading, i, j) : 0)
					  : (row <= column ? turned(a, operation, leading, i, j) : 0);
}

/* Solutions that are known: what they are multiplied to is the right side. A diagonal of units makes all exact. */
static void complex_systems(void)
{
	enum { M = 3, NN = 2, LEAD = 4 };
	static const double _Complex units[4] = {1, I, -1, -I}, alpha = I;
	double _Complex a[LEAD * M], x[LEAD * NN], b[LEAD * NN], got[LEAD * NN];

	for (int form = 0; form < 24; form++) {
		int right = form % 2, upper = form / 2 % 2, operation = form / 4 % 3, unit = form / 12, order = right ? NN : M;
		for (int i = 0; i < COUNT(a); i++)
			a[i] = i / LEAD == i % LEAD ? units[i % 4] : (i / LEAD < i % LEAD) == upper ? NAN : whole(i, 1) + whole(i, 2) * I;
		for (int i = 0; i < COUNT(x); i++)
			b[i] = x[i] = whole(i, 3) + whole(i, 4) * I;
		for (int i = 0; i < M; i++)
			for (int j = 0; j < NN; j++) {
				double _Complex sum = 0;
				for (int k = 0; k < order; k++)
					sum += right ? x[k * LEAD + i] * of_triangle(a, operation, LEAD, !upper, unit, k, j)
						     : of_triangle(a, operation, LEAD, !upper, unit, i, k) * x[j * LEAD + k];
				b[j * LEAD + i] = sum * -I;
			}
		void *db = on_device(b, sizeof b);
		MUST(cublasZtrsm_v2(handle, right, upper, operation, unit, M, NN, &alpha, on_device(a, sizeof a), LEAD, db, LEAD));
		MUST(cudaMemcpy(got, db, sizeof got, 2));
		for (int i = 0; i < COUNT(x); i++)
			check(got[i] == x[i], "complex trsm");
	}
}

/* The element (i, j) of a symmetric or Hermitian matrix of which a triangle is stored; the diagonal of the latter is real. */
static double _Complex of_mirrored(const double _Complex *a, int leading, int upper, int hermitian, int i, int j)
{
	double _Complex value = upper == (i < j) || i == j ? a[j * leading + i] : a[i * leading + j];

	if (hermitian && i == j)
		return creal(value);
	return hermitian && upper != (i < j) ? conj(value) : value;
}

/* symm, hemm, and trmm in place: both sides, both triangles; what is not stored is not read. */
static void complex_stored(void)
{
	enum { M = 3, NN = 2, LEAD = 4 };
	const double _Complex alpha = 2 - I, beta = 1 + 3 * I;
	double _Complex a[LEAD * M], b[LEAD * NN], c[LEAD * NN], got[LEAD * NN];

	for (int form = 0; form < 32; form++) {
		int right = form % 2, upper = form / 2 % 2, kind = form / 4, operation = kind < 2 ? 0 : (kind - 2) % 3, unit = kind > 4;
		int order = right ? NN : M;
		for (int i = 0; i < COUNT(a); i++)
			a[i] = i / LEAD != i % LEAD && (i / LEAD < i % LEAD) == upper ? NAN : whole(i, 1) + whole(i, 2) * I;
		for (int i = 0; i < COUNT(b); i++) {
			b[i] = whole(i, 3) + whole(i, 4) * I;
			c[i] = kind < 2 ? whole(i, 5) + whole(i, 6) * I : b[i];
		}
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		if (kind == 0)
			MUST(cublasZsymm_v2(handle, right, upper, M, NN, &alpha, da, LEAD, db, LEAD, &beta, dc, LEAD));
		else if (kind == 1)
			MUST(cublasZhemm_v2(handle, right, upper, M, NN, &alpha, da, LEAD, db, LEAD, &beta, dc, LEAD));
		else
			MUST(cublasZtrmm_v2(handle, right, upper, operation, unit, M, NN, &alpha, da, LEAD, dc, LEAD, dc, LEAD));
		for (int i = 0; i < M; i++)
			for (int j = 0; j < NN; j++) {
				double _Complex sum = 0;
				for (int k = 0; k < order; k++) {
					int row = right ? k : i, column = right ? j : k;
					sum += (kind < 2 ? of_mirrored(a, LEAD, upper, kind, row, column)
							 : of_triangle(a, operation, LEAD, !upper, unit, row, column)) *
					       (right ? b[k * LEAD + i] : b[j * LEAD + k]);
				}
				c[j * LEAD + i] = alpha * sum + (kind < 2 ? beta * c[j * LEAD + i] : 0);
			}
		MUST(cudaMemcpy(got, dc, sizeof got, 2));
		for (int i = 0; i < COUNT(c); i++)
			check(got[i] == c[i], kind == 0 ? "complex symm" : kind == 1 ? "hemm" : "complex trmm");
	}
}

static void complex_updates(void)
{
	enum { NN = 3, K = 2, LEAD = 4 };
	double _Complex a[LEAD * NN], c[LEAD * NN], got[LEAD * NN];

	for (int form = 0; form < 8; form++) {
		int upper = form % 2, is_turned = form / 2 % 2, hermitian = form / 4, operation = !is_turned ? 0 : hermitian ? 2 : 1;
		const double _Complex alpha = hermitian ? 2 : 2 - I, beta = hermitian ? -3 : 1 + 3 * I;
		const double real_alpha = 2, real_beta = -3;
		for (int i = 0; i < COUNT(a); i++) {
			a[i] = whole(i, 1) + whole(i, 2) * I;
			c[i] = whole(i, 5) + whole(i, 6) * I;
		}
		void *da = on_device(a, sizeof a), *dc = on_device(c, sizeof c);
		if (hermitian)
			MUST(cublasZherk_v2(handle, upper, operation, NN, K, &real_alpha, da, LEAD, &real_beta, dc, LEAD));
		else
			MUST(cublasZsyrk_v2(handle, upper, operation, NN, K, &alpha, da, LEAD, &beta, dc, LEAD));
		for (int j = 0; j < NN; j++)
			for (int i = upper ? 0 : j; i < (upper ? j + 1 : NN); i++) {
				double _Complex sum = 0;
				for (int k = 0; k < K; k++) {
					double _Complex other = turned(a, operation, LEAD, j, k);
					sum += turned(a, operation, LEAD, i, k) * (hermitian ? conj(other) : other);
				}
				c[j * LEAD + i] = alpha * sum + beta * c[j * LEAD + i];
				if (hermitian && i == j)
					c[j * LEAD + i] = creal(c[j * LEAD + i]);
			}
		MUST(cudaMemcpy(got, dc, sizeof got, 2));
		for (int i = 0; i < COUNT(c); i++)
			check(got[i] == c[i], hermitian ? "herk" : "complex syrk");
	}
}

/* Updates by two matrices, once and twice. */
static void complex_updates_by_two(void)
{
	enum { NN = 3, K = 2, LEAD = 4 };
	double _Complex a[LEAD * NN], b[LEAD * NN], c[LEAD * NN], got[LEAD * NN];
	const double _Complex alpha = 2 - I;
	const double real_beta = -3;

	for (int form = 0; form < 16; form++) {
		int upper = form % 2, is_turned = form / 2 % 2, hermitian = form / 4 % 2, twice = form / 8;
		int operation = !is_turned ? 0 : hermitian ? 2 : 1;
		const double _Complex beta = hermitian ? real_beta : 1 + 3 * I;
		for (int i = 0; i < COUNT(a); i++) {
			a[i] = whole(i, 1) + whole(i, 2) * I;
			b[i] = whole(i, 3) + whole(i, 4) * I;
			c[i] = whole(i, 5) + whole(i, 6) * I;
		}
		void *da = on_device(a, sizeof a), *db = on_device(b, sizeof b), *dc = on_device(c, sizeof c);
		if (hermitian)
			MUST((twice ? cublasZher2k_v2 : cublasZherkx)(handle, upper, operation, NN, K, &alpha, da, LEAD, db, LEAD, &real_beta, dc, LEAD));
		else
			MUST((twice ? cublasZsyr2k_v2 : cublasZsyrkx)(handle, upper, operation, NN, K, &alpha, da, LEAD, db, LEAD, &beta, dc, LEAD));
		for (int j = 0; j < NN; j++)
			for (int i = upper ? 0 : j; i < (upper ? j + 1 : NN); i++) {
				double _Complex sum = 0, other = 0;
				for (int k = 0; k < K; k++) {
					double _Complex right = turned(b, operation, LEAD, j, k), left = turned(a, operation, LEAD, j, k);
					sum += turned(a, operation, LEAD, i, k) * (hermitian ? conj(right) : right);
					other += turned(b, operation, LEAD, i, k) * (hermitian ? conj(left) : left);
				}
				sum = alpha * sum + (twice ? (hermitian ? conj(alpha) : alpha) * other : 0) + beta * c[j * LEAD + i];
				c[j * LEAD + i] = hermitian && i == j ? creal(sum) : sum;
			}
		MUST(cudaMemcpy(got, dc, sizeof got, 2));
		for (int i = 0; i < COUNT(c); i++)
			check(got[i] == c[i], hermitian ? "her2k or herkx" : "complex syr2k or syrkx");
	}
}

/* (1+2i, 3-i) and (2i, 1+i) */
static void complex_vectors(void)
{
	const float x[4] = {1, 2, 3, -1}, y[4] = {0, 2, 1, 1}, i_[2] = {0, 1}, one[2] = {1, 0}, none[2] = {0}, two = 2;
	const double d[4] = {3, 0, 0, 4};
	float got[2], a[8] = {0};
	double length;
	void *dx = on_device(x, sizeof x), *dy = on_device(y, sizeof y), *da = on_device(a, sizeof a);

	MUST(cublasCdotu_v2(handle, 2, dx, 1, dy, 1, got)); /* (-4+2i) + (4+2i) */
	check(got[0] == 0 && got[1] == 4, "dotu");
	MUST(cublasCdotc_v2(handle, 2, dx, 1, dy, -1, got)); /* (1-2i)(1+i) + (3+i)2i = (3-i) + (-2+6i) */
	check(got[0] == 1 && got[1] == 5, "dotc, y backwards");
	MUST(cublasCgerc_v2(handle, 2, 2, one, dx, 1, dy, 1, da, 2)); /* x by (-2i, 1-i) */
	compare(da, (const float[8]){4, -2, -2, -6, 3, 1, 2, -4}, sizeof a, "gerc");
	MUST(cublasCgemv_v2(handle, 2, 2, 2, one, da, 2, dx, 1, none, dy, 1)); /* (4+2i)(1+2i) + (-2+6i)(3-i), and so on */
	compare(dy, (const float[4]){0 + 0, 10 + 20, 5 + 10, 5 + 10}, sizeof y, "gemv, conjugated");
	MUST(cublasCcopy_v2(handle, 2, dx, 1, dy, 1));
	MUST(cublasCaxpy_v2(handle, 2, i_, dx, 1, dy, 1)); /* (1+i) x */
	compare(dy, (const float[4]){-1, 3, 4, 2}, sizeof y, "axpy");
	MUST(cublasCscal_v2(handle, 1, i_, dy, 1));
	MUST(cublasCsscal_v2(handle, 1, &two, (float *)dy + 2, 1));
	compare(dy, (const float[4]){-3, -1, 8, 4}, sizeof y, "scal");
	MUST(cublasDznrm2_v2(handle, 2, on_device(d, sizeof d), 1, &length));
	check(length == 5, "nrm2");
	MUST(cublasCgemmStridedBatched(handle, N, N, 1, 1, 1, one, dx, 1, 1, dx, 1, 1, none, dy, 1, 1, 2)); /* squares */
	compare(dy, (const float[4]){-3, 4, 8, -6}, sizeof y, "complex batches");
	const void *const lists[2] = {dx, dy};
	const void *const *list = on_device(lists, sizeof lists);
	MUST(cublasCgemmBatched(handle, N, N, 1, 1, 1, one, list, 1, list, 1, none, list + 1, 1, 1));
	compare(dy, (const float[4]){-3, 4, 8, -6}, sizeof y, "complex batches by address");
}

/* The same two vectors, and a matrix of which the lower triangle is stored, with 2 and 3 on the diagonal and 1+i below. */
static void complex_halves(void)
{
	const float x[4] = {1, 2, 3, -1}, y[4] = {0, 2, 1, 1}, a[8] = {2, 0, 1, 1, NAN, NAN, 3, 0}, one[2] = {1, 0}, none[2] = {0};
	float sum;
	int at;
	void *dx = on_device(x, sizeof x), *dy = on_device(y, sizeof y), *da = on_device(a, sizeof a), *dc = on_device(x, sizeof x);

	MUST(cublasScasum_v2(handle, 2, dx, 1, &sum));
	check(sum == 7, "complex asum");
	MUST(cublasIcamax_v2(handle, 2, dx, 1, &at)); /* 3 and 4 */
	check(at == 2, "complex amax");
	MUST(cublasIcamin_v2(handle, 2, dx, 1, &at));
	check(at == 1, "complex amin");
	MUST(cublasCswap_v2(handle, 2, dx, 1, dy, 1));
	compare(dx, y, sizeof y, "complex swap");
	MUST(cublasCdgmm(handle, 1, 1, 2, dx, 1, dy, 1, dc, 1)); /* 2i (1+2i), (1+i) (3-i) */
	compare(dc, (const float[4]){-4, 2, 4, 2}, sizeof x, "complex dgmm");
	MUST(cublasChemv_v2(handle, 0, 2, one, da, 2, dy, 1, none, dc, 1)); /* 2 (1+2i) + (1-i) (3-i), (1+i) (1+2i) + 3 (3-i) */
	compare(dc, (const float[4]){4, 0, 8, 0}, sizeof x, "hemv");
	MUST(cublasCtrmv_v2(handle, 0, 0, 0, 2, da, 2, dy, 1));
	compare(dy, (const float[4]){2, 4, 8, 0}, sizeof x, "complex trmv");
	MUST(cublasCtrsv_v2(handle, 0, 0, 0, 2, da, 2, dy, 1));
	compare(dy, x, sizeof x, "complex trsv");
	const void *const lists[3] = {da, dy, dc};
	const void *const *list = on_device(lists, sizeof lists);
	MUST(cublasCtrmv_v2(handle, 0, 0, 0, 2, da, 2, dy, 1));
	MUST(cublasCtrsmBatched(handle, 0, 0, 0, 0, 2, 1, one, list, 2, (void *const *)(uintptr_t)(list + 1), 2, 1));
	compare(dy, x, sizeof x, "complex systems by address");
	MUST(cublasGemmBatchedEx(handle, 0, 2, 2, 2, 1, one, list + 1, 4, 2, list + 1, 4, 2, none, list, 4, 2, 1, 68, -1)); /* y y^H */
	compare(da, (const float[8]){5, 0, 1, -7, 1, 7, 10, 0}, sizeof a, "products of given types by address");
	MUST(cublasCher_v2(handle, 0, 2, one, dy, 1, da, 2));
	compare(da, (const float[8]){10, 0, 2, -14, 1, 7, 20, 0}, sizeof a, "her");
}

static void vectors(void)
{
	const float x[4] = {3, -7, 7, 1}, y[4] = {1, 2, 3, 4}, two = 2, cosine = 0, sine = 1;
	const double d[2] = {3e200, 4e200}, half = 0.5;
	float number;
	double norm;
	int at;
	int64_t at64;
	void *dx = on_device(x, sizeof x), *dy = on_device(y, sizeof y), *dd = on_device(d, sizeof d);

	MUST(cublasIsamax_v2(handle, 4, dx, 1, &at));
	check(at == 2, "amax");
	MUST(cublasIdamin_v2_64(handle, 2, dd, 1, &at64));
	check(at64 == 1, "amin");
	MUST(cublasSasum_v2(handle, 4, dx, 1, &number));
	check(number == 18, "asum");
	MUST(cublasDnrm2_v2(handle, 2, dd, 1, &norm));
	check(fabs(norm / 5e200 - 1) < 1e-15, "nrm2");
	MUST(cublasSdot_v2(handle, 2, dx, 2, dy, -1, &number)); /* 3 7 by 2 1 */
	check(number == 13, "dot");
	MUST(cublasSaxpy_v2(handle, 4, &two, dx, 1, dy, 1));
	compare(dy, (const float[4]){7, -12, 17, 6}, sizeof y, "axpy");
	MUST(cublasSrot_v2(handle, 4, dx, 1, dy, 1, &cosine, &sine)); /* x becomes y, y becomes -x */
	compare(dy, (const float[4]){-3, 7, -7, -1}, sizeof y, "rot");
	MUST(cublasSswap_v2(handle, 4, dx, 1, dy, 1));
	compare(dx, (const float[4]){-3, 7, -7, -1}, sizeof x, "swap");
	MUST(cublasScopy_v2(handle, 2, dx, 1, dy, 3));
	compare(dy, (const float[4]){-3, -12, 17, 7}, sizeof y, "copy");
	MUST(cublasDscal_v2(handle, 1, &half, dd, 1));
	compare(dd, (const double[2]){1.5e200, 4e200}, sizeof d, "scal");
}

/* Factors and results in device memory. */
static void by_device(void)
{
	const float x[2] = {5, 6}, factor = 3;
	float zero = 0;
	void *dx = on_device(x, sizeof x), *by = on_device(&factor, sizeof factor), *to = on_device(&zero, sizeof zero);

	MUST(cublasSetPointerMode_v2(handle, 1));
	MUST(cublasSaxpy_v2(handle, 1, by, (float *)dx + 1, 1, dx, 1));
	compare(dx, (const float[2]){23, 6}, sizeof x, "a factor in device memory");
	MUST(cublasSasum_v2(handle, 2, dx, 1, to));
	compare(to, &(const float){29}, sizeof zero, "a result in device memory");
	MUST(cublasSetPointerMode_v2(handle, 0));
}

static void copies(void)
{
	const float from[6] = {1, 2, 3, 4, 5, 6};
	float back[4] = {0};
	void *to = on_device(from, sizeof from);

	MUST(cublasSetMatrix(2, 2, sizeof *from, from, 3, to, 2));
	MUST(cublasGetMatrix(2, 2, sizeof *from, to, 2, back, 2));
	check(memcmp(back, (const float[4]){1, 2, 4, 5}, sizeof back) == 0, "copies");
}

/* The first interface: numbers are values. */
static void legacy(void)
{
	const float a[4] = {1, 2, 3, 4};
	void *da = on_device(a, sizeof a), *dc = on_device(a, sizeof a);

	MUST(cublasInit());
	cublasSgemm('t', 'N', 2, 2, 2, 1, da, 2, da, 2, -1, dc, 2); /* [1 2; 3 4] [1 3; 2 4] - [1 3; 2 4] */
	compare(dc, (const float[4]){5 - 1, 11 - 2, 11 - 3, 25 - 4}, sizeof a, "gemm of cublas.h");
	check(cublasSdot(4, da, 1, da, 1) == 30 && cublasIsamax(4, da, 1) == 4, "dot and amax of cublas.h");
	MUST(cublasGetError());
	cublasSgemm('x', 'n', 2, 2, 2, 1, da, 2, da, 2, 0, dc, 2);
	check(cublasGetError() == 7 && cublasGetError() == 0, "an error is told once");
}

/* A warp's multiply-add is 64 flops, and a call one more instruction; an instruction takes a nanosecond. */
static void timed(void)
{
	enum { SIDE = 64 };
	static const float zeros[SIDE * SIDE];
	const float one = 1;
	float *a = on_device(zeros, sizeof zeros), milliseconds = 0;
	void *events[3];

	for (int i = 0; i < 3; i++)
		MUST(cudaEventCreate(&events[i]));
	MUST(cudaEventRecord(events[0], NULL));
	MUST(cublasSgemm_v2(handle, N, N, SIDE, SIDE, SIDE, &one, a, SIDE, a, SIDE, &one, a, SIDE));
	MUST(cudaEventRecord(events[1], NULL));
	MUST(cublasScopy_v2(handle, SIDE, a, 1, a + SIDE, 1));
	MUST(cudaEventRecord(events[2], NULL));
	MUST(cudaEventElapsedTime(&milliseconds, events[0], events[1]));
	check(milliseconds == (2 * SIDE * SIDE * SIDE / 64 + 1) / 1e6F, "the time of a product");
	MUST(cudaEventElapsedTime(&milliseconds, events[1], events[2]));
	check(milliseconds == 1 / 1e6F, "the time of a copy");
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	const float one = 1, x[2] = {1, 2};
	int64_t at64 = 0;
	void *stream;

	MUST(cublasCreate_v2(&handle));
	void *dx = on_device(x, sizeof x);
	if (strcmp(part, "results") == 0) {
		gemm();
		gemm_beside_large();
		batches();
		types();
		matrix_and_vectors();
		elementwise();
		complex_products();
		complex_systems();
		complex_stored();
		complex_updates();
		complex_updates_by_two();
		complex_vectors();
		complex_halves();
		triangles();
		updates();
		vectors();
		by_device();
		copies();
		legacy();
		check(cublasSaxpy_v2(NULL, 1, &one, dx, 1, dx, 1) == 1, "no handle");
		check(cublasSgemm_v2(handle, N, N, 2, 2, 2, &one, dx, 1, dx, 2, &one, dx, 2) == 7, "a leading dimension too small");
	} else if (strcmp(part, "timed") == 0) {
		timed();
	} else if (strcmp(part, "refused") == 0) {
		printf("%s\n", cublasGetStatusName(cublasCgemmEx()));
		printf("%s\n", cublasGetStatusName(cublasGemmEx(handle, N, N, 1, 1, 1, &one, dx, 28, 1, dx, 28, 1, &one, dx, 0, 1, 68, -1)));
	} else if (strcmp(part, "stray") == 0) {
		cublasSaxpy_v2(handle, 3, &one, dx, 1, dx, 1);
	} else if (strcmp(part, "far") == 0) {
		cublasIdamin_v2_64(handle, INT32_MAX, (const double *)(const void *)dx, INT32_MAX, &at64);
	} else if (strcmp(part, "beyond") == 0) {
		printf("%s\n", cublasGetStatusName(cublasIdamin_v2_64(handle, 2, (const double *)(const void *)dx, INT64_C(1) << 61, &at64)));
	} else if (strcmp(part, "captured") == 0) {
		MUST(cudaStreamCreate(&stream));
		MUST(cublasSetStream_v2(handle, stream));
		MUST(cudaStreamBeginCapture(stream, 0));
		printf("%s\n", cublasGetStatusName(cublasSaxpy_v2(handle, 2, &one, dx, 1, dx, 1)));
	}
	MUST(cublasDestroy_v2(handle));
	printf(failures ? "%d differ\n" : "all as expected\n", failures);
	return failures > 0;
}
