/* SPDX-License-Identifier: MIT */
/* A program that makes one of these calls is told that it is not supported, as a device would that
 * cannot do it, and its user is told which call it was. */
#include <string.h>

#include "cudart/runtime.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define UNSUPPORTED(NAME) {#NAME, true},
#define HARMLESS(NAME) {#NAME, false},
static const struct {
	const char *name;
	bool omits; /* work or data that a GPU would have made */
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

/* Whatever arguments the real ones take: the caller owns them, and they are not looked at. */
#define UNSUPPORTED(NAME)                                                                         \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		return gt_cudart_unsupported(#NAME);                                               \
	}
#define HARMLESS(NAME) UNSUPPORTED(NAME)
#include "cudart/unsupported.h"
