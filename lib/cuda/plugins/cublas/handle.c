/* SPDX-License-Identifier: MIT */
/* Handles, their settings, copies of vectors and matrices, and the calls that are not served. */
#include <stdlib.h>

#include "cuda/plugins/cublas/cublas.h"

/* Of the runtime, which is beside. */
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
		      unsigned kind, void *stream);
#define BY_ADDRESS 4 /* cudaMemcpyDefault */

API int cublasCreate_v2(struct gt_cublas **handle)
{
	if (!handle)
		return GT_CUBLAS_INVALID_VALUE;
	*handle = calloc(1, sizeof **handle);
	return *handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;
}

API int cublasDestroy_v2(struct gt_cublas *handle)
{
	free(handle);
	return handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_INITIALIZED;
}

API int cublasGetVersion_v2(struct gt_cublas *handle, int *version)
{
	(void)handle;
	if (!version)
		return GT_CUBLAS_INVALID_VALUE;
	*version = GT_CUBLAS_VERSION;
	return GT_CUBLAS_SUCCESS;
}

API int cublasGetProperty(int which, int *value)
{
	return gt_cublas_property(which, value);
}

API size_t cublasGetCudartVersion(void)
{
	return GT_CUBLAS_MAJOR * 1000;
}

API int cublasSetStream_v2(struct gt_cublas *handle, void *stream)
{
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	handle->stream = stream;
	return GT_CUBLAS_SUCCESS;
}

API int cublasGetStream_v2(struct gt_cublas *handle, void **stream)
{
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!stream)
		return GT_CUBLAS_INVALID_VALUE;
	*stream = handle->stream;
	return GT_CUBLAS_SUCCESS;
}

/* The work needs no room of its own. */
API int cublasSetWorkspace_v2(struct gt_cublas *handle, void *workspace, size_t bytes)
{
	(void)workspace, (void)bytes;
	return handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_INITIALIZED;
}

/* Settings that are kept and told. Only the pointer mode changes what is done: results are the same whatever the others. */
#define SETTING(SETTER, GETTER, FIELD)                                       \
	API int SETTER(struct gt_cublas *handle, int value)                   \
	{                                                                     \
		if (!handle)                                                  \
			return GT_CUBLAS_NOT_INITIALIZED;                     \
		handle->FIELD = value;                                        \
		return GT_CUBLAS_SUCCESS;                                     \
	}                                                                     \
	API int GETTER(const struct gt_cublas *handle, int *value)            \
	{                                                                     \
		if (!handle || !value)                                        \
			return handle ? GT_CUBLAS_INVALID_VALUE : GT_CUBLAS_NOT_INITIALIZED; \
		*value = handle->FIELD;                                       \
		return GT_CUBLAS_SUCCESS;                                     \
	}
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, pointer_mode)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, atomics_mode)
SETTING(cublasSetMathMode, cublasGetMathMode, math_mode)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, sm_count_target)
SETTING(cublasSetEmulationStrategy, cublasGetEmulationStrategy, emulation[0])
SETTING(cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport, emulation[1])
SETTING(cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl, emulation[2])
SETTING(cublasSetFixedPointEmulationMaxMantissaBitCount, cublasGetFixedPointEmulationMaxMantissaBitCount, emulation[3])
SETTING(cublasSetFixedPointEmulationMantissaBitOffset, cublasGetFixedPointEmulationMantissaBitOffset, emulation[4])

API const char *cublasGetStatusName(int status)
{
	return gt_cublas_status_name(status);
}

API const char *cublasGetStatusString(int status)
{
	return gt_cublas_status_text(status);
}

/* ---- copies, which the runtime does ---- */

static int copy(int64_t rows, int64_t columns, int64_t bytes, const void *from, int64_t from_leading, void *to,
		int64_t to_leading, void *stream)
{
	if (rows < 0 || columns < 0 || bytes <= 0 || from_leading <= 0 || to_leading <= 0)
		return GT_CUBLAS_INVALID_VALUE;
	if (rows == 0 || columns == 0)
		return GT_CUBLAS_SUCCESS;
	return cudaMemcpy2DAsync(to, (size_t)(to_leading * bytes), from, (size_t)(from_leading * bytes), (size_t)(rows * bytes),
				 (size_t)columns, BY_ADDRESS, stream) == 0
		       ? GT_CUBLAS_SUCCESS
		       : GT_CUBLAS_EXECUTION_FAILED;
}

