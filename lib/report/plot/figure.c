/* SPDX-License-Identifier: MIT */
#include "report/plot/figure.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"

#define NAME_CHARACTERS 90 /* of a series, a panel or a place; pictures show fewer */
#define THIN_FROM 2000	   /* up to this number, all points are drawn */
#define CELLS 1024	   /* a picture has fewer pixels than this along each side of a panel */

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

int gt_figure_thin(struct gt_figure *figure, struct gt_error *error)
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
