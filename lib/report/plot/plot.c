/* SPDX-License-Identifier: MIT */
#include "report/plot/plot.h"

#include <string.h>

#include "base/utf8.h"
#include "counter/counter.h"

const struct gt_plot_kind gt_plot_kinds[] = {
	{"histogram", "distance", "count", "kernel,pc,op,array", NULL,
	 "reuse distance (lines; a bin begins at its label)", "references", GT_BOXES, gt_plot_histogram},
	{"csdd", "distance", "fraction", "kernel,pc,op,array", NULL,
	 "reuse distance (lines)", "references of a shorter distance (fraction of all)", GT_STEPS, gt_plot_lines},
	{"curve", "bytes", "miss_ratio", "kernel,pc,op,array,sets", NULL, NULL,
	 "miss ratio", GT_STEPS, gt_plot_lines},
	{"coalescing", "line", "graph0", NULL, NULL,
	 "4 bytes of the 128 from the warp's first sector on", "lanes", GT_BOXES, gt_plot_coalescing},
	{"bars", NULL, NULL, NULL, NULL, NULL, NULL, GT_BOXES, gt_plot_bars},
	{"scatter", NULL, NULL, NULL, NULL, NULL, NULL, GT_POINTS, gt_plot_lines},
	{"sweep", NULL, NULL, NULL, NULL, NULL, NULL, GT_LINES_POINTS, gt_plot_lines},
	{"mru", "position", "count", "kernel,stage,pc,op,array", "mru",
	 "position in the LRU stack (0: most recently used)", "hits", GT_BOXES, gt_plot_mru},
	{"pchase", "N", "latency", NULL, NULL, NULL, NULL, GT_POINTS, gt_plot_pchase},
};
const size_t gt_plot_kinds_n = sizeof gt_plot_kinds / sizeof *gt_plot_kinds;

/* Columns whose name says less than it should. Those of gstats have their words in counter.c. */
static const struct {
	const char *column, *words;
	enum gt_numbers numbers;
} known[] = {
	{"N", "size of the array (bytes)", GT_SIZES},
	{"bytes", "cache size (bytes)", GT_SIZES},
	{"size", "size (bytes)", GT_SIZES},
	{"line", "line (bytes)", GT_SIZES},
	{"lines", "cache size (lines)", GT_SIZES},
	{"ways", "ways (lines a set)", GT_PLAIN},
	{"offset", "place in the array (bytes)", GT_SIZES},
	{"latency", "latency (cycles)", GT_PLAIN},
	{"distance", "reuse distance (lines)", GT_SIZES},
	{"fraction", "fraction of all references", GT_PLAIN},
	{"miss_rate", "miss rate (%)", GT_PLAIN},
	{"degree", "degree of coalescing (%)", GT_PLAIN},
	{"expected", "sectors a request, expected", GT_PLAIN},
	{"sectors", "sectors a request", GT_PLAIN},
	{"hits", "references", GT_PLAIN},
	{"misses", "references", GT_PLAIN},
	{"compulsory", "references", GT_PLAIN},
	{"capacity", "references", GT_PLAIN},
	{"conflict", "references", GT_PLAIN},
	{"compulsory_ratio", "fraction of all references", GT_PLAIN},
	{"capacity_ratio", "fraction of all references", GT_PLAIN},
};

const struct gt_plot_kind *gt_plot_kind(const char *name)
{
	for (size_t i = 0; i < gt_plot_kinds_n; i++)
		if (strcmp(gt_plot_kinds[i].name, name) == 0)
			return &gt_plot_kinds[i];
	return NULL;
}

const char *gt_plot_x(const struct gt_plot *plot)
{
	return plot->options->x ? plot->options->x : plot->kind->x;
}

const char *gt_plot_y(const struct gt_plot *plot)
{
	return plot->options->y ? plot->options->y : plot->kind->y;
}

/* "l1.read_hits": the stage, the counter, and the unit of the table of counters. */
static bool counter_words(const char *column, char *words, size_t room, enum gt_numbers *numbers)
{
	char stage[GT_FIGURE_TEXT];
	const char *dot = strchr(column, '.');

	if (!dot || (size_t)(dot - column) >= sizeof stage)
		return false;
	memcpy(stage, column, (size_t)(dot - column));
	stage[dot - column] = '\0';
	const struct gt_counter *about = gt_counter_about(stage, dot + 1);
	if (about->unit)
		snprintf(words, room, "%s %s (%s)", stage, dot + 1, about->unit);
	else
		snprintf(words, room, "%s %s", stage, dot + 1);
	if (about->print == GT_PRINT_SIZE)
		*numbers = GT_SIZES;
	return true;
}

void gt_plot_words(const char *column, char words[GT_FIGURE_TEXT], enum gt_numbers *numbers)
{
	char raw[GT_FIGURE_TEXT * 4];

	snprintf(raw, sizeof raw, "%s", column);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].column, column) == 0) {
			snprintf(raw, sizeof raw, "%s", known[i].words);
			*numbers = known[i].numbers;
		}
	if (!counter_words(column, raw, sizeof raw, numbers))
		for (char *at = raw; *at; at++)
			*at = *at == '_' ? ' ' : *at;
	size_t length = strlen(raw);
	if (length > 4 && strcmp(raw + length - 4, " pct") == 0)
		memcpy(raw + length - 3, "(%)", 3);
	gt_utf8_tidy(raw, 31, words);
}

/* Words that the options or the kind have for an axis. */
static void label(const char *option, const char *kind, char words[GT_FIGURE_TEXT])
{
	char tidy[4 * 120 + 1];

	if (option || (kind && !words[0]))
		snprintf(words, GT_FIGURE_TEXT, "%s", gt_utf8_tidy(option ? option : kind, 120, tidy));
}

int gt_plot_figure(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	const struct gt_plot_options *options = plot->options;

	gt_figure_begin(figure);
	figure->style = plot->kind->style;
	figure->diagonal = options->diagonal;
	label(options->title, NULL, figure->title);
	label(NULL, plot->kind->x_label, figure->x.label);
	label(NULL, plot->kind->y_label, figure->y.label);
	if (plot->kind->draw(plot, figure, error) != 0)
		return -1;
	label(options->x_label, NULL, figure->x.label);
	label(options->y_label, NULL, figure->y.label);
	if (figure->series_n == 0)
		return gt_fail(error, "expected rows to draw; none has a number and meets every --where");
	return gt_figure_thin(figure, error);
}
