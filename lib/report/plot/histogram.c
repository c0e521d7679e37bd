/* SPDX-License-Identifier: MIT */
/* The frequency of reuse distances: one by one if all are short, else in bins that double: 0, 1, 2 to 3, 4 to 7, ... A
 * wider bin of the table counts at its beginning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "report/plot/plot.h"

#define SINGLE 16 /* distances below this are drawn one by one, if all are below */

struct histogram {
	struct gt_figure *figure;
	struct gt_boxes boxes;
	double longest;
	bool infinite;
};

/* Until the longest is known, the place of a distance is the distance itself, or -1 if it is infinite. */
static int take(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct histogram *histogram = context;
	double distance;
	bool size, infinite = strcmp(pick->x, "inf") == 0;

	if (!infinite && (!gt_sheet_number(pick->x, &distance, &size) || distance < 0 || distance >= 0x1p62))
		return gt_fail(error, "%s, row %zu: expected a distance, found '%.60s'", pick->sheet->name, pick->row + 1, pick->x);
	if (infinite)
		histogram->infinite = true;
	else
		histogram->longest = fmax(histogram->longest, distance);
	return gt_boxes_add(&histogram->boxes, infinite ? SIZE_MAX : (size_t)distance, pick, pick->y, error);
}

static size_t bin_of(size_t distance, bool single)
{
	size_t bin = 0;

	if (single)
		return distance;
	for (; distance > 0; distance >>= 1)
		bin++;
	return bin;
}

/* Names the bins, and moves each count to its bin. */
static int bin(struct histogram *histogram, struct gt_error *error)
{
	bool single = histogram->longest < SINGLE;
	size_t bins = bin_of((size_t)histogram->longest, single) + 1;
	char name[32];

	for (size_t i = 0; i < bins; i++) {
		gt_format_size(single || i == 0 ? i : UINT64_C(1) << (i - 1), name);
		if (gt_figure_place(&histogram->figure->x, name, error) < 0)
			return -1;
	}
	if (histogram->infinite && gt_figure_place(&histogram->figure->x, "inf", error) < 0)
		return -1;
	for (size_t i = 0; i < histogram->boxes.n; i++) {
		size_t *place = &histogram->boxes.cells[i].place;
		*place = *place == SIZE_MAX ? bins : bin_of(*place, single);
	}
	if (single)
		snprintf(histogram->figure->x.label, sizeof histogram->figure->x.label, "reuse distance (lines)");
	return 0;
}

int gt_plot_histogram(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct histogram histogram = {.figure = figure};
	struct gt_error ignored;
	int result = gt_pick_each(plot, figure, take, &histogram, error);

	if (result == 0)
		result = bin(&histogram, error);
	return gt_boxes_put(&histogram.boxes, plot, figure, result == 0 ? error : &ignored) == 0 ? result : -1;
}
