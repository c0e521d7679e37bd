/* SPDX-License-Identifier: MIT */
/* The rows of a comparison with hardware. Launches of the reference and of the report are matched by name, shape, and ordinal among those of
 * that name and shape; then each value of the reference makes a row, and each launch that only the report has. */
#include "report/compare/compare.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "stream/kernel_name.h"

#define NO_LAUNCH SIZE_MAX

/* ---- matching launches ---- */

/* Whether a kernel has the name and the shapes of a launch; a shape that the launch does not give is any. */
static bool alike(const struct gt_reference_launch *launch, const struct gt_kernel *kernel)
{
	size_t length, other_length;
	const char *name = gt_name_plain(launch->name, &length), *other = gt_name_plain(kernel->name, &other_length);

	return length == other_length && memcmp(name, other, length) == 0 &&
	       (!launch->grid[0] || memcmp(launch->grid, kernel->grid, sizeof launch->grid) == 0) &&
	       (!launch->block[0] || memcmp(launch->block, kernel->block, sizeof launch->block) == 0);
}

/* The hash of a name and of the shapes that are to be compared; an excluded shape counts as absent. */
static uint64_t likeness(const char *name, const uint32_t grid[3], const uint32_t block[3], bool with_grid,
			 bool with_block)
{
	size_t length;
	const char *plain = gt_name_plain(name, &length);
	uint64_t key = XXH3_64bits_withSeed(plain, length, (uint64_t)with_grid + 2U * with_block);

	if (with_grid)
		key = XXH3_64bits_withSeed(grid, 3 * sizeof *grid, key);
	return with_block ? XXH3_64bits_withSeed(block, 3 * sizeof *block, key) : key;
}

static uint64_t numbered(uint64_t key, uint64_t ordinal)
{
	key = XXH3_64bits_withSeed(&ordinal, sizeof ordinal, key);
	return key - (key == GT_MAP_EMPTY);
}

/* The next ordinal among launches with this key, from 1; 0 when memory is short. */
static uint64_t next_ordinal(struct gt_map *ordinals, uint64_t key)
{
	int fresh;
	uint64_t *count = gt_map_put(ordinals, numbered(key, 0), 0, &fresh);

	return count ? ++*count : 0;
}

/* Enters each kernel under its name with and without its shapes. */
static int index_kernels(const struct gt_report *report, struct gt_map *places, struct gt_map *ordinals)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_kernel *kernel = &report->kernels[i].kernel;
		for (unsigned with = 0; with < 4; with++) {
			uint64_t key = likeness(kernel->name, kernel->grid, kernel->block, with & 1, with & 2);
			uint64_t ordinal = next_ordinal(ordinals, key);
			int fresh;
			if (ordinal == 0 || !gt_map_put(places, numbered(key, ordinal), i, &fresh))
				return -1;
		}
	}
	return 0;
}

static int match_all(const struct gt_reference *reference, const struct gt_map *places, struct gt_map *ordinals,
		     size_t *matches)
{
	for (size_t i = 0; i < reference->n; i++) {
		const struct gt_reference_launch *launch = &reference->launches[i];
		if (launch->invocations) {
			matches[i] = NO_LAUNCH;
			continue;
		}
		uint64_t key = likeness(launch->name, launch->grid, launch->block, launch->grid[0] > 0, launch->block[0] > 0);
		uint64_t ordinal = launch->ordinal ? launch->ordinal : next_ordinal(ordinals, key);
		matches[i] = NO_LAUNCH;
		if (ordinal == 0)
			return -1;
		const uint64_t *place = gt_map_get(places, numbered(key, ordinal));
		if (place && strcmp(launch->name, GT_REFERENCE_ALL) != 0)
			matches[i] = (size_t)*place;
	}
	return 0;
}

/* For each launch of the reference, the index of the report's kernel that matches it, or NO_LAUNCH.
 * GT_REFERENCE_ALL and summaries match none. A shape that the reference does not give matches any. A launch of the reference
 * without an ordinal is the next with that name and shape. Returns an array to be freed, or NULL when memory is
 * short. */
static size_t *match_launches(const struct gt_report *report, const struct gt_reference *reference, struct gt_error *error)
{
	size_t *matches = malloc((reference->n + 1) * sizeof *matches);
	struct gt_map places = {0}, ordinals = {0};
	int result = -1;

	if (matches && gt_map_open(&places, 4 * report->n, error) == 0 && gt_map_open(&ordinals, 0, error) == 0)
		result = index_kernels(report, &places, &ordinals);
	if (result == 0) {
		gt_map_clear(&ordinals);
		result = match_all(reference, &places, &ordinals, matches);
	}
	gt_map_close(&places);
	gt_map_close(&ordinals);
	if (result == 0)
		return matches;
	free(matches);
	gt_fail_memory(error, "matching kernels");
	return NULL;
}

/* ---- rows ---- */

