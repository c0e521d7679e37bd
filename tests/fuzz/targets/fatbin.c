/* SPDX-License-Identifier: MIT */
/* A fat binary, and what is inside: PTX, and cubins. */
#include "cuda/ptx/fatbin/fatbin.h"
#include "../shared/target.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""};
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_cubin_kernel kernel;
	int found = 0;

	target_check(gt_cubin_find(data, bytes, "k", &kernel, &error) < 0 ? -1 : 0, &error);
	if (gt_fatbin_open(&fatbin, data, bytes, &error) != 0) {
		target_check(-1, &error);
		return 0;
	}
	for (int n = 0; n < 16 && (found = gt_fatbin_next(&fatbin, &entry, &error)) > 0; n++) {
		size_t unpacked_bytes;
		char *unpacked = entry.unpacked_bytes < (1U << 24) ? gt_fatbin_unpack(&entry, &unpacked_bytes, &error) : NULL;
		if (unpacked && entry.kind == GT_FATBIN_ELF)
			gt_cubin_find(unpacked, unpacked_bytes, "k", &kernel, &error);
		free(unpacked);
	}
	target_check(found < 0 ? -1 : 0, &error);
	return 0;
}
