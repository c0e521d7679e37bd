/* SPDX-License-Identifier: MIT */
/* A trace of any format: the first byte chooses the importer, the rest is its file; one more number is a .tracez. */
#include "import/formats.h"
#include "../shared/target.h"

static volatile uint64_t sum; /* of addresses, so that each is read */

static int on_kernel(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	(void)context;
	return gt_kernel_check(kernel, error);
}

static int on_access(void *context, const struct gt_trace_access *access, struct gt_error *error)
{
	(void)context, (void)error;
	for (unsigned i = 0; access->addresses && i < (unsigned)__builtin_popcount(access->mask); i++)
		sum += access->addresses[i];
	return 0;
}

static int on_passed_over(void *context, const char *what, uint64_t number, struct gt_error *error)
{
	(void)context, (void)error;
	sum += number + (uint64_t)what[0];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct gt_trace trace = {.kernel = on_kernel, .access = on_access, .passed_over = on_passed_over};
	struct gt_error error = {.text = ""}, second;

	if (bytes < 1)
		return 0;
	size_t chosen = data[0] % (gt_importers_n + 1);
	const struct gt_importer *importer = chosen < gt_importers_n ? gt_importers[chosen] : gt_importer_find("accelsim");
	trace.wants_work = data[0] / (gt_importers_n + 1) % 2;
	struct gt_input *input = !importer->read		? NULL
				 : chosen < gt_importers_n ? target_input(data + 1, bytes - 1)
							   : target_named_input(data + 1, bytes - 1, ".tracez");
	if (!input)
		return 0;
	target_check(importer->read(input, &trace, &error), &error);
	gt_input_close(input, &second);
	return 0;
}
