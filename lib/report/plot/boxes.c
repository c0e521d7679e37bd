/* SPDX-License-Identifier: MIT */
/* The layout of boxes: a group at each place of the x axis, with adjacent boxes for each series and file or, if stacked,
 * one box per file with its series on top of each other. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#include "report/plot/plot.h"

#define GROUP 0.8 /* width of a group, as a share of the distance between two places */

int gt_boxes_add(struct gt_boxes *boxes, size_t place, const struct gt_pick *pick, double value, struct gt_error *error)
{
	void *bigger = gt_grown(boxes->cells, boxes->n, &boxes->capacity, sizeof *boxes->cells);

	if (!bigger)
		return gt_fail_memory(error, "bars");
	boxes->cells = bigger;
	boxes->cells[boxes->n++] = (struct gt_cell){place, pick->file, pick->series, value};
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct gt_cell *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->series > b->series) - (a->series < b->series);
}

/* Adds up the cells of one place, file and series. */
static void merge(struct gt_boxes *boxes)
{
	size_t kept = 0;

	if (boxes->n > 0)
		qsort(boxes->cells, boxes->n, sizeof *boxes->cells, by_place);
	for (size_t i = 0; i < boxes->n; i++) {
		if (kept > 0 && by_place(&boxes->cells[kept - 1], &boxes->cells[i]) == 0)
			boxes->cells[kept - 1].value += boxes->cells[i].value;
		else
			boxes->cells[kept++] = boxes->cells[i];
	}
	boxes->n = kept;
}

static void to_percent(struct gt_boxes *boxes, const struct gt_figure *figure)
{
	for (size_t series = 0; series < figure->series_n; series++) {
		double sum = 0;
		for (size_t i = 0; i < boxes->n; i++)
			sum += boxes->cells[i].series == series ? boxes->cells[i].value : 0;
		for (size_t i = 0; i < boxes->n && sum > 0; i++)
			if (boxes->cells[i].series == series)
				boxes->cells[i].value *= 100 / sum;
	}
}

/* Places the boxes of a panel: a series has the same position in each group. */
static int put(const struct gt_boxes *boxes, const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	bool stacked = plot->options->stacked;
	size_t colours = gt_figure_names(figure), slots = stacked ? plot->n : colours;
	double width = GROUP / (double)slots, top = 0;

	for (size_t i = 0; i < boxes->n; i++) {
		const struct gt_cell *cell = &boxes->cells[i];
		bool on_top = stacked && i > 0 && cell[-1].place == cell->place && cell[-1].file == cell->file &&
			      figure->series[cell[-1].series].panel == figure->series[cell->series].panel;
		size_t slot = stacked ? cell->file : gt_figure_colour(figure, cell->series);
		top = (on_top ? top : 0) + cell->value;
		struct gt_point point = {.x = (double)cell->place - GROUP / 2 + width * (double)slot + (slots > 1 ? width / 20 : 0),
					 .width = slots > 1 ? width * 0.9 : width, .y = top, .low = top - cell->value};
		if (gt_figure_point(&figure->series[cell->series], point, error) != 0)
			return -1;
	}
	return 0;
}

int gt_boxes_put(struct gt_boxes *boxes, const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	merge(boxes);
	if (plot->options->percent) {
		to_percent(boxes, figure);
		snprintf(figure->y.label + strlen(figure->y.label), sizeof figure->y.label - strlen(figure->y.label), " (%%)");
	}
	int result = put(boxes, plot, figure, error);
	figure->y.from_zero = true;
	if (plot->options->log && strchr(plot->options->log, 'y')) {
		figure->y.scale = GT_LOG10;
		figure->y.from_zero = false;
		if (result == 0 && gt_figure_extent(figure).y_least <= 0)
			result = gt_fail(error, "expected numbers above 0 on a logarithmic axis");
	}
	free(boxes->cells);
	*boxes = (struct gt_boxes){0};
	return result;
}
