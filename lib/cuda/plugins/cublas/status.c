/* SPDX-License-Identifier: MIT */
/* The names of statuses and the version, which cuBLAS and cuBLASLt share. */
#include "cuda/plugins/cublas/cublas.h"

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

const char *gt_cublas_status_name(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].name : "unknown status";
}

const char *gt_cublas_status_text(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].text : "unknown status";
}

int gt_cublas_property(int which, int *value)
{
	static const int parts[] = {GT_CUBLAS_MAJOR, GT_CUBLAS_MINOR, GT_CUBLAS_PATCH};

	if (which < 0 || which > 2 || !value)
		return GT_CUBLAS_INVALID_VALUE;
	*value = parts[which];
	return GT_CUBLAS_SUCCESS;
}
