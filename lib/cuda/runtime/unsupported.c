/* SPDX-License-Identifier: MIT */
/* These calls return cudaErrorNotSupported, as a device without the feature does, and report their name to the user. */
#include "cuda/runtime/runtime.h"

int gt_cudart_unsupported(struct gt_missing_call *call)
{
	if (!call->said) {
		call->said = true;
		gt_cudart.omissions += call->omits && gt_cudart_may_work();
		gt_cudart_say("%s: this call is not supported", call->name);
	}
	return CUDA_NOT_SUPPORTED;
}

int gt_cudart_refuse(const char *what)
{
	gt_cudart.omissions += gt_cudart_may_work();
	gt_cudart_say("%s: this is not supported", what);
	return CUDA_NOT_SUPPORTED;
}

/* The arguments of the real calls are not read. */
#define MISSING(NAME, OMITS)                                                                      \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		static struct gt_missing_call call = {#NAME, OMITS, false};                        \
		gt_cudart_enter();                                                                 \
		return gt_cudart_leave(gt_cudart_unsupported(&call));                              \
	}
#define UNSUPPORTED(NAME) MISSING(NAME, true)
#define HARMLESS(NAME) MISSING(NAME, false)
#include "cuda/runtime/unsupported.h"
