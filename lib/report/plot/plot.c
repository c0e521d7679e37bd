/* SPDX-License-Identifier: MIT */
#include "report/plot/plot.h"

#include <string.h>

#include "base/utf8.h"

static const struct gt_plot_kind kinds[] = {
	{"histogram", "distance", "count", "kernel,pc,op,array", NULL, NULL,
	 "reuse distance (lines; a bin begins at its label)", "references", GT_BOXES, gt_plot_histogram},
	{"csdd", "distance", "fraction", "kernel,pc,op,array", NULL, NULL,
	 "reuse distance (lines)", "references of a shorter distance (fraction of all)", GT_STEPS, gt_plot_lines},
	{"curve", "bytes", "miss_ratio", "kernel,pc,op,array,sets", NULL, NULL, NULL,
	 "miss ratio", GT_STEPS, gt_plot_lines},
	{"coalescing", "op", "graph0", NULL, NULL, NULL,
	 "4-byte units of the 128 bytes from the warp's first sector", "lanes", GT_BOXES, gt_plot_coalescing},
	{"bars", NULL, NULL, NULL, NULL, NULL, NULL, NULL, GT_BOXES, gt_plot_bars},
	{"scatter", "hardware", "ours", NULL, "metric", NULL, NULL, NULL, GT_POINTS, gt_plot_lines},
	{"sweep", NULL, NULL, NULL, NULL, NULL, NULL, NULL, GT_LINES_POINTS, gt_plot_lines},
	{"mru", "position", "count", "kernel,stage,pc,op,array", NULL, "mru",
	 "position in the LRU stack (0: most recently used)", "hits", GT_BOXES, gt_plot_mru},
	{"pchase", "N", "latency", NULL, NULL, NULL, NULL, NULL, GT_POINTS, gt_plot_pchase},
};
static const size_t kinds_n = sizeof kinds / sizeof *kinds;

const struct gt_plot_kind *gt_plot_kind_find(const char *name)
{
	for (size_t i = 0; i < kinds_n; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
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
	if (figure->free && plot->kind->draw != gt_plot_lines)
		return gt_fail(error, "panels have axes of their own only where numbers are along x");
	label(plot->options->title, NULL, figure->title);
	label(NULL, plot->kind->x_label, figure->x.label);
	label(NULL, plot->kind->y_label, figure->y.label);
	return plot->kind->draw(plot, figure, error);
}

/* Completes the options by what the kind has for such a table: panels, and the diagonal between hardware and model. */
static void complete(const struct gt_plot *plot, struct gt_plot_options *options)
{
	const char *panel = plot->kind->panel;

	if (!panel || options->panel || options->by || gt_sheet_column(&plot->sheets[0], panel) < 0)
		return;
	options->panel = panel;
	options->free = true;
	options->diagonal = options->diagonal || !options->x;
}

int gt_plot_figure(const struct gt_plot *given, struct gt_figure *figure, struct gt_error *error)
{
	struct gt_plot_options options = *given->options;
	struct gt_plot completed = *given, *plot = &completed;

	completed.options = &options;
	complete(given, &options);
	int result = draw(plot, figure, error);
	if (result == GT_PLOT_NAMES) {
		struct gt_plot bars = *plot;
		bars.kind = gt_plot_kind_find("bars");
		gt_figure_clear(figure);
		result = draw(&bars, figure, error);
	}
	if (result != 0)
		return -1;
	label(plot->options->x_label, NULL, figure->x.label);
	label(plot->options->y_label, NULL, figure->y.label);
	if (figure->series_n == 0)
		return gt_fail(error, "expected rows to draw; none has a number and satisfies every --where");
	return gt_figure_thin(figure, error);
}
