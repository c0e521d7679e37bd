/* SPDX-License-Identifier: MIT */
/* Values of the GPU description. */
#include <stdio.h>

#include "cudart/runtime.h"

uint64_t gt_cudart_figure(const char *key, uint64_t otherwise)
{
	struct gt_error error;
	uint64_t value;

	/* Counts are sizes without a unit, so one reader serves both. */
	if (gt_gpu_size(gt_cudart.gpu, key, otherwise, &value, &error) != 0)
		gt_cudart_stop("%s", error.text);
	return value;
}

unsigned gt_cudart_capability(void)
{
	const char *text = gt_gpu_get(gt_cudart.gpu, "compute_capability");
	unsigned major = 8, minor = 0;

	if (text && sscanf(text, "%3u.%1u", &major, &minor) != 2)
		gt_cudart_stop("gpu: compute_capability: '%s': expected a number such as 8.0", text);
	return 10 * major + minor;
}
