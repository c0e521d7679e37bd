/* SPDX-License-Identifier: MIT */
#include "report/scale.h"

#include <inttypes.h>
#include <string.h>

#define BLOCKS_MAX (UINT64_C(1) << 32) /* so that a remainder times blocks fits 64 bits */

/* number * blocks / modelled, rounded; 0 < modelled <= blocks <= BLOCKS_MAX. False if it does not fit 64 bits. */
static bool scale_number(uint64_t *number, uint64_t blocks, uint64_t modelled)
{
	uint64_t whole = *number / modelled, rest = *number % modelled * blocks, more = rest / modelled;

	more += rest % modelled >= modelled - modelled / 2;
	if (whole > (UINT64_MAX - more) / blocks)
		return false;
	*number = whole * blocks + more;
	return true;
}

static bool scale_counter(struct gt_count_entry *value, uint64_t blocks, uint64_t modelled)
{
	bool fits = true;

	if (value->kind == GT_COUNT_NUMBER)
		return scale_number(&value->number, blocks, modelled);
	for (size_t i = 0; value->kind == GT_COUNT_ARRAY && i < value->n; i++)
		fits = scale_number(&value->array[i], blocks, modelled) && fits;
	return fits;
}

static int scale_kernel(struct gt_report_kernel *kernel, struct gt_error *error)
{
	const struct gt_report_stage *schedule = gt_report_find_stage(kernel, "schedule");
	uint64_t id = kernel->kernel.id, blocks, modelled;

	if (!schedule || !gt_report_number(schedule, "blocks", &blocks) ||
	    !gt_report_number(schedule, "modelled_blocks", &modelled))
		return gt_fail(error, "kernel %" PRIu64 ": expected counts of gschedule, to scale by blocks / modelled_blocks", id);
	if (blocks == 0 || modelled == 0 || modelled > blocks || blocks > BLOCKS_MAX)
		return gt_fail(error, "kernel %" PRIu64 ": cannot scale from %" PRIu64 " modelled blocks to %" PRIu64, id, modelled, blocks);
	for (size_t i = (size_t)(schedule - kernel->stages) + 1; i < kernel->n; i++)
		for (size_t j = 0; j < kernel->stages[i].n; j++) {
			struct gt_report_counter *counter = &kernel->stages[i].counters[j];

			if (!gt_counter_is_setting(counter->about) && !scale_counter(&counter->value, blocks, modelled))
				return gt_fail(error, "kernel %" PRIu64 ", stage %s, counter %s: the scaled number does not fit 64 bits",
					       id, kernel->stages[i].name, counter->value.name);
		}
	return 0;
}

int gt_report_scale(struct gt_report *report, struct gt_error *error)
{
	for (size_t i = 0; i < report->n; i++)
		if (report->kernels[i].chosen && scale_kernel(&report->kernels[i], error) != 0)
			return -1;
	return 0;
}
