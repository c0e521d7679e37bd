/* SPDX-License-Identifier: MIT */
/* Numbers against numbers: csdd, curve, scatter and sweep differ in columns and style. A sweep over names (mod, xor ...)
 * has no numbers along x and becomes bars. The points that no other beats in both numbers are their front. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/format.h"
#include "report/metric.h"
#include "report/plot/pick.h"

/* A point, and where it is from. */
struct candidate {
	double x, y;
	double cost; /* what is to be small: y, or -y */
	size_t sheet, row, panel;
};

struct lines {
	struct gt_figure *figure;
	struct candidate *candidates; /* for the front; owned */
	size_t n, capacity;
	bool pareto;
	bool most; /* y is a share of hits, which is to be large */
	bool sizes;  /* some x is written as a size */
	bool names;  /* some x is not a number */
	bool errors; /* some y has an error */
};

static int add_candidate(struct lines *lines, const struct gt_pick *pick, double x, struct gt_error *error)
{
	struct candidate *bigger = gt_grown(lines->candidates, lines->n, &lines->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the front");
	lines->candidates = bigger;
	bigger[lines->n++] = (struct candidate){.x = x, .y = pick->y, .cost = lines->most ? -pick->y : pick->y, .sheet = pick->file,
						.row = pick->row, .panel = lines->figure->series[pick->series].panel};
	return 0;
}

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
	if (lines->pareto && add_candidate(lines, pick, point.x, error) != 0)
		return -1;
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

/* ---- the front ---- */

static bool ends(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return n <= length && strncmp(text + length - n, end, n) == 0;
}

/* Whether y is a share of hits: a column that ends so, or hits in percent of something; then *whole is all of it. */
static bool is_hits(const char *y, double *whole)
{
	const char *column = strchr(y, '=') ? strchr(y, '=') + 1 : y;
	size_t length = strcspn(column, "/");
	bool quotient = column[length] == '/', fraction = ends(column, length, "hit_ratio");

	*whole = !quotient && fraction ? 1 : 100;
	return quotient ? ends(column, length, "hits")
			: fraction || ends(column, length, "hit_rate") || ends(column, length, "hit_rate.pct");
}

/* By panel, then by rising x, the better one first. */
static int by_place(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->panel != b->panel)
		return a->panel < b->panel ? -1 : 1;
	if (a->x < b->x || a->x > b->x)
		return a->x < b->x ? -1 : 1;
	if (a->cost < b->cost || a->cost > b->cost)
		return a->cost < b->cost ? -1 : 1;
	if (a->sheet != b->sheet)
		return a->sheet < b->sheet ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Moves the points of a panel that no other beats to the front of it, and returns how many they are. Equal points do not beat each
 * other. */
static size_t keep_front(struct candidate *points, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct candidate *last = kept ? &points[kept - 1] : NULL;
		if (!last || points[i].cost < last->cost || (points[i].x <= last->x && points[i].cost <= last->cost))
			points[kept++] = points[i];
	}
	return kept;
}

/* The index of the knee of a front, or n: misses are y, or what is missing of all hits. At the least and at the largest x of all
 * points it is not known. */
static int find_knee(const struct candidate *front, size_t n, double whole, double most_x, size_t *knee, struct gt_error *error)
{
	double *misses = malloc((n + 1) * sizeof *misses);

	if (!misses)
		return gt_fail_memory(error, "the front");
	for (size_t i = 0; i < n; i++)
		misses[i] = whole > 0 ? whole - front[i].y : front[i].y;
	*knee = gt_knee(misses, n);
	if (*knee < n && (front[*knee].x <= front[0].x || front[*knee].x >= most_x))
		*knee = n;
	free(misses);
	return 0;
}

static int add_front_row(struct gt_figure *figure, const struct candidate *point, bool knee, struct gt_error *error)
{
	struct gt_front_row *bigger = gt_grown(figure->front, figure->front_n, &figure->front_capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "the front");
	figure->front = bigger;
	bigger[figure->front_n++] = (struct gt_front_row){point->sheet, point->row, knee};
	return 0;
}

/* Adds the front of one panel's points as a series. */
static int add_panel_front(struct lines *lines, const char *name, struct candidate *points, size_t n, double whole, struct gt_error *error)
{
	struct gt_figure *figure = lines->figure;
	double most_x = points[n - 1].x;
	size_t kept = keep_front(points, n), knee = kept;
	int series = gt_figure_series_of(figure, points[0].panel, name, error);

	if (series < 0 || find_knee(points, kept, whole, most_x, &knee, error) != 0)
		return -1;
	figure->series[series].is_front = true;
	for (size_t i = 0; i < kept; i++) {
		struct gt_point point = {points[i].x, points[i].y, points[i].y, points[i].y};
		bool again = i > 0 && points[i].x <= points[i - 1].x; /* an equal one */
		if (add_front_row(figure, &points[i], i == knee, error) != 0 ||
		    (!again && gt_figure_point(&figure->series[series], point, error) != 0))
			return -1;
	}
	if (knee < kept && figure->panels_n == 0)
		figure->marks[figure->marks_n++] = points[knee].x;
	return 0;
}

