/* SPDX-License-Identifier: MIT */
/* Describes what was measured, for the counts. */
#include <inttypes.h>
#include <stdio.h>

#include "base/options.h"
#include "reuse/options.h"

static const char *per_name(const struct gt_reuse *reuse)
{
	switch (reuse->options.per) {
	case GT_PER_WARP:
		return "warp";
	case GT_PER_BLOCK:
		return "block";
	case GT_PER_SM:
		return "sm";
	default:
		return reuse->by_sm ? "sm" : "global";
	}
}

const char *gt_reuse_per_format(const struct gt_reuse *reuse, char buffer[GT_REUSE_PER_TEXT])
{
	int n = snprintf(buffer, GT_REUSE_PER_TEXT, "%s", per_name(reuse));

	if (reuse->options.sets > 1)
		snprintf(buffer + n, GT_REUSE_PER_TEXT - (size_t)n, ",set:%" PRIu64, reuse->options.sets);
	return buffer;
}

int gt_reuse_describe(const struct gt_reuse *reuse, struct gt_count *count, struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	char granularity[64], per[GT_REUSE_PER_TEXT], size[32], ops[GT_REUSE_OPS_TEXT];

	snprintf(granularity, sizeof granularity, "%s:%s", options->unit.granularity->name,
		 gt_format_size(UINT64_C(1) << options->unit.shift, size));
	if (options->actions != GT_REUSE_ACTIONS && gt_count_text(count, "ops", gt_reuse_ops(options->actions, ops), error) != 0)
		return -1;
	if (gt_count_text(count, "granularity", granularity, error) != 0 ||
	    gt_count_text(count, "per", gt_reuse_per_format(reuse, per), error) != 0)
		return -1;
	if (reuse->timed && gt_count_number(count, "reservation_fails", reuse->profile.refused, error) != 0)
		return -1;
	if (options->every == 1 && options->sample_lines == 0)
		return 0;
	uint64_t millionths = (uint64_t)(gt_reuse_expected_error(reuse) * 1e6 + 0.5);
	return gt_count_number(count, "sample_every", reuse->every, error) != 0
		       ? -1 : gt_count_number(count, "sample_error", millionths, error);
}
