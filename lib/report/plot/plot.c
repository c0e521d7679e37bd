/* SPDX-License-Identifier: MIT */
/* Makes a figure: completes the options by what the kind has, lets it draw, puts the labels of the options, and drops points
 * that would not be seen. */
#include "report/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const struct gt_plot_kind *const kinds[] = {
#define KIND(NAME) &gt_plot_##NAME,
	GT_PLOT_KINDS(KIND)
#undef KIND
};
static const size_t kinds_n = sizeof kinds / sizeof *kinds;

const struct gt_plot_kind *gt_plot_kind_find(const char *name)
{
	for (size_t i = 0; i < kinds_n; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

/* The label of an axis from the options or the kind. */
static void label(const char *option, const char *kind, char words[GT_FIGURE_TEXT])
{
	char tidy[4 * 120 + 1];

	if (option || (kind && !words[0]))
		snprintf(words, GT_FIGURE_TEXT, "%s", gt_utf8_tidy(option ? option : kind, 120, tidy));
}

static int draw(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	gt_figure_begin(figure);
	figure->style = plot->kind->style;
	figure->diagonal = plot->options->diagonal;
	figure->free = plot->options->free;
	if (figure->free && !plot->kind->may_be_free)
		return gt_fail(error, "panels have axes of their own only where numbers are along x");
	label(plot->options->title, NULL, figure->title);
	label(NULL, plot->kind->x_label, figure->x.label);
	label(NULL, plot->kind->y_label, figure->y.label);
	return plot->kind->draw(plot, figure, error);
}

/* Completes the options by what the kind has: the columns; for a table with its column of panels, these, and the diagonal
 * between hardware and model. */
static void complete(const struct gt_plot *plot, struct gt_plot_options *options)
{
	const char *panel = plot->kind->panel;

	if (panel && !options->panel && !options->by && gt_sheet_column(&plot->sheets[0], panel) >= 0) {
		options->panel = panel;
		options->free = true;
		options->diagonal = options->diagonal || !options->x;
	}
	options->x = options->x ? options->x : plot->kind->x;
	options->y = options->y ? options->y : plot->kind->y;
}

/* ---- points that would not be seen ---- */

#define THIN_FROM 2000 /* up to this number, all points are drawn */
#define CELLS 1024     /* a picture has fewer pixels than this along each side of a panel */

/* The pixel of a number, below CELLS. */
static size_t cell(double value, double least, double most, enum gt_scale scale)
{
	if (scale != GT_LINEAR) {
		value = log2(value);
		least = log2(least);
		most = log2(most);
	}
	double part = most > least ? (value - least) / (most - least) : 0;
	return part > 0 ? (size_t)(part * (CELLS - 1)) : 0; /* false for NaN too */
}

/* Drops points that fall on the same pixels as their neighbours, so that a million points become a few thousand. */
static int thin(struct gt_figure *figure, struct gt_error *error)
{
	bool cloud = figure->style == GT_POINTS;
	unsigned char *drawn = calloc(CELLS, CELLS);

	if (!drawn)
		return gt_fail_memory(error, "a picture");
	for (size_t i = 0; i < figure->series_n; i++) {
		struct gt_figure_series *series = &figure->series[i];
		size_t kept = 0, last_x = CELLS, last_y = CELLS;
		if (series->n <= THIN_FROM || figure->style == GT_BOXES)
			continue;
		struct gt_extent extent = gt_figure_extent_of(figure, series->panel);
		enum gt_scale along = figure->free ? figure->panel_x[series->panel].scale : figure->x.scale;
		enum gt_scale up = figure->free ? figure->panel_y[series->panel].scale : figure->y.scale;
		memset(drawn, 0, (size_t)CELLS * CELLS);
		for (size_t j = 0; j < series->n; j++) {
			struct gt_point *point = &series->points[j];
			size_t x = cell(point->x, extent.x_least, extent.x_most, along);
			size_t y = cell(point->y, extent.y_least, extent.y_most, up);
			bool same = cloud ? drawn[y * CELLS + x] : x == last_x && y == last_y && j + 1 < series->n;
			drawn[y * CELLS + x] = 1;
			last_x = x;
			last_y = y;
			if (!same)
				series->points[kept++] = *point;
		}
		series->n = kept;
	}
	free(drawn);
	return 0;
}

/* ---- the figure ---- */

int gt_plot_figure(const struct gt_plot *given, struct gt_figure *figure, struct gt_error *error)
{
	struct gt_plot_options options = *given->options;
	struct gt_plot completed = *given, *plot = &completed;

	completed.options = &options;
	complete(given, &options);
	int result = draw(plot, figure, error);
	if (result == GT_PLOT_NAMES) {
		struct gt_plot bars = *plot;
		bars.kind = &gt_plot_bars;
		gt_figure_clear(figure);
		result = draw(&bars, figure, error);
	}
	if (result != 0)
		return -1;
	label(plot->options->x_label, NULL, figure->x.label);
	label(plot->options->y_label, NULL, figure->y.label);
	if (figure->series_n == 0)
		return gt_fail(error, "expected rows to draw; none has a number and satisfies every --where");
	return thin(figure, error);
}
