/* SPDX-License-Identifier: MIT */
/* What all pictures are made of: panels, series and places by name, points, the extent of the data and the marks of the
 * axes. */
#include "report/plot/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/utf8.h"

#define NAME_CHARACTERS 90 /* of a series, a panel or a place; pictures show fewer */

void gt_figure_begin(struct gt_figure *figure)
{
	*figure = (struct gt_figure){0};
}

void gt_figure_clear(struct gt_figure *figure)
{
	for (size_t i = 0; i < figure->series_n; i++)
		free(figure->series[i].points);
	free(figure->series);
	free(figure->x.places);
	free(figure->y.places);
	free(figure->front);
	gt_figure_begin(figure);
}

int gt_figure_panel(struct gt_figure *figure, const char *title, struct gt_error *error)
{
	char tidy[GT_FIGURE_TEXT];

	gt_utf8_tidy(title, NAME_CHARACTERS, tidy);
	for (size_t i = 0; i < figure->panels_n; i++)
		if (strcmp(figure->panels[i], tidy) == 0)
			return (int)i;
	if (figure->panels_n == GT_FIGURE_PANELS)
		return gt_fail(error, "expected at most %d panels; --where chooses rows", GT_FIGURE_PANELS);
	memcpy(figure->panels[figure->panels_n], tidy, sizeof tidy);
	return (int)figure->panels_n++;
}

int gt_figure_series_of(struct gt_figure *figure, size_t panel, const char *name, struct gt_error *error)
{
	char tidy[GT_FIGURE_TEXT];

	gt_utf8_tidy(name, NAME_CHARACTERS, tidy);
	for (size_t i = 0; i < figure->series_n; i++)
		if (figure->series[i].panel == panel && strcmp(figure->series[i].name, tidy) == 0)
			return (int)i;
	if (gt_figure_names(figure) == GT_FIGURE_SERIES)
		return gt_fail(error, "expected at most %d series; --where chooses rows, --panel gives a value a panel", GT_FIGURE_SERIES);
	void *bigger = gt_resized(figure->series, figure->series_n + 1, sizeof *figure->series);
	if (!bigger)
		return gt_fail_memory(error, "a series");
	figure->series = bigger;
	figure->series[figure->series_n] = (struct gt_figure_series){.panel = panel};
	memcpy(figure->series[figure->series_n].name, tidy, sizeof tidy);
	return (int)figure->series_n++;
}

int gt_figure_place(struct gt_axis *axis, const char *name, struct gt_error *error)
{
	char tidy[GT_FIGURE_TEXT];

	gt_utf8_tidy(name, NAME_CHARACTERS, tidy);
	for (size_t i = 0; i < axis->places_n; i++)
		if (strcmp(axis->places[i], tidy) == 0)
			return (int)i;
	if (axis->places_n == GT_FIGURE_PLACES)
		return gt_fail(error, "expected at most %d names on the x axis; --where chooses rows", GT_FIGURE_PLACES);
	void *bigger = gt_resized(axis->places, axis->places_n + 1, sizeof *axis->places);
	if (!bigger)
		return gt_fail_memory(error, "an axis");
	axis->places = bigger;
	memcpy(axis->places[axis->places_n], tidy, sizeof tidy);
	return (int)axis->places_n++;
}

const char *gt_figure_short(const char *name, size_t most, char buffer[GT_FIGURE_TEXT])
{
	size_t characters = gt_utf8_characters(name);
	bool at_end = strchr(name, '/') || strstr(name, "__");

	if (characters <= most || !at_end)
		return gt_utf8_tidy(name, most, buffer);
	for (; characters > most - 1; characters--)
		do
			name++;
		while (((unsigned char)*name & 0xC0) == 0x80);
	snprintf(buffer, GT_FIGURE_TEXT, "\xE2\x80\xA6%s", name);
	return buffer;
}

int gt_figure_point(struct gt_figure_series *series, struct gt_point point, struct gt_error *error)
{
	void *bigger = gt_grown(series->points, series->n, &series->capacity, sizeof *series->points);

	if (!bigger)
		return gt_fail_memory(error, "points");
	series->points = bigger;
	series->points[series->n++] = point;
	return 0;
}

/* ---- extent and names ---- */

/* Of the points of a panel, or of all. */
static struct gt_extent extent_of(const struct gt_figure *figure, size_t panel)
{
	struct gt_extent extent = {INFINITY, -INFINITY, INFINITY, -INFINITY};

	for (size_t i = 0; i < figure->series_n; i++)
		for (size_t j = 0; j < figure->series[i].n && (panel == SIZE_MAX || figure->series[i].panel == panel); j++) {
			const struct gt_point *point = &figure->series[i].points[j];
			extent.x_least = fmin(extent.x_least, point->x);
			extent.x_most = fmax(extent.x_most, point->x);
			extent.y_least = fmin(extent.y_least, figure->margins ? point->low : point->y);
			extent.y_most = fmax(extent.y_most, figure->margins ? point->width : point->y);
		}
	return extent.x_least <= extent.x_most ? extent : (struct gt_extent){0, 1, 0, 1};
}

struct gt_extent gt_figure_extent(const struct gt_figure *figure)
{
	return extent_of(figure, SIZE_MAX);
}

