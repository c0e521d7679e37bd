/* SPDX-License-Identifier: MIT */
/* Hardware counters, and rows of a comparison that was printed. */
#include "report/compare/compare.h"
#include "../shared/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""};
	struct gt_reference reference = {0};
	struct gt_errors errors = {0};
	const char *path = target_file(data, bytes);

	if (!path)
		return 0;
	target_check(gt_reference_read(&reference, path, &error), &error);
	target_check(gt_errors_read(&errors, path, &error), &error);
	target_check(gt_errors_write(&errors, "json", target_nowhere(), &error), &error);
	gt_reference_clear(&reference);
	gt_errors_clear(&errors);
	return 0;
}
