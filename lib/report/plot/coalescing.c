/* SPDX-License-Identifier: MIT */
/* [003] figures 9 and 10: for each access, the number of a warp's lanes at each 4 bytes of the 128 that begin with the
 * sector of its first lane. Vertical lines separate sectors. */
#include <stdio.h>
#include <string.h>

#include "report/plot/plot.h"

#define PLACES 32 /* of 4 bytes, in 128 */
#define SECTOR 8  /* of them */

static const char *cell(const struct gt_sheet *sheet, size_t row, const char *column)
{
	int at = gt_sheet_column(sheet, column);

	return at < 0 ? "" : gt_sheet_cell(sheet, row, (size_t)at);
}

/* One access becomes a panel of 32 boxes. */
static int add_access(const struct gt_plot *plot, const struct gt_sheet *sheet, size_t row, struct gt_figure *figure,
		      struct gt_error *error)
{
	const char *line = cell(sheet, row, "line"), *where = *line ? "line" : "pc";
	char title[512], column[16];
	int first = gt_sheet_column(sheet, "graph0");
	double lanes;
	bool size;

	snprintf(title, sizeof title, "%s%s%.200s, %s %.20s: %.20s", plot->n > 1 ? sheet->name : "", plot->n > 1 ? ", " : "",
		 cell(sheet, row, "kernel"), where, cell(sheet, row, where), cell(sheet, row, "op"));
	int panel = gt_figure_panel(figure, title, error);
	int series = panel < 0 ? -1 : gt_figure_series_of(figure, (size_t)panel, "", error);
	for (int i = 0; i < PLACES && series >= 0; i++) {
		const char *text = gt_sheet_cell(sheet, row, (size_t)(first + i));
		snprintf(column, sizeof column, "%d", i);
		if (!gt_sheet_number(text, &lanes, &size))
			return gt_fail(error, "%s, row %zu: expected lanes in the #graph line, found '%.60s'", sheet->name, row + 1, text);
		if (gt_figure_place(&figure->x, column, error) < 0 ||
		    gt_figure_point(&figure->series[series], (struct gt_point){.x = i - 0.4, .width = 0.8, .y = lanes}, error) != 0)
			return -1;
	}
	return series < 0 ? -1 : 0;
}

struct accesses {
	const struct gt_plot *plot;
	struct gt_figure *figure;
};

static int take(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	const struct accesses *accesses = context;

	return add_access(accesses->plot, pick->sheet, pick->row, accesses->figure, error);
}

int gt_plot_coalescing(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct accesses accesses = {plot, figure};
	struct gt_figure unused; /* an access is a panel, not a series */

	for (size_t file = 0; file < plot->n; file++)
		if (gt_sheet_column(&plot->sheets[file], "graph0") < 0)
			return gt_fail(error, "%s: expected the table of gtrace-ptx --static --tree or gcoalesce --degree --graph, with #graph lines", plot->sheets[file].name);
	gt_figure_begin(&unused);
	int result = gt_pick_each(plot, &unused, take, &accesses, error);
	gt_figure_clear(&unused);
	for (int i = 1; i < PLACES / SECTOR; i++)
		figure->marks[figure->marks_n++] = i * SECTOR - 0.5;
	figure->y.from_zero = true;
	return result;
}