const char *const gt_comparison_notes[GT_COMPARISON_NOTES] = {
	[GT_COMPARED] = "",
	[GT_COMPARED_RECOMPUTED] = "recomputed",
	[GT_COMPARED_LAUNCHES] = "other number of launches",
	[GT_IMPOSSIBLE] = "impossible",
	[GT_NOT_TOLD] = "not modelled",
	[GT_NOT_IN_MODEL] = "not in the model",
	[GT_NOT_IN_REFERENCE] = "not in the reference",
};

int gt_comparison_add(struct gt_comparison *comparison, const struct gt_comparison_row *row, struct gt_error *error)
{
	struct gt_comparison_row *bigger =
		gt_grown(comparison->rows, comparison->n, &comparison->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the comparison");
	comparison->rows = bigger;
	bigger[comparison->n++] = *row;
	return 0;
}

static bool number_of(struct gt_metric_value value, double *number)
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
	return of_all(launch) || (launch->invocations && alike(launch, &kernel->kernel));
}

/* The mean over those of these kernels that have the metric; over all it is the value of an application in [004] 5.1. */
static bool mean_of(const struct gt_report *report, const struct gt_reference_launch *launch,
		    const struct gt_metric *metric, double *mean)
{
	double sum = 0, number;
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++)
		if (includes(launch, &report->kernels[i]) && number_of(gt_metric_of_kernel(metric, &report->kernels[i]), &number)) {
			sum += number;
			n++;
		}
	*mean = n ? sum / (double)n : 0;
	return n > 0;
}

static int compare_launch(struct gt_comparison *comparison, const struct gt_report *report,
			  const struct gt_reference_launch *launch, size_t match, struct gt_error *error)
{
	const struct gt_report_kernel *kernel = match == NO_LAUNCH ? NULL : &report->kernels[match];
	bool mean = of_all(launch) || launch->invocations, present = of_all(launch) || kernel;
	uint64_t launches = 0;

	for (size_t i = 0; launch->invocations && i < report->n; i++)
		launches += includes(launch, &report->kernels[i]);
	present = present || launches;

	for (size_t i = 0; i < launch->n; i++) {
		const struct gt_reference_value *value = &launch->values[i];
		struct gt_comparison_row row = {.kernel = launch->name, .line = launch->line, .metric = value->metric->name,
						.unit = value->metric->unit, .hardware = value->value, .grid = launch->grid, .block = launch->block};
		if (kernel) {
			row.id = kernel->kernel.id;
			row.grid = kernel->kernel.grid;
			row.block = kernel->kernel.block;
		}
		bool has = mean ? mean_of(report, launch, value->metric, &row.ours)
				: kernel && number_of(gt_metric_of_kernel(value->metric, kernel), &row.ours);
		row.note = value->flag == GT_REFERENCE_IMPOSSIBLE ? GT_IMPOSSIBLE
			   : !present				    ? GT_NOT_IN_MODEL
			   : !has				    ? GT_NOT_TOLD
			   : value->flag == GT_REFERENCE_RECOMPUTED ? GT_COMPARED_RECOMPUTED
			   : launches != launch->invocations	    ? GT_COMPARED_LAUNCHES
								    : GT_COMPARED;
		if (gt_comparison_add(comparison, &row, error) != 0)
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
		if (!matched[i] && gt_comparison_add(comparison, &row, error) != 0)
			return -1;
	}
	return 0;
}

int gt_compare_hardware(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
			struct gt_error *error)
{
	size_t *matches = match_launches(report, reference, error);
	bool *matched = calloc(report->n + 1, sizeof *matched);
	int result = matches && matched ? 0 : gt_fail_memory(error, "the comparison");

	for (size_t i = 0; result == 0 && i < reference->n; i++) {
		bool mean = of_all(&reference->launches[i]) || reference->launches[i].invocations;
		for (size_t k = 0; mean && k < report->n; k++)
			matched[k] = matched[k] || includes(&reference->launches[i], &report->kernels[k]);
		if (matches[i] != NO_LAUNCH)
			matched[matches[i]] = true;
		result = compare_launch(comparison, report, &reference->launches[i], matches[i], error);
	}
	if (result == 0)
		result = add_unmatched(comparison, report, matched, error);
	free(matches);
	free(matched);
	return result;
}

bool gt_comparison_differs(const struct gt_comparison_row *row)
{
	if (row->words[0] && row->words[1])
		return strcmp(row->words[0], row->words[1]) != 0;
	return row->note != GT_COMPARED || row->hardware < row->ours || row->hardware > row->ours;
}

bool gt_comparison_shows(const struct gt_comparison *comparison, const struct gt_comparison_row *row)
{
	return !comparison->of_saved || (!row->long_array && gt_comparison_differs(row));
}

void gt_comparison_clear(struct gt_comparison *comparison)
{
	free(comparison->rows);
	gt_names_close(&comparison->names);
	*comparison = (struct gt_comparison){0};
}
