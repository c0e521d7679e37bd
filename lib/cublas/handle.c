/* SPDX-License-Identifier: MIT */
/* Handles, their settings, and copies of vectors and matrices. */
#include <stdlib.h>

#include "cublas/cublas.h"

#define VERSION_MAJOR 13
#define VERSION_MINOR 1
#define VERSION_PATCH 0

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
	*version = VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
	return GT_CUBLAS_SUCCESS;
}

API int cublasGetProperty(int which, int *value)
{
	static const int parts[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH};

	if (which < 0 || which > 2 || !value)
		return GT_CUBLAS_INVALID_VALUE;
	*value = parts[which];
	return GT_CUBLAS_SUCCESS;
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

static const struct {
	int status;
	const char *name, *text;
} statuses[] = {
	{GT_CUBLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
	{GT_CUBLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
	{GT_CUBLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
	{GT_CUBLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
	{GT_CUBLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
	{GT_CUBLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
};

static size_t row_of(int status)
{
	size_t i = 0;

	while (i < sizeof statuses / sizeof *statuses && statuses[i].status != status)
		i++;
	return i;
}

API const char *cublasGetStatusName(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].name : "unknown status";
}

API const char *cublasGetStatusString(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].text : "unknown status";
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
