/* SPDX-License-Identifier: MIT */
/* Values of options: the first byte chooses what the rest is. */
#include "base/options.h"
#include "base/regex.h"
#include "cache/config.h"
#include "import/import.h"
#include "cuda/ptx/launch/launch.h"
#include "../shared/target.h"

#include <stdlib.h>

static int read_value(unsigned which, const char *text, struct gt_error *error)
{
	struct gt_level_settings settings = {0};
	unsigned char chosen[256];
	uint32_t shape[3];
	uint64_t number;
	double real;

	switch (which) {
	case 0: return gt_parse_count(text, 1, UINT64_MAX, &number, error);
	case 1: return gt_parse_size(text, 1, UINT64_MAX, &number, error);
	case 2: return gt_parse_real(text, -1e300, 1e300, &real, error);
	case 3: return gt_parse_list(text, chosen, sizeof chosen, error);
	case 4: return gt_ptx_shape_read(text, true, shape, error);
	default: return gt_level_set(&settings, (enum gt_parameter_id)(which % GT_PARAMETERS), text, error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""};

	if (bytes < 1)
		return 0;
	char *text = target_text(data + 1, bytes - 1);
	if (data[0] == 255) {
		struct gt_pattern *pattern = gt_pattern_open(text, &error);
		target_check(pattern ? 0 : -1, &error);
		gt_pattern_close(pattern);
	} else if (data[0] == 254) {
		struct gt_ptx_launch_line call = {0};
		target_check(gt_ptx_launch_line_read(&call, text, &error), &error);
		gt_ptx_launch_line_free(&call);
	} else {
		target_check(read_value(data[0], text, &error), &error);
	}
	free(text);
	return 0;
}
