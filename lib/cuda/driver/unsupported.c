/* SPDX-License-Identifier: MIT */
/* These calls return CUDA_ERROR_NOT_SUPPORTED, and report their name to the user. */
#include "cuda/runtime/runtime.h"

/* The arguments of the real calls are not read. */
#define MISSING(NAME, OMITS)                                                                      \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		static struct gt_missing_call call = {#NAME, OMITS, false};                        \
		gt_cudart_lock();                                                                  \
		int code = gt_cudart_unsupported(&call);                                           \
		gt_cudart_unlock();                                                                \
		return code;                                                                       \
	}
#define UNSUPPORTED(NAME) MISSING(NAME, true)
#define HARMLESS(NAME) MISSING(NAME, false)
#include "cuda/driver/unsupported.h"