#define COPIES(TO, INT, SUFFIX)                                                                                    \
	API int cublas##TO##Matrix##SUFFIX(INT rows, INT columns, INT bytes, const void *from, INT lda, void *to, INT ldb) \
	{                                                                                                          \
		return copy(rows, columns, bytes, from, lda, to, ldb, NULL);                                       \
	}                                                                                                          \
	API int cublas##TO##MatrixAsync##SUFFIX(INT rows, INT columns, INT bytes, const void *from, INT lda, void *to, \
						INT ldb, void *stream)                                             \
	{                                                                                                          \
		return copy(rows, columns, bytes, from, lda, to, ldb, stream);                                     \
	}                                                                                                          \
	API int cublas##TO##Vector##SUFFIX(INT n, INT bytes, const void *from, INT step, void *to, INT to_step)    \
	{                                                                                                          \
		return copy(1, n, bytes, from, step, to, to_step, NULL);                                           \
	}                                                                                                          \
	API int cublas##TO##VectorAsync##SUFFIX(INT n, INT bytes, const void *from, INT step, void *to, INT to_step, \
						void *stream)                                                      \
	{                                                                                                          \
		return copy(1, n, bytes, from, step, to, to_step, stream);                                         \
	}
COPIES(Set, int, )
COPIES(Set, int64_t, _64)
COPIES(Get, int, )
COPIES(Get, int64_t, _64)

/* The calls of cublas.h, cuBLAS's first interface: there is one handle, numbers are values, and an error is asked for. */

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

/* ---- the calls that are refused by name; their arguments are not read ---- */

/* To serve one, take it out of here and write it beside its like. Each has a sibling for sizes of 64 bits. */

#define ENTRY(NAME)                              \
	API int cublas##NAME(void);              \
	API int cublas##NAME(void)               \
	{                                        \
		gt_stub_refuse("cublas" #NAME);  \
		return GT_CUBLAS_NOT_SUPPORTED;  \
	}
#define REFUSED(NAME) ENTRY(NAME) ENTRY(NAME##_64)
#define SD(XT, NAME)	REFUSED(XT##S##NAME) REFUSED(XT##D##NAME)
#define CZ(XT, NAME)	REFUSED(XT##C##NAME) REFUSED(XT##Z##NAME)
#define SDCZ(XT, NAME)	SD(XT, NAME) CZ(XT, NAME)
CZ(, axpy) SDCZ(, bdmm) CZ(, copy) SDCZ(, gbmv) CZ(, gemm) CZ(, gemv) SDCZ(, rot) SDCZ(, rotg) CZ(, scal) SDCZ(, swap)
SDCZ(, symm) SDCZ(, syr2k) SDCZ(, syrk) SDCZ(, tbmv) SDCZ(, tbsv) SDCZ(, tpmv) SDCZ(, tpsv) SDCZ(, trmm) SDCZ(, trmv)
SDCZ(, trsm) SDCZ(, trsv) CZ(, dotc) CZ(, dotu) CZ(, gerc) CZ(, geru) CZ(, hbmv) CZ(, hemm) CZ(, hemv) CZ(, her) CZ(, her2)
CZ(, her2k) CZ(, herk) CZ(, hpmv) CZ(, hpr) CZ(, hpr2) SD(, ger) SD(, rotm) SD(, rotmg) SD(, sbmv) SD(, spmv) SD(, spr)
SD(, spr2) SD(, symv) SD(, syr) SD(, syr2) REFUSED(Cgemm3mBatched) REFUSED(Cgemm3mEx) REFUSED(Cgemm3mStridedBatched)
REFUSED(CgemmEx) REFUSED(Csrot) REFUSED(Csscal) REFUSED(Dzasum) REFUSED(Dznrm2) REFUSED(Scasum) REFUSED(Scnrm2)
REFUSED(SetBackdoor) REFUSED(SetBackdoorEx) REFUSED(SetEnvironmentMode) REFUSED(SetFixedPointEmulationMantissaBitCountPointer)
REFUSED(SetLoggerCallback) REFUSED(Zdrot) REFUSED(Zdscal) SDCZ(Xt, gemm) SDCZ(Xt, spmm) SDCZ(Xt, symm) SDCZ(Xt, syr2k)
SDCZ(Xt, syrk) SDCZ(Xt, syrkx) SDCZ(Xt, trmm) SDCZ(Xt, trsm) CZ(Xt, hemm) CZ(Xt, her2k) CZ(Xt, herk) CZ(Xt, herkx)
REFUSED(XtCreate) REFUSED(XtDestroy) REFUSED(XtDeviceSelect) REFUSED(XtSetBlockDim) REFUSED(XtSetCpuRatio)
REFUSED(XtSetCpuRoutine) REFUSED(XtSetPinningMemMode) REFUSED(GetBackdoor) REFUSED(GetEnvironmentMode)
REFUSED(GetFixedPointEmulationMantissaBitCountPointer) REFUSED(GetLoggerCallback) REFUSED(GetVersion) REFUSED(Icamax)
REFUSED(Icamin) REFUSED(Idamin) REFUSED(Isamin) REFUSED(Izamax) REFUSED(Izamin) REFUSED(LoggerConfigure) REFUSED(RotgEx)
REFUSED(RotmEx) REFUSED(RotmgEx) REFUSED(Uint8gemmBias) REFUSED(Xerbla) REFUSED(XtGetBlockDim) REFUSED(XtGetNumBoards)
REFUSED(XtGetPinningMemMode) REFUSED(XtMaxBoards)
