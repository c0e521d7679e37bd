/* SPDX-License-Identifier: MIT */
/* A GPU description, and the levels that follow from it. */
#include "cache/config.h"
#include "gpu/describe.h"
#include "gpu/gpu.h"
#include "../shared/target.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""};
	struct gt_gpu gpu = {0};
	const char *path = target_file(data, bytes);
	int result = path ? gt_gpu_load(&gpu, path, &error) : 0;

	target_check(result, &error);
	for (size_t i = 0; path && result == 0 && i < gt_roles_n; i++) {
		const struct gt_kernel kernel = {.id = 1};
		const struct gt_level_settings settings = {.role = &gt_roles[i], .name = "level"};
		struct gt_level_config config;
		const int resolved = gt_level_resolve(&settings, &gpu, &kernel, &config, &error);
		target_check(resolved, &error);
		if (resolved != 0)
			continue;
		char *said = gt_level_said(&settings, &gpu, &kernel, &config, &error);
		target_check(said ? 0 : -1, &error);
		free(said);
	}
	gt_gpu_clear(&gpu);
	return 0;
}
