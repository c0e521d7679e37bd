/* SPDX-License-Identifier: MIT */
/* The calls that are refused by name. Their arguments are not read. */
#include "cuda/plugins/cublas/cublas.h"

static int refuse(const char *name)
{
	gt_stub_refuse(name);
	return GT_CUBLAS_NOT_SUPPORTED;
}

#define ENTRY(NAME)                             \
	API int cublas##NAME(void);             \
	API int cublas##NAME(void)              \
	{                                       \
		return refuse("cublas" #NAME);  \
	}
#define REFUSED(NAME) ENTRY(NAME) ENTRY(NAME##_64)
#include "cuda/plugins/cublas/refused.h"
