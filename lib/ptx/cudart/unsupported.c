/* SPDX-License-Identifier: MIT */
/* A program that makes one of these calls is told that it is not supported, as a device would that
 * cannot do it, and its user is told which call it was. */
#include <string.h>

#include "ptx/cudart/runtime.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define UNSUPPORTED(NAME) #NAME,
static const char *const names[] = {
#include "ptx/cudart/unsupported.h"
};
#undef UNSUPPORTED

static bool said[LENGTH(names)];

int gt_cudart_unsupported(const char *name)
{
	gt_cudart_enter();
	for (size_t i = 0; i < LENGTH(names); i++)
		if (strcmp(names[i], name) == 0 && !said[i]) {
			said[i] = true;
			gt_cudart_say("%s: this call is not supported", name);
		}
	return gt_cudart_leave(CUDA_NOT_SUPPORTED);
}

/* Whatever arguments the real ones take: the caller owns them, and they are not looked at. */
#define UNSUPPORTED(NAME)                                                                         \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		return gt_cudart_unsupported(#NAME);                                               \
	}
#include "ptx/cudart/unsupported.h"
