/* SPDX-License-Identifier: MIT */
/* Handles of cuBLASLt, which a program may also cast from those of cuBLAS, and the choice of an algorithm: there is one. */
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublaslt/lt.h"

/* cublasLtMatmulHeuristicResult_t */
struct choice {
	uint64_t algorithm[8];
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

API int cublasLtCreate(void **handle)
{
	if (!handle)
		return GT_CUBLAS_INVALID_VALUE;
	*handle = calloc(1, 1);
	return *handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;
}

API int cublasLtDestroy(void *handle)
{
	free(handle);
	return handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_INITIALIZED;
}

API int cublasLtMatmulAlgoGetHeuristic(void *handle, const void *product, const void *of_a, const void *of_b, const void *of_c,
				       const void *of_d, const void *preference, int most, struct choice *choices, int *n)
{
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!product || !of_a || !of_b || !of_c || !of_d || !preference || most < 1 || !choices || !n)
		return GT_CUBLAS_INVALID_VALUE;
	choices[0] = (struct choice){.status = GT_CUBLAS_SUCCESS, .waves = 1};
	*n = 1;
	return GT_CUBLAS_SUCCESS;
}

API size_t cublasLtGetVersion(void)
{
	return GT_CUBLAS_VERSION;
}

API size_t cublasLtGetCudartVersion(void)
{
	return GT_CUBLAS_MAJOR * 1000;
}

API int cublasLtGetProperty(int which, int *value)
{
	return gt_cublas_property(which, value);
}

API const char *cublasLtGetStatusName(int status)
{
	return gt_cublas_status_name(status);
}

API const char *cublasLtGetStatusString(int status)
{
	return gt_cublas_status_text(status);
}

/* ---- the calls that are refused by name; their arguments are not read ---- */

#define REFUSED(NAME)                                                \
	API int cublasLt##NAME(void);                                \
	API int cublasLt##NAME(void)                                 \
	{                                                            \
		gt_stub_refuse("cublasLt" #NAME);                    \
		return GT_CUBLAS_NOT_SUPPORTED;                      \
	}
#define DESCRIPTOR(NAME) \
	REFUSED(NAME##Create) REFUSED(NAME##Init_internal) REFUSED(NAME##Destroy) REFUSED(NAME##SetAttribute) REFUSED(NAME##GetAttribute)
REFUSED(MatrixTransform)
DESCRIPTOR(MatrixTransformDesc)
DESCRIPTOR(EmulationDesc)
REFUSED(MatmulAlgoGetIds)
REFUSED(MatmulAlgoInit)
REFUSED(MatmulAlgoCheck)
REFUSED(MatmulAlgoCapGetAttribute)
REFUSED(MatmulAlgoConfigSetAttribute)
REFUSED(MatmulAlgoConfigGetAttribute)
REFUSED(HeuristicsCacheGetCapacity)
REFUSED(HeuristicsCacheSetCapacity)
REFUSED(DisableCpuInstructionsSetMask)
REFUSED(LoggerSetCallback)
REFUSED(LoggerSetFile)
REFUSED(LoggerOpenFile)
REFUSED(LoggerSetLevel)
REFUSED(LoggerSetMask)
REFUSED(LoggerForceDisable)
