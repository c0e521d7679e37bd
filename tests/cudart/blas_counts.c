/* SPDX-License-Identifier: MIT */
/* Calls of cuBLAS whose flops are counted, of sizes so small that a sum tells when one is wrong. Built without CUDA. */
#include <stdint.h>
#include <string.h>

#include "checks.h"

int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
int cublasCreate_v2(void **handle);
int cublasDgetrfBatched(void *, int, void *const *, int, int *, int *, int), cublasZgetrfBatched(void *, int, void *const *, int, int *, int *, int);
int cublasDgetriBatched(void *, int, void *const *, int, const int *, void *const *, int, int *, int);
int cublasDgetrsBatched(void *, int, int, int, void *const *, int, const int *, void *const *, int, int *, int);
int cublasDmatinvBatched(void *, int, void *const *, int, void *const *, int, int *, int);
int cublasDgeqrfBatched(void *, int, int, void *const *, int, void *const *, int *, int);
int cublasDgelsBatched(void *, int, int, int, int, void *const *, int, void *const *, int, int *, int *, int);
int cublasDgemvBatched(void *, int, int, int, const void *, void *const *, int, void *const *, int, const void *, void *const *, int, int);
int cublasZgemvStridedBatched(void *, int, int, int, const void *, const void *, int, long long, const void *, int, long long, const void *, void *, int,
			      long long, int);
int cublasDgemmGroupedBatched(void *, const int *, const int *, const int *, const int *, const int *, const void *, void *const *, const int *, void *const *,
			      const int *, const void *, void *const *, const int *, int, const int *);
