/* SPDX-License-Identifier: MIT */
/* Names against numbers. By default, of `gstats --csv`: the hit rate of reads for each level that has any, by kernel. Of
 * other tables: the first column against the columns of numbers. */
#include <stdio.h>
#include <string.h>

#include "report/plot/plot.h"

#define Y_LIST 2048

struct bars {
	struct gt_figure *figure;
	const char *x; /* the column along x */
	struct gt_boxes boxes;
};

static int take(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct bars *bars = context;
	char size[GT_FIGURE_TEXT];
	int place = gt_figure_place(&bars->figure->x, gt_plot_value(bars->x, pick->x, size), error);

	return place < 0 ? -1 : gt_boxes_add(&bars->boxes, (size_t)place, pick, pick->y, error);
}

static void append(char *list, const char *text)
{
	size_t used = strlen(list);

	if (used + strlen(text) + 2 < Y_LIST)
		snprintf(list + used, Y_LIST - used, "%s%s", used ? "," : "", text);
}

/* "l1=l1.read_hits/l1.reads,l2=...": the levels of a widened report. */
static void hit_ratios(const struct gt_sheet *sheet, char list[Y_LIST])
{
	for (size_t i = 0; i < sheet->columns; i++) {
		const char *name = gt_sheet_name(sheet, i), *dot = strchr(name, '.');
		char above[256], text[768];
		if (!dot || strcmp(dot, ".reads") != 0 || strlen(name) > 100)
			continue;
		snprintf(above, sizeof above, "%.*s.read_hits", (int)(dot - name), name);
		snprintf(text, sizeof text, "%.*s=%s/%s", (int)(dot - name), name, above, name);
		if (gt_sheet_column(sheet, above) >= 0)
			append(list, text);
	}
}

/* Whether all cells of a column are numbers or missing. */
static bool numeric(const struct gt_sheet *sheet, size_t column)
{
	double value;
	bool size, any = false;

	for (size_t row = 0; row < sheet->rows; row++) {
		const char *text = gt_sheet_cell(sheet, row, column);
		if (strcmp(text, "-") == 0 || *text == '\0')
			continue;
		if (!gt_sheet_number(text, &value, &size))
			return false;
		any = true;
	}
	return any;
}

static void number_columns(const struct gt_sheet *sheet, const char *x, char list[Y_LIST])
{
	for (size_t i = 0; i < sheet->columns; i++) {
		const char *name = gt_sheet_name(sheet, i);
		if (strcmp(name, x) != 0 && !strchr(name, ',') && numeric(sheet, i))
			append(list, name);
	}
}

/* Whether each of several files has one row, or one and an equal total. Then the files are compared. */
static bool one_row_each(const struct gt_plot *plot)
{
	for (size_t i = 0; i < plot->n; i++) {
		const struct gt_sheet *sheet = &plot->sheets[i];
		if (sheet->rows > 2 || (sheet->rows == 2 && strcmp(gt_sheet_cell(sheet, 1, 0), "total") != 0))
			return false;
	}
	return plot->n > 1;
}

int gt_plot_bars(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct bars bars = {.figure = figure};
	struct gt_plot_options options = *plot->options;
	struct gt_plot found = *plot;
	char list[Y_LIST] = "";

	found.options = &options;
	if (!options.x)
		options.x = one_row_each(plot) ? "file" : gt_sheet_name(&plot->sheets[0], 0);
	if (!options.y) {
		hit_ratios(&plot->sheets[0], list);
		if (!list[0])
			number_columns(&plot->sheets[0], options.x, list);
		if (!list[0])
			return gt_fail(error, "%s: expected a column of numbers", plot->sheets[0].name);
		options.y = list;
	}
	if (!figure->x.label[0])
		gt_plot_words(options.x, figure->x.label, &figure->x.numbers);
	bars.x = options.x;
	int result = gt_pick_each(&found, figure, take, &bars, error);
	return gt_boxes_put(&bars.boxes, &found, figure, result == 0 ? error : &(struct gt_error){{0}}) == 0 ? result : -1;
}
