/* SPDX-License-Identifier: MIT */
/* The calls that are refused by name. Their arguments are not read. */
#include "cuda/plugins/curand/curand.h"

#define REFUSED(NAME)                            \
	API int curand##NAME(void);              \
	API int curand##NAME(void)               \
	{                                        \
		gt_stub_refuse("curand" #NAME);  \
		return GT_CURAND_TYPE_ERROR;     \
	}
REFUSED(CreatePoissonDistribution)
REFUSED(DestroyDistribution)
REFUSED(GeneratePoissonMethod)
REFUSED(GetDirectionVectors64)
REFUSED(GetScrambleConstants32)
REFUSED(GetScrambleConstants64)
