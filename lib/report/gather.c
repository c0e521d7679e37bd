/* SPDX-License-Identifier: MIT */
#include "report/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/sum.h"

int gt_report_begin(struct gt_report *report, const char *kernel_regex, struct gt_error *error)
{
	struct gt_error inner;

	*report = (struct gt_report){0};
	if (kernel_regex && !(report->choose = gt_regex_open(kernel_regex, &inner)))
		return gt_fail(error, "'%s': expected a Perl-compatible regular expression (%.300s)", kernel_regex,
			       inner.text);
	return gt_map_open(&report->index, 0, error);
}

void gt_report_clear(struct gt_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		gt_report_kernel_clear(&report->kernels[i]);
	gt_report_kernel_clear(&report->total);
	free(report->kernels);
	gt_map_close(&report->index);
	gt_regex_close(report->choose);
	*report = (struct gt_report){0};
}

/* 1 if the filter keeps this kernel, 0 if not, -1 on error. */
static int chosen(const struct gt_report *report, const char *name, struct gt_error *error)
{
	struct gt_error inner;

	if (!report->choose)
		return 1;
	int found = gt_regex_match(report->choose, name, strlen(name), &inner);
	if (found < 0)
		return gt_fail(error, "kernel '%s': cannot match the kernel filter: %.500s", name, inner.text);
	return found;
}

/* The kernel of that id, created if it is new. NULL on error. */
static struct gt_report_kernel *kernel_of(struct gt_report *report, uint64_t id, struct gt_error *error)
{
	int fresh;

	if (id == GT_MAP_EMPTY) {
		gt_fail(error, "kernel %" PRIu64 ": expected a smaller id", id);
		return NULL;
	}
	uint64_t *place = gt_map_put(&report->index, id, report->n, &fresh);
	if (place && !fresh)
		return &report->kernels[*place];
	struct gt_report_kernel *bigger =
		place ? gt_grown(report->kernels, report->n, &report->capacity, sizeof *bigger) : NULL;
	if (!bigger) {
		gt_fail_memory(error, "the report");
		return NULL;
	}
	report->kernels = bigger;
	struct gt_report_kernel *kernel = &bigger[report->n++];
	*kernel = (struct gt_report_kernel){.chosen = !report->choose};
	kernel->kernel.id = id;
	return kernel;
}

int gt_report_add_kernel(struct gt_report *report, const struct gt_kernel *from, struct gt_error *error)
{
	struct gt_report_kernel *kernel = kernel_of(report, from->id, error);

	if (!kernel)
		return -1;
	kernel->launches++;
	if (kernel->announced)
		return 0;
	int keep = chosen(report, from->name, error);
	if (keep < 0)
		return -1;
	kernel->chosen = keep;
	kernel->announced = true;
	return gt_kernel_copy(&kernel->kernel, from, error);
}

void gt_report_gpu(struct gt_report *report, const struct gt_gpu *gpu)
{
	const char *name = gt_gpu_get(gpu, "name"), *capability = gt_gpu_get(gpu, "compute_capability");

	snprintf(report->gpu, sizeof report->gpu, "%s", name ? name : "");
	snprintf(report->capability, sizeof report->capability, "%s", capability ? capability : "");
}

/* The stage of a count with this name: the first of that name that has not counted in this launch. */
static struct gt_report_stage *stage_of(struct gt_report_kernel *kernel, const char *plain, struct gt_error *error)
{
	unsigned occurrence = 1;

	for (size_t i = 0; i < kernel->n; i++) {
		struct gt_report_stage *stage = &kernel->stages[i];
		if (strcmp(stage->plain, plain) != 0)
			continue;
		if (stage->launch < kernel->launches)
			return stage;
		occurrence++;
	}
	return gt_report_new_stage(kernel, plain, occurrence, error);
}

int gt_report_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error)
{
	struct gt_report_kernel *kernel = kernel_of(report, count->kernel, error);

	if (!kernel)
		return -1;
	/* Counts without a launch belong to one unknown launch. */
	if (kernel->launches == 0)
		kernel->launches = 1;
	struct gt_report_stage *stage = stage_of(kernel, count->stage, error);
	if (!stage)
		return -1;
	stage->launch = kernel->launches;
	for (size_t i = 0; i < count->n; i++)
		if (gt_report_add_entry(stage, &count->entries[i], false, i, error) != 0)
			return -1;
	return 0;
}

int gt_report_finish(struct gt_report *report, struct gt_error *error)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->n; i++) {
		struct gt_report_kernel *kernel = &report->kernels[i];
		if (!kernel->chosen) {
			gt_report_kernel_clear(kernel);
			continue;
		}
		if (gt_report_sum(&report->total, kernel, error) != 0)
			return -1;
		if (kept != i) {
			report->kernels[kept] = *kernel;
			*kernel = (struct gt_report_kernel){0};
		}
		kept++;
	}
	report->n = kept;
	return 0;
}