/* Adds the fronts of all panels, and says in their name what is to be small and large. */
static int add_fronts(const struct gt_plot *plot, struct lines *lines, struct gt_error *error)
{
	struct gt_figure *figure = lines->figure;
	char name[GT_FIGURE_TEXT];
	double whole;
	size_t end;

	whole = is_hits(plot->options->y, &whole) ? whole : 0;
	snprintf(name, sizeof name, "front: least x, %s y", lines->most ? "most" : "least");
	snprintf(figure->front_text, sizeof figure->front_text, "least %.150s, %s %.150s", plot->options->x, lines->most ? "most" : "least",
		 plot->options->y);
	for (size_t i = 0; i < figure->series_n; i++)
		if (!figure->series[i].name[0])
			snprintf(figure->series[i].name, sizeof figure->series[i].name, "all");
	if (lines->n > 0)
		qsort(lines->candidates, lines->n, sizeof *lines->candidates, by_place);
	for (size_t begin = 0; begin < lines->n; begin = end) {
		for (end = begin + 1; end < lines->n && lines->candidates[end].panel == lines->candidates[begin].panel; end++)
			;
		if (add_panel_front(lines, name, &lines->candidates[begin], end - begin, whole, error) != 0)
			return -1;
	}
	return 0;
}

static void write_cell(const char *cell, FILE *to)
{
	gt_csv_field(cell, false, to);
	putc(',', to);
}

void gt_plot_write_front(const struct gt_figure *figure, const struct gt_sheet *sheet, FILE *to)
{
	for (size_t column = 0; column < sheet->columns; column++)
		write_cell(gt_sheet_name(sheet, column), to);
	fputs("knee\n", to);
	for (size_t i = 0; i < figure->front_n; i++) {
		for (size_t column = 0; column < sheet->columns; column++)
			write_cell(gt_sheet_cell(sheet, figure->front[i].row, column), to);
		fputs(figure->front[i].knee ? "yes\n" : "no\n", to);
	}
}

/* ---- the axes ---- */

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

static int draw_picked(const struct gt_plot *plot, struct lines *picked, struct gt_error *error)
{
	struct gt_figure *figure = picked->figure;
	const char *x = plot->options->x, *y = plot->options->y;

	if (picked->names) {
		if (figure->style != GT_LINES_POINTS || picked->pareto)
			return gt_fail(error, "expected numbers in column '%s'; kind bars draws names", x);
		return GT_PLOT_NAMES;
	}
	if (!figure->x.label[0])
		gt_plot_words(x, figure->x.label, &figure->x.numbers);
	else if (strcmp(x, "distance") == 0)
		figure->x.numbers = GT_SIZES;
	if (picked->sizes)
		figure->x.numbers = GT_SIZES;
	if (strstr(y, "ratio") || strcmp(y, "fraction") == 0)
		figure->y.end = 1;
	figure->margins = picked->errors;
	if (picked->pareto && add_fronts(plot, picked, error) != 0)
		return -1;
	for (size_t i = 0; figure->free && i < figure->panels_n; i++) {
		figure->panel_x[i] = figure->x;
		figure->panel_y[i] = figure->y;
		choose_scales(plot, figure, i, &figure->panel_x[i], &figure->panel_y[i]);
	}
	if (!figure->free)
		choose_scales(plot, figure, 0, &figure->x, &figure->y);
	if (picked->pareto)
		figure->style = GT_POINTS;
	if (lift_points(plot, figure, error) != 0)
		return -1;
	if (figure->style == GT_POINTS)
		return 0;
	if (sort(plot, figure, error) != 0)
		return -1;
	return figure->style == GT_STEPS ? go_on(figure, error) : 0;
}

static int draw_lines(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	const char *y = plot->options->y;
	double whole;
	struct lines lines = {.figure = figure, .pareto = plot->options->pareto, .most = y && is_hits(y, &whole)};

	if (lines.pareto && y && strchr(y, ','))
		return gt_fail(error, "--pareto: expected one column along y");
	int result = gt_pick_each(plot, figure, add_row, &lines, error);
	if (result == 0)
		result = draw_picked(plot, &lines, error);
	free(lines.candidates);
	return result;
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
	.style = GT_POINTS, .may_be_free = true, .may_have_front = true, .draw = draw_lines,
};

const struct gt_plot_kind gt_plot_sweep = {.name = "sweep", .style = GT_LINES_POINTS, .may_be_free = true, .may_have_front = true,
						  .draw = draw_lines};
