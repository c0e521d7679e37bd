/* SPDX-License-Identifier: MIT */
/* These calls return cudaErrorNotSupported, as a device without the feature does, and report their name to the user. */
#include <string.h>

#include "cudart/runtime.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define UNSUPPORTED(NAME) {#NAME, true},
#define HARMLESS(NAME) {#NAME, false},
static const struct {
	const char *name;
	bool omits; /* work or data of a GPU that is then missing */
} calls[] = {
#include "cudart/unsupported.h"
};
#undef UNSUPPORTED
#undef HARMLESS

static bool said[LENGTH(calls)];

int gt_cudart_unsupported(const char *name)
{
	gt_cudart_enter();
	for (size_t i = 0; i < LENGTH(calls); i++)
		if (strcmp(calls[i].name, name) == 0 && !said[i]) {
			said[i] = true;
			gt_cudart.omissions += calls[i].omits;
			gt_cudart_say("%s: this call is not supported", name);
		}
	return gt_cudart_leave(CUDA_NOT_SUPPORTED);
}

int gt_cudart_refuse(const char *what)
{
	gt_cudart.omissions++;
	gt_cudart_say("%s: this is not supported", what);
	return CUDA_NOT_SUPPORTED;
}

/* The arguments of the real calls are not read. */
#define UNSUPPORTED(NAME)                                                                         \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		return gt_cudart_unsupported(#NAME);                                               \
	}
#define HARMLESS(NAME) UNSUPPORTED(NAME)
#include "cudart/unsupported.h"