int cublasRotEx(void *, int, void *, int, int, void *, int, int, const void *, const void *, int, int);
int cublasZrot_v2(void *, int, void *, int, void *, int, const void *, const void *), cublasZdrot_v2(void *, int, void *, int, void *, int, const void *, const void *);
int cublasZsymv_v2(void *, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int cublasZsyr_v2(void *, int, int, const void *, const void *, int, void *, int), cublasZsyr2_v2(void *, int, int, const void *, const void *, int, const void *, int, void *, int);
int cublasZgeam(void *, int, int, int, int, const void *, const void *, int, const void *, const void *, int, void *, int);
int cublasAxpyEx(void *, int, const void *, int, const void *, int, int, void *, int, int, int);
int cublasDotEx(void *, int, const void *, int, int, const void *, int, int, void *, int, int);
int cublasScalEx(void *, int, const void *, int, void *, int, int, int);
int cublasNrm2Ex(void *, int, const void *, int, int, void *, int, int), cublasAsumEx(void *, int, const void *, int, int, void *, int, int);

enum { F64 = 1, C64 = 5, ROOM = 64, MATRICES = 3 };

static void *room(size_t bytes)
{
	void *at;

	MUST(cudaMallocManaged(&at, bytes, 1));
	memset(at, 0, bytes);
	return at;
}

/* Of numbers with no rule that would make them singular; results are not looked at. */
static void **matrices(void)
{
	void **all = room(MATRICES * sizeof *all);

	for (int k = 0; k < MATRICES; k++) {
		double *numbers = all[k] = room(2 * ROOM * sizeof *numbers);
		for (int i = 0; i < 2 * ROOM; i++)
			numbers[i] = 1 + (i * i + k) % 7;
	}
	return all;
}

static void factor(void *handle, int *pivots, int *info)
{
	void **a = matrices(), **b = matrices(), **c = matrices();
	int said;

	MUST(cublasDgetrfBatched(handle, 6, a, 6, pivots, info, 2));		       /* 2/3 n^3: 144 each */
	MUST(cublasDgetriBatched(handle, 6, a, 6, pivots, c, 6, info, 2));	       /* 4/3 n^3: 288 */
	MUST(cublasDgetrsBatched(handle, 0, 6, 3, a, 6, pivots, b, 6, &said, 2));      /* 2 n^2 r: 216 */
	MUST(cublasDmatinvBatched(handle, 5, b, 5, c, 5, info, 2));		       /* 2 n^3: 250 */
	MUST(cublasDgeqrfBatched(handle, 7, 4, b, 7, c, &said, 2));		       /* 2 m n min(m, n): 224 */
	MUST(cublasDgelsBatched(handle, 0, 7, 4, 3, a, 7, c, 7, &said, NULL, 2));      /* 2 m n (n + 2 r): 560 */
	MUST(cublasZgetrfBatched(handle, 3, matrices(), 3, pivots, info, 2));	       /* 4 times 2/3 n^3: 72 */
}

static void multiply(void *handle)
{
	static const int none[2] = {0, 0}, m[2] = {2, 5}, n[2] = {3, 1}, k[2] = {4, 1}, lengths[2] = {2, 1};
	static const double ones[4] = {1, 1, 1, 1};
	void **a = matrices(), **b = matrices(), **c = matrices();

	MUST(cublasDgemvBatched(handle, 0, 5, 3, ones, a, 5, b, 1, ones, c, 1, 2));					 /* 2 m n: 30 */
	MUST(cublasZgemvStridedBatched(handle, 0, 5, 3, ones, a[0], 5, 15, b[0], 1, 3, ones, c[0], 1, 5, 2));		 /* 8 m n: 120 */
	MUST(cublasDgemmGroupedBatched(handle, none, none, m, n, k, ones, a, m, b, k, ones, c, m, 2, lengths));		 /* 2 m n k: 2 * 48 + 10 */
	MUST(cublasZgeam(handle, 0, 0, 2, 3, ones, a[0], 2, ones, b[0], 2, c[0], 2));					 /* 14 m n: 84 */
}

/* Of 4 elements, or a matrix of 4 by 4. */
static void vectors(void *handle)
{
	static const double one[2] = {1, 0};
	void **a = matrices(), *x = a[0], *y = a[1];
	double result[2];

	MUST(cublasRotEx(handle, 4, x, F64, 1, y, F64, 1, one, one, F64, F64));		    /* 6 n: 24 */
	MUST(cublasZrot_v2(handle, 4, x, 1, y, 1, one, one));				    /* 20 n: 80 */
	MUST(cublasZdrot_v2(handle, 4, x, 1, y, 1, one, one));				    /* 12 n: 48 */
	MUST(cublasZsyr_v2(handle, 0, 4, one, x, 1, a[2], 4));				    /* 4 n^2: 64 */
	MUST(cublasZsyr2_v2(handle, 0, 4, one, x, 1, y, 1, a[2], 4));			    /* 8 n^2: 128 */
	MUST(cublasZsymv_v2(handle, 0, 4, one, a[2], 4, x, 1, one, y, 1));		    /* 8 n^2: 128 */
	MUST(cublasAxpyEx(handle, 4, one, C64, x, C64, 1, y, C64, 1, C64));		    /* 8 n: 32 */
	MUST(cublasDotEx(handle, 4, x, C64, 1, y, C64, 1, result, C64, C64));		    /* 8 n: 32 */
	MUST(cublasScalEx(handle, 4, one, C64, x, C64, 1, C64));			    /* 6 n: 24 */
	MUST(cublasScalEx(handle, 4, one, F64, x, C64, 1, C64));			    /* 2 n: 8 */
	MUST(cublasAsumEx(handle, 4, x, C64, 1, result, F64, F64));			    /* 2 n: 8 */
	MUST(cublasAsumEx(handle, 4, x, F64, 1, result, F64, F64));			    /* n: 4 */
	MUST(cublasNrm2Ex(handle, 4, x, C64, 1, result, F64, F64));			    /* 4 n: 16 */
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	void *handle;

	MUST(cublasCreate_v2(&handle));
	if (strcmp(part, "factor") == 0)
		factor(handle, room(ROOM * sizeof(int)), room(ROOM * sizeof(int)));
	if (strcmp(part, "multiply") == 0)
		multiply(handle);
	if (strcmp(part, "vectors") == 0)
		vectors(handle);
	return failures != 0;
}
