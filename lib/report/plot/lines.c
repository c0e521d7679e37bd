/* SPDX-License-Identifier: MIT */
/* Numbers against numbers: csdd, curve, scatter and sweep differ in columns and style. A sweep over names (mod, xor ...)
 * has no numbers along x and becomes bars. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot/pick.h"

struct lines {
	struct gt_figure *figure;
	bool sizes;  /* some x is written as a size */
	bool names;  /* some x is not a number */
	bool errors; /* some y has an error */
};

static int add_row(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct lines *lines = context;
	struct gt_point point = {.y = pick->y, .low = pick->y, .width = pick->y};
	int column = gt_sheet_column(pick->sheet, "error");
	double uncertain = 0;
	bool size = false;

	if (!gt_sheet_number(pick->x, &point.x, &lines->sizes)) {
		lines->names = true;
		return 0;
	}
	if (column >= 0 && gt_sheet_number(gt_sheet_cell(pick->sheet, pick->row, (size_t)column), &uncertain, &size) &&
	    uncertain > 0) {
		lines->errors = true;
		point.low = fmax(pick->y - uncertain, 0);
		point.width = fmin(pick->y + uncertain, 1);
	}
	return gt_figure_point(&lines->figure->series[pick->series], point, error);
}

static int by_x(const void *left, const void *right)
{
	const struct gt_point *a = left, *b = right;

	return (a->x > b->x) - (a->x < b->x);
}

/* Sorts each line along x. Two values at one x are an error: --by must separate the lines. */
static int sort(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	for (size_t i = 0; i < figure->series_n; i++) {
		struct gt_figure_series *series = &figure->series[i];
		if (series->n > 0)
			qsort(series->points, series->n, sizeof *series->points, by_x);
		for (size_t j = 1; j < series->n; j++)
			if (series->points[j].x == series->points[j - 1].x)
				return gt_fail(error, "several rows%s%s have %s %g: --by names the column that tells them apart, --where chooses",
					       series->name[0] ? " of " : "", series->name, plot->options->x, series->points[j].x);
	}
	return 0;
}

#define BEYOND 1.2 /* factor by which steps continue after the last x */

