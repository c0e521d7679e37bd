/* SPDX-License-Identifier: MIT */
/* Calls of cuBLAS, compared with loops on the host. All values are small whole numbers, so that every result is exact. Built
 * without CUDA: blas PART, of: results, refused, stray, captured. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **pointer, size_t bytes);
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
int cublasZherk_v2(void);
int cublasInit(void), cublasGetError(void);
void cublasSgemm(char, char, int, int, int, float, const float *, int, const float *, int, float, float *, int);
float cublasSdot(int, const float *, int, const float *, int);
int cublasIsamax(int, const float *, int);

enum { N, T };
#define COUNT(ARRAY) ((int)(sizeof(ARRAY) / sizeof(ARRAY)[0]))

static void *handle;
static int failures;

static void check(int holds, const char *what)
{
	if (!holds)
		printf("differs: %s\n", what);
	failures += !holds;
}

static void must(int status, const char *call)
{
	if (status != 0) {
		printf("%s: %d\n", call, status);
		exit(1);
	}
}
#define MUST(CALL) must(CALL, #CALL)

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

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	const float one = 1, x[2] = {1, 2};
	void *stream;

	MUST(cublasCreate_v2(&handle));
	void *dx = on_device(x, sizeof x);
	if (strcmp(part, "results") == 0) {
		gemm();
		batches();
		types();
		matrix_and_vectors();
		vectors();
		by_device();
		copies();
		legacy();
		check(cublasSaxpy_v2(NULL, 1, &one, dx, 1, dx, 1) == 1, "no handle");
		check(cublasSgemm_v2(handle, N, N, 2, 2, 2, &one, dx, 1, dx, 2, &one, dx, 2) == 7, "a leading dimension too small");
	} else if (strcmp(part, "refused") == 0) {
		printf("%s\n", cublasGetStatusName(cublasZherk_v2()));
		printf("%s\n", cublasGetStatusName(cublasGemmEx(handle, N, N, 1, 1, 1, &one, dx, 28, 1, dx, 28, 1, &one, dx, 0, 1, 68, -1)));
	} else if (strcmp(part, "stray") == 0) {
		cublasSaxpy_v2(handle, 3, &one, dx, 1, dx, 1);
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
