/* SPDX-License-Identifier: MIT */
#include "report/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/compare/match.h"
#include "report/metric.h"

const char *const gt_comparison_notes[GT_COMPARISON_NOTES] = {
	[GT_COMPARED] = "",
	[GT_COMPARED_RECOMPUTED] = "recomputed",
	[GT_COMPARED_LAUNCHES] = "other number of launches",
	[GT_IMPOSSIBLE] = "impossible",
	[GT_NOT_TOLD] = "not modelled",
	[GT_NOT_IN_MODEL] = "not in the model",
	[GT_NOT_IN_REFERENCE] = "not in the reference",
};

static int add(struct gt_comparison *comparison, const struct gt_comparison_row *row, struct gt_error *error)
{
	struct gt_comparison_row *bigger =
		gt_grown(comparison->rows, comparison->n, &comparison->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the comparison");
	comparison->rows = bigger;
	bigger[comparison->n++] = *row;
	return 0;
}

static bool told(struct gt_metric_value value, double *number)
{
	*number = value.state == GT_METRIC_COUNT ? (double)value.count : value.ratio;
	return value.state == GT_METRIC_COUNT || value.state == GT_METRIC_RATIO;
}

static bool of_all(const struct gt_reference_launch *launch)
{
	return strcmp(launch->name, GT_REFERENCE_ALL) == 0;
}

/* Whether the values of a launch of the reference are means that include this kernel. */
static bool includes(const struct gt_reference_launch *launch, const struct gt_report_kernel *kernel)
{
	return of_all(launch) || (launch->invocations && gt_launch_alike(launch, &kernel->kernel));
}

/* The mean over those of these kernels that have the metric; over all it is the value of an application in [004] 5.1. */
static bool mean_of(const struct gt_report *report, const struct gt_reference_launch *launch,
		    const struct gt_metric *metric, double *mean)
{
	double sum = 0, number;
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++)
		if (includes(launch, &report->kernels[i]) && told(gt_metric_of_kernel(metric, &report->kernels[i]), &number)) {
			sum += number;
			n++;
		}
	*mean = n ? sum / (double)n : 0;
	return n > 0;
}

static int compare_launch(struct gt_comparison *comparison, const struct gt_report *report,
			  const struct gt_reference_launch *launch, size_t match, struct gt_error *error)
{
	const struct gt_report_kernel *kernel = match == GT_NO_LAUNCH ? NULL : &report->kernels[match];
	bool mean = of_all(launch) || launch->invocations, present = of_all(launch) || kernel;
	uint64_t launches = 0;

	for (size_t i = 0; launch->invocations && i < report->n; i++)
		launches += includes(launch, &report->kernels[i]);
	present = present || launches;

	for (size_t i = 0; i < launch->n; i++) {
		const struct gt_reference_value *value = &launch->values[i];
		struct gt_comparison_row row = {.kernel = launch->name, .line = launch->line, .metric = value->metric,
						.hardware = value->value, .grid = launch->grid, .block = launch->block};
		if (kernel) {
			row.id = kernel->kernel.id;
			row.grid = kernel->kernel.grid;
			row.block = kernel->kernel.block;
		}
		bool has = mean ? mean_of(report, launch, value->metric, &row.ours)
				: kernel && told(gt_metric_of_kernel(value->metric, kernel), &row.ours);
		row.note = value->flag == GT_REFERENCE_IMPOSSIBLE ? GT_IMPOSSIBLE
			   : !present				    ? GT_NOT_IN_MODEL
			   : !has				    ? GT_NOT_TOLD
			   : value->flag == GT_REFERENCE_RECOMPUTED ? GT_COMPARED_RECOMPUTED
			   : launches != launch->invocations	    ? GT_COMPARED_LAUNCHES
								    : GT_COMPARED;
		if (add(comparison, &row, error) != 0)
			return -1;
	}
	return 0;
}

/* Adds the kernels of the report that match no launch of the reference. */
static int add_unmatched(struct gt_comparison *comparison, const struct gt_report *report, const bool *matched,
			 struct gt_error *error)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_kernel *kernel = &report->kernels[i].kernel;
		struct gt_comparison_row row = {.kernel = kernel->name, .id = kernel->id, .grid = kernel->grid,
						.block = kernel->block, .note = GT_NOT_IN_REFERENCE};
		if (!matched[i] && add(comparison, &row, error) != 0)
			return -1;
	}
	return 0;
}

int gt_compare(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
	       struct gt_error *error)
{
	size_t *matches = gt_match_launches(report, reference, error);
	bool *matched = calloc(report->n + 1, sizeof *matched);
	int result = matches && matched ? 0 : gt_fail_memory(error, "the comparison");

	*comparison = (struct gt_comparison){.others = reference->others, .n_others = reference->n_others};
	for (size_t i = 0; result == 0 && i < reference->n; i++) {
		bool mean = of_all(&reference->launches[i]) || reference->launches[i].invocations;
		for (size_t k = 0; mean && k < report->n; k++)
			matched[k] = matched[k] || includes(&reference->launches[i], &report->kernels[k]);
		if (matches[i] != GT_NO_LAUNCH)
			matched[matches[i]] = true;
		result = compare_launch(comparison, report, &reference->launches[i], matches[i], error);
	}
	if (result == 0)
		result = add_unmatched(comparison, report, matched, error);
	free(matches);
	free(matched);
	return result;
}

void gt_comparison_clear(struct gt_comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct gt_comparison){0};
}

int gt_comparison_errors(const struct gt_comparison *comparison, struct gt_errors *errors, struct gt_error *error)
{
	for (size_t i = 0; i < comparison->n; i++) {
		const struct gt_comparison_row *row = &comparison->rows[i];
		if (row->note <= GT_COMPARED_LAST &&
		    gt_errors_add(errors, row->metric->name, row->metric->unit, row->hardware, row->ours, error) != 0)
			return -1;
	}
	return 0;
}