struct gt_extent gt_figure_extent_of(const struct gt_figure *figure, size_t panel)
{
	return extent_of(figure, figure->free ? panel : SIZE_MAX);
}

size_t gt_figure_colour(const struct gt_figure *figure, size_t series)
{
	size_t colour = 0;

	for (size_t i = 0; i < series; i++) {
		bool seen = false;
		if (strcmp(figure->series[i].name, figure->series[series].name) == 0)
			return gt_figure_colour(figure, i);
		for (size_t j = 0; j < i && !seen; j++)
			seen = strcmp(figure->series[i].name, figure->series[j].name) == 0;
		colour += !seen;
	}
	return colour;
}

size_t gt_figure_names(const struct gt_figure *figure)
{
	size_t names = 0;

	for (size_t i = 0; i < figure->series_n; i++) {
		size_t colour = gt_figure_colour(figure, i);
		names = colour >= names ? colour + 1 : names;
	}
	return names;
}

/* ---- the marks of an axis ---- */

/* "0.25", "1500", "20k", "1.5M": no suffix below 10k. */
static void decimal(double value, double most, char label[GT_TICK_TEXT])
{
	static const struct {
		double unit;
		const char *letter;
	} units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (most >= (units[i].unit == 1e3 ? 1e4 : units[i].unit) && fabs(value) > 0 && most < 1e15) {
			snprintf(label, GT_TICK_TEXT, "%g%s", value / units[i].unit, units[i].letter);
			return;
		}
	snprintf(label, GT_TICK_TEXT, "%g", fabs(value) < most * 1e-9 ? 0.0 : value);
}

static void mark(const struct gt_axis *axis, struct gt_ticks *ticks, double at)
{
	if (ticks->n == GT_TICKS || at < ticks->least || at > ticks->most)
		return;
	char *label = ticks->label[ticks->n];
	if (axis->numbers == GT_SIZES && at >= 1 && at < 0x1p63 && at == floor(at))
		gt_format_size((uint64_t)at, label);
	else
		decimal(at, axis->scale == GT_LINEAR ? fmax(fabs(ticks->most), fabs(ticks->least)) : at, label);
	ticks->at[ticks->n++] = at;
}

/* The smallest step of 1, 2 or 5 times a power of ten, or a power of two, that needs few marks. */
static double linear_step(const struct gt_axis *axis, double span, unsigned wanted)
{
	if (axis->numbers == GT_SIZES && span >= wanted)
		return exp2(ceil(log2(span / wanted)));
	double power = pow(10, floor(log10(span / wanted)));
	double ratio = span / wanted / power;
	return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}

static void linear(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	if (axis->from_zero) {
		least = fmin(least, 0);
		most = fmax(most, 0);
	}
	most = fmax(most, axis->end != 0 ? axis->end : most);
	if (most - least <= 1e-12 * fmax(fabs(most), fabs(least))) { /* one value: add room on both sides */
		double room = most != 0 ? fabs(most) / 10 : 1;
		most += room;
		least -= least == 0 && axis->from_zero ? 0 : room;
	}
	double step = linear_step(axis, most - least, wanted), edge = axis->numbers == GT_SIZES ? step / 4 : step;
	ticks->least = axis->from_zero && least == 0 ? 0 : floor(least / edge + 1e-9) * edge;
	ticks->most = axis->end != 0 && most <= axis->end ? axis->end : ceil(most / edge - 1e-9) * edge;
	double first = ceil(ticks->least / step - 1e-9);
	for (int i = 0; i < GT_TICKS; i++)
		mark(axis, ticks, (first + i) * step);
}

static void logarithmic(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	double base = axis->scale == GT_LOG2 ? 2 : 10;

	if (axis->scale == GT_LOG2) {
		ticks->least = least == most ? least / 2 : least / 1.05;
		ticks->most = least == most ? most * 2 : most * 1.05;
	} else {
		ticks->least = pow(10, floor(log10(least) + 1e-9));
		ticks->most = pow(10, ceil(log10(most) - 1e-9));
		if (ticks->most <= ticks->least)
			ticks->most = ticks->least * 10;
	}
	double first = ceil(log(ticks->least) / log(base) - 1e-9), last = floor(log(ticks->most) / log(base) + 1e-9);
	double step = fmax(ceil((last - first + 1) / wanted), 1);
	for (double power = first; power <= last; power += step)
		mark(axis, ticks, pow(base, power));
	if (axis->zero > 0 && ticks->n < GT_TICKS) { /* the mark of 0, in the place of the number that would be there */
		size_t i = 0;
		while (i < ticks->n && ticks->at[i] != axis->zero)
			i++;
		ticks->n += i == ticks->n;
		ticks->at[i] = axis->zero;
		strcpy(ticks->label[i], "0");
	}
	if (ticks->n < 2) { /* within one power: label the ends */
		ticks->n = 0;
		ticks->least = least;
		ticks->most = least == most ? most * base : most;
		mark(axis, ticks, ticks->least);
		mark(axis, ticks, ticks->most);
	}
}

void gt_ticks_place(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	ticks->n = 0;
	if (axis->scale == GT_LINEAR)
		linear(axis, least, most, wanted, ticks);
	else
		logarithmic(axis, least, most, wanted, ticks);
}
