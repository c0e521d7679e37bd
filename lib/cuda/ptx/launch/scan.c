/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"

int gt_ptx_launch_fail_at(const char *at, struct gt_error *error, const char *message)
{
	char text[sizeof error->text];

	snprintf(text, sizeof text, "%s", message);
	if (*at == '\0')
		return gt_fail(error, "at the end: %s", text);
	return gt_fail(error, "at '%.30s%s': %s", at, strlen(at) > 30 ? "..." : "", text);
}

int gt_ptx_launch_want(const char **at, const char *sign, struct gt_error *error)
{
	char text[48];

	gt_scan_blanks(at);
	if (gt_scan_text(at, sign)) {
		gt_scan_blanks(at);
		return 0;
	}
	snprintf(text, sizeof text, "expected '%s'", sign);
	return gt_ptx_launch_fail_at(*at, error, text);
}

int gt_ptx_launch_value(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value, struct gt_error *error)
{
	return gt_ptx_value_read(call, at, value, error) == 0 ? 0 : gt_ptx_launch_fail_at(*at, error, error->text);
}

int gt_ptx_launch_count(const struct gt_ptx_launch_line *call, const char **at, uint64_t min, uint64_t max, uint64_t *count,
		      struct gt_error *error)
{
	struct gt_ptx_value value;
	const char *start = *at;
	char text[96];

	if (gt_ptx_launch_value(call, at, &value, error) != 0)
		return -1;
	if (!value.real && !value.negative && value.magnitude >= min && value.magnitude <= max) {
		*count = value.magnitude;
		return 0;
	}
	snprintf(text, sizeof text, "expected a whole number from %" PRIu64 " to %" PRIu64, min, max);
	return gt_ptx_launch_fail_at(start, error, text);
}