/* Extends each series from its last step to the end of the axis, since its value no longer changes. */
static int go_on(struct gt_figure *figure, struct gt_error *error)
{
	double end = gt_figure_extent(figure).x_most * BEYOND;

	for (size_t i = 0; i < figure->series_n; i++) {
		struct gt_figure_series *series = &figure->series[i];
		struct gt_point last = series->n > 0 ? series->points[series->n - 1] : (struct gt_point){0};
		last.x = end;
		if (series->n > 0 && gt_figure_point(series, last, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether all x are powers of two (including 1/4 and 1/2), or sizes, over a wide range. */
static bool doubling(const struct gt_figure *figure, bool sizes)
{
	struct gt_extent extent = gt_figure_extent(figure);
	int exponent;

	if (extent.x_least <= 0 || extent.x_most < 8 * extent.x_least)
		return false;
	for (size_t i = 0; i < figure->series_n && !sizes; i++)
		for (size_t j = 0; j < figure->series[i].n; j++)
			if (frexp(figure->series[i].points[j].x, &exponent) != 0.5)
				return false;
	return true;
}

/* A place for 0 on a logarithmic axis whose other values begin at `least`. */
static double below(enum gt_scale scale, double least)
{
	if (!isfinite(least))
		return 0;
	return scale == GT_LOG2 ? exp2(floor(log2(least)) - 1) : pow(10, floor(log10(least)) - 1);
}

/* The least value above 0 of a panel, or of all, along x or y; INFINITY if there is none. */
static double least_above_0(const struct gt_figure *figure, size_t panel, bool x)
{
	double least = INFINITY;

	for (size_t i = 0; i < figure->series_n; i++)
		for (size_t j = 0; j < figure->series[i].n && (!figure->free || figure->series[i].panel == panel); j++) {
			double value = x ? figure->series[i].points[j].x : figure->series[i].points[j].y;
			least = value > 0 ? fmin(least, value) : least;
		}
	return least;
}

static bool wide(double least, double above_0, double most)
{
	return least >= 0 && most >= 1000 * above_0;
}

static void choose_scales(const struct gt_plot *plot, const struct gt_figure *figure, size_t panel, struct gt_axis *along,
			  struct gt_axis *up)
{
	struct gt_extent extent = gt_figure_extent_of(figure, panel);
	double x_above_0 = least_above_0(figure, panel, true), y_above_0 = least_above_0(figure, panel, false);
	const char *log = plot->options->log;
	bool cloud = figure->style == GT_POINTS;
	if (figure->diagonal) {
		extent.x_least = extent.y_least = fmin(extent.x_least, extent.y_least);
		extent.x_most = extent.y_most = fmax(extent.x_most, extent.y_most);
		x_above_0 = y_above_0 = fmin(x_above_0, y_above_0);
	}
	bool x = log ? strchr(log, 'x') != NULL : cloud && wide(extent.x_least, x_above_0, extent.x_most);
	bool y = log ? strchr(log, 'y') != NULL : cloud && wide(extent.y_least, y_above_0, extent.y_most);

	if ((!log && !cloud && doubling(figure, along->numbers == GT_SIZES)) || (x && along->numbers == GT_SIZES))
		along->scale = GT_LOG2;
	else if (x)
		along->scale = GT_LOG10;
	if (y)
		up->scale = up->numbers == GT_SIZES ? GT_LOG2 : GT_LOG10;
	up->from_zero = !y;
	along->from_zero = along->scale == GT_LINEAR && (cloud || extent.x_least <= extent.x_most / 4);
	if (along->scale != GT_LINEAR && extent.x_least <= 0)
		along->zero = below(along->scale, x_above_0);
	if (up->scale != GT_LINEAR && extent.y_least <= 0)
		up->zero = below(up->scale, y_above_0);
}

/* Moves values of 0 to their place on a logarithmic axis. A value below 0 has none there. */
static int lift(double *value, const struct gt_axis *axis, const char *column, struct gt_error *error)
{
	if (axis->scale == GT_LINEAR || *value > 0)
		return 0;
	if (*value < 0 || !(axis->zero > 0))
		return gt_fail(error, "expected '%s' above 0 on a logarithmic axis, found %g", column, *value);
	*value = axis->zero;
	return 0;
}

static int lift_points(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	for (size_t i = 0; i < figure->series_n; i++) {
		struct gt_figure_series *series = &figure->series[i];
		const struct gt_axis *x = figure->free ? &figure->panel_x[series->panel] : &figure->x;
		const struct gt_axis *y = figure->free ? &figure->panel_y[series->panel] : &figure->y;
		for (size_t j = 0; j < series->n; j++)
			if (lift(&series->points[j].x, x, plot->options->x, error) != 0 ||
			    lift(&series->points[j].y, y, plot->options->y, error) != 0)
				return -1;
	}
	return 0;
}

static int draw_lines(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct lines lines = {.figure = figure};
	const char *x = plot->options->x, *y = plot->options->y;

	if (gt_pick_each(plot, figure, add_row, &lines, error) != 0)
		return -1;
	if (lines.names) {
		if (figure->style != GT_LINES_POINTS)
			return gt_fail(error, "expected numbers in column '%s'; kind bars draws names", x);
		return GT_PLOT_NAMES;
	}
	if (!figure->x.label[0])
		gt_plot_words(x, figure->x.label, &figure->x.numbers);
	else if (strcmp(x, "distance") == 0)
		figure->x.numbers = GT_SIZES;
	if (lines.sizes)
		figure->x.numbers = GT_SIZES;
	if (strstr(y, "ratio") || strcmp(y, "fraction") == 0)
		figure->y.end = 1;
	figure->margins = lines.errors;
	for (size_t i = 0; figure->free && i < figure->panels_n; i++) {
		figure->panel_x[i] = figure->x;
		figure->panel_y[i] = figure->y;
		choose_scales(plot, figure, i, &figure->panel_x[i], &figure->panel_y[i]);
	}
	if (!figure->free)
		choose_scales(plot, figure, 0, &figure->x, &figure->y);
	if (lift_points(plot, figure, error) != 0)
		return -1;
	if (figure->style == GT_POINTS)
		return 0;
	if (sort(plot, figure, error) != 0)
		return -1;
	return figure->style == GT_STEPS ? go_on(figure, error) : 0;
}

const struct gt_plot_kind gt_plot_csdd = {
	.name = "csdd", .x = "distance", .y = "fraction", .by = "kernel,pc,op,array",
	.x_label = "reuse distance (lines)", .y_label = "references of a shorter distance (fraction of all)",
	.style = GT_STEPS, .may_be_free = true, .draw = draw_lines,
};

const struct gt_plot_kind gt_plot_curve = {
	.name = "curve", .x = "bytes", .y = "miss_ratio", .by = "kernel,pc,op,array,sets", .y_label = "miss ratio",
	.style = GT_STEPS, .may_be_free = true, .draw = draw_lines,
};

const struct gt_plot_kind gt_plot_scatter = {
	.name = "scatter", .x = "hardware", .y = "ours", .panel = "metric",
	.style = GT_POINTS, .may_be_free = true, .draw = draw_lines,
};

const struct gt_plot_kind gt_plot_sweep = {.name = "sweep", .style = GT_LINES_POINTS, .may_be_free = true, .draw = draw_lines};
