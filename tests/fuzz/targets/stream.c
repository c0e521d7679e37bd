/* SPDX-License-Identifier: MIT */
/* A stream, and the invariants that hold in one. */
#include "../shared/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""};
	const char *path = target_file(data, bytes);

	if (path)
		target_check(target_read_stream(path, &error), &error);
	return 0;
}
