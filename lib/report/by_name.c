/* SPDX-License-Identifier: MIT */
/* The launches of a report, summed by the kernel's name. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/sum.h"

/* Where the sum of the launches of that name is, or will be. */
static uint64_t *group_of(const struct gt_report_kernel *groups, struct gt_map *index, const char *name, size_t next,
			  int *fresh)
{
	uint64_t key = XXH3_64bits(name, strlen(name));

	for (;; key++) {
		key = key == GT_MAP_EMPTY ? 0 : key;
		uint64_t *place = gt_map_put(index, key, next, fresh);
		if (!place || *fresh || strcmp(groups[*place].kernel.name, name) == 0)
			return place;
	}
}

/* Adds a launch to the sum of those of its name. The first one is moved there as it is. */
static int add_launch(struct gt_report_kernel *sum, struct gt_report_kernel *launch, struct gt_error *error)
{
	const struct gt_kernel *first = &sum->kernel, *next = &launch->kernel;

	if (sum->merged == 0) {
		struct gt_report_kernel one = *launch;
		*launch = (struct gt_report_kernel){0};
		*sum = (struct gt_report_kernel){.kernel = one.kernel, .announced = one.announced, .chosen = true, .merged = 1};
		one.kernel = (struct gt_kernel){0};
		int result = gt_report_sum(sum, &one, error);
		gt_report_kernel_clear(&one);
		return result;
	}
	sum->merged++;
	sum->grid_differs |= memcmp(first->grid, next->grid, sizeof first->grid) != 0;
	sum->block_differs |= memcmp(first->block, next->block, sizeof first->block) != 0;
	sum->registers_differ |= first->registers != next->registers;
	sum->shared_differs |= first->shared_bytes != next->shared_bytes;
	return gt_report_sum(sum, launch, error);
}

int gt_report_by_name(struct gt_report *report, struct gt_error *error)
{
	struct gt_report_kernel *groups = calloc(report->n + 1, sizeof *groups);
	struct gt_map index = {0};
	size_t n = 0;
	int result = groups ? gt_map_open(&index, 0, error) : gt_fail_memory(error, "the report");

	for (size_t i = 0; i < report->n && result == 0; i++) {
		struct gt_report_kernel *launch = &report->kernels[i];
		int fresh = 1;
		uint64_t unnamed = n, *place = &unnamed;
		if (launch->announced && launch->kernel.name[0])
			place = group_of(groups, &index, launch->kernel.name, n, &fresh);
		n += place && fresh;
		result = place ? add_launch(&groups[*place], launch, error) : gt_fail_memory(error, "the report");
		gt_report_kernel_clear(launch);
	}
	gt_map_close(&index);
	free(report->kernels);
	report->kernels = groups;
	report->n = groups ? n : 0;
	report->capacity = report->n;
	report->by_name = true;
	return result;
}

uint64_t gt_report_launches(const struct gt_report *report)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < report->n; i++)
		launches += report->by_name ? report->kernels[i].merged : 1;
	return launches;
}
