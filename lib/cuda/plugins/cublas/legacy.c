/* SPDX-License-Identifier: MIT */
/* The calls of cublas.h, cuBLAS's first interface: there is one handle, numbers are values, and an error is asked for. */
#include "cuda/plugins/cublas/cublas.h"

int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);

static struct gt_cublas handle;
static int last_error;

static void keep(int status)
{
	if (status != GT_CUBLAS_SUCCESS)
		last_error = status;
}

API int cublasInit(void)
{
	handle = (struct gt_cublas){0};
	last_error = GT_CUBLAS_SUCCESS;
	return GT_CUBLAS_SUCCESS;
}

API int cublasShutdown(void)
{
	return GT_CUBLAS_SUCCESS;
}

API int cublasGetError(void)
{
	int status = last_error;

	last_error = GT_CUBLAS_SUCCESS;
	return status;
}

API int cublasSetKernelStream(void *stream)
{
	handle.stream = stream;
	return GT_CUBLAS_SUCCESS;
}

API int cublasAlloc(int n, int bytes, void **pointer)
{
	if (n <= 0 || bytes <= 0 || !pointer)
		return GT_CUBLAS_INVALID_VALUE;
	return cudaMalloc(pointer, (size_t)n * (size_t)bytes) == 0 ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;
}

API int cublasFree(void *pointer)
{
	return cudaFree(pointer) == 0 ? GT_CUBLAS_SUCCESS : GT_CUBLAS_EXECUTION_FAILED;
}

/* A cublasOperation_t from its letter; -1 if it is none. */
static int operation_of(char letter)
{
	static const char letters[] = "NTCntc";

	for (int i = 0; letters[i]; i++)
		if (letters[i] == letter)
			return i % 3;
	return -1;
}

#define LEGACY(L, SMALL, T)                                                                                               \
	int cublas##L##gemm_v2(void *, int, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int); \
	int cublas##L##gemv_v2(void *, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int);    \
	int cublas##L##axpy_v2(void *, int, const T *, const T *, int, T *, int);                                         \
	int cublas##L##copy_v2(void *, int, const T *, int, T *, int);                                                    \
	int cublas##L##scal_v2(void *, int, const T *, T *, int);                                                         \
	int cublas##L##dot_v2(void *, int, const T *, int, const T *, int, T *);                                          \
	int cublas##L##asum_v2(void *, int, const T *, int, T *);                                                         \
	int cublas##L##nrm2_v2(void *, int, const T *, int, T *);                                                         \
	int cublasI##SMALL##amax_v2(void *, int, const T *, int, int *);                                                  \
	API void cublas##L##gemm(char ta, char tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, \
				 T beta, T *c, int ldc)                                                                   \
	{                                                                                                                 \
		keep(cublas##L##gemm_v2(&handle, operation_of(ta), operation_of(tb), m, n, k, &alpha, a, lda, b, ldb, &beta, \
					c, ldc));                                                                         \
	}                                                                                                                 \
	API void cublas##L##gemv(char t, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y,  \
				 int incy)                                                                                \
	{                                                                                                                 \
		keep(cublas##L##gemv_v2(&handle, operation_of(t), m, n, &alpha, a, lda, x, incx, &beta, y, incy));        \
	}                                                                                                                 \
	API void cublas##L##axpy(int n, T alpha, const T *x, int incx, T *y, int incy)                                    \
	{                                                                                                                 \
		keep(cublas##L##axpy_v2(&handle, n, &alpha, x, incx, y, incy));                                           \
	}                                                                                                                 \
	API void cublas##L##copy(int n, const T *x, int incx, T *y, int incy)                                             \
	{                                                                                                                 \
		keep(cublas##L##copy_v2(&handle, n, x, incx, y, incy));                                                   \
	}                                                                                                                 \
	API void cublas##L##scal(int n, T alpha, T *x, int incx)                                                          \
	{                                                                                                                 \
		keep(cublas##L##scal_v2(&handle, n, &alpha, x, incx));                                                    \
	}                                                                                                                 \
	API T cublas##L##dot(int n, const T *x, int incx, const T *y, int incy)                                           \
	{                                                                                                                 \
		T result = 0;                                                                                             \
		keep(cublas##L##dot_v2(&handle, n, x, incx, y, incy, &result));                                           \
		return result;                                                                                            \
	}                                                                                                                 \
	API T cublas##L##asum(int n, const T *x, int incx)                                                                \
	{                                                                                                                 \
		T result = 0;                                                                                             \
		keep(cublas##L##asum_v2(&handle, n, x, incx, &result));                                                   \
		return result;                                                                                            \
	}                                                                                                                 \
	API T cublas##L##nrm2(int n, const T *x, int incx)                                                                \
	{                                                                                                                 \
		T result = 0;                                                                                             \
		keep(cublas##L##nrm2_v2(&handle, n, x, incx, &result));                                                   \
		return result;                                                                                            \
	}                                                                                                                 \
	API int cublasI##SMALL##amax(int n, const T *x, int incx)                                                         \
	{                                                                                                                 \
		int result = 0;                                                                                           \
		keep(cublasI##SMALL##amax_v2(&handle, n, x, incx, &result));                                              \
		return result;                                                                                            \
	}
LEGACY(S, s, float)
LEGACY(D, d, double)
