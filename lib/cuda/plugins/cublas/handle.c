/* SPDX-License-Identifier: MIT */
/* Handles, their settings, and copies of vectors and matrices. */
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
