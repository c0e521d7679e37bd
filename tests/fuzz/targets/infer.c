/* SPDX-License-Identifier: MIT */
/* A series of latencies, and the cache that it reveals. */
#include "dissect/infer.h"
#include "../shared/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""}, second;
	struct gt_chase_series series = {0};
	static struct gt_inference inference;
	struct gt_input *input = target_input(data, bytes);

	if (!input)
		return 0;
	int result = gt_series_read(&series, input, &error);
	if (result == 0) {
		result = gt_infer(&series, 0, 0, &inference, &error);
		if (result == 0)
			gt_inference_print(&inference, &series, "l1", target_nowhere());
		gt_inference_clear(&inference);
	}
	target_check(result, &error);
	gt_series_clear(&series);
	gt_input_close(input, &second);
	return 0;
}
