/* SPDX-License-Identifier: MIT */
/* Values of the GPU description. */
#include <stdio.h>
#include <string.h>

#include "cuda/runtime/runtime.h"
#include "cuda/ptx/fatbin/fatbin.h"

uint64_t gt_cudart_gpu_value(const char *key, uint64_t otherwise)
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
	unsigned capability = text ? gt_gpu_capability(gt_cudart.gpu) : 80;

	if (capability == 0)
		gt_cudart_stop("gpu: compute_capability: '%s': expected a number such as 8.0", text);
	return capability;
}

/* That of a module's PTX; before it is loaded, of the PTX that would be. 0: it has none. */
static unsigned target_of(const struct gt_fat *fat)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error ignored;

	if (fat->loaded)
		return fat->module.target;
	return gt_fatbin_open(&fatbin, fat->data, gt_cudart_readable(fat->data), &ignored) == 0 &&
			       gt_fatbin_choose(&fatbin, GT_FATBIN_PTX, 0, &entry, &ignored) == 1
		       ? entry.architecture : 0;
}

bool gt_cudart_is_newer(const struct gt_fat *fat, char text[GT_CUDART_NEWER])
{
	const unsigned has = gt_cudart_capability(), needs = fat ? target_of(fat) : 0;
	char gpus[128];

	text[0] = '\0';
	if (needs <= has)
		return false;
	gt_gpu_list_capable(gt_cudart.record.gpus, needs, gpus, sizeof gpus);
	snprintf(text, GT_CUDART_NEWER, ": its PTX is for compute capability %u.%u, and the GPU has %u.%u%s%s", needs / 10, needs % 10,
		 has / 10, has % 10, gpus[0] ? " (--gpu with it: " : "", gpus);
	if (gpus[0])
		strcat(text, ")");
	return true;
}
