/* SPDX-License-Identifier: MIT */
/* Pictures of boxes: bars, histogram, mru and coalescing. At each place of the x axis stands a group, with adjacent boxes for
 * each series and file or, if stacked, one box per file with its series on top of each other. The panels of coalescing have
 * one series, and a place for each 4 bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "report/plot/pick.h"

/* ---- the layout of boxes ---- */

#define GROUP 0.8 /* width of a group, as a share of the distance between two places */

struct boxes {
	struct box {
		size_t place, file, series;
		double value;
	} *at; /* owned */
	size_t n, capacity;
};

static int add_box(struct boxes *boxes, size_t place, const struct gt_pick *pick, double value, struct gt_error *error)
{
	void *bigger = gt_grown(boxes->at, boxes->n, &boxes->capacity, sizeof *boxes->at);

	if (!bigger)
		return gt_fail_memory(error, "bars");
	boxes->at = bigger;
	boxes->at[boxes->n++] = (struct box){place, pick->file, pick->series, value};
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct box *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->series > b->series) - (a->series < b->series);
}

/* Adds up the boxes of one place, file and series. */
static void merge(struct boxes *boxes)
{
	size_t kept = 0;

	if (boxes->n > 0)
		qsort(boxes->at, boxes->n, sizeof *boxes->at, by_place);
	for (size_t i = 0; i < boxes->n; i++) {
		if (kept > 0 && by_place(&boxes->at[kept - 1], &boxes->at[i]) == 0)
			boxes->at[kept - 1].value += boxes->at[i].value;
		else
			boxes->at[kept++] = boxes->at[i];
	}
	boxes->n = kept;
}

static void to_percent(struct boxes *boxes, const struct gt_figure *figure)
{
	for (size_t series = 0; series < figure->series_n; series++) {
		double sum = 0;
		for (size_t i = 0; i < boxes->n; i++)
			sum += boxes->at[i].series == series ? boxes->at[i].value : 0;
		for (size_t i = 0; i < boxes->n && sum > 0; i++)
			if (boxes->at[i].series == series)
				boxes->at[i].value *= 100 / sum;
	}
}

/* Places the boxes of a panel: a series has the same position in each group. */
static int place(const struct boxes *boxes, const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	bool stacked = plot->options->stacked;
	size_t colours = gt_figure_names(figure), slots = stacked ? plot->n : colours;
	double width = GROUP / (double)slots, top = 0;

	for (size_t i = 0; i < boxes->n; i++) {
		const struct box *box = &boxes->at[i];
		bool on_top = stacked && i > 0 && box[-1].place == box->place && box[-1].file == box->file &&
			      figure->series[box[-1].series].panel == figure->series[box->series].panel;
		size_t slot = stacked ? box->file : gt_figure_colour(figure, box->series);
		top = (on_top ? top : 0) + box->value;
		struct gt_point point = {.x = (double)box->place - GROUP / 2 + width * (double)slot + (slots > 1 ? width / 20 : 0),
					 .width = slots > 1 ? width * 0.9 : width, .y = top, .low = top - box->value};
		if (gt_figure_point(&figure->series[box->series], point, error) != 0)
			return -1;
	}
	return 0;
}

/* Makes the boxes the points of the figure's series, and frees them. */
static int put_boxes(struct boxes *boxes, const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	merge(boxes);
	if (plot->options->percent) {
		to_percent(boxes, figure);
		snprintf(figure->y.label + strlen(figure->y.label), sizeof figure->y.label - strlen(figure->y.label), " (%%)");
	}
	int result = place(boxes, plot, figure, error);
	figure->y.from_zero = true;
	if (plot->options->log && strchr(plot->options->log, 'y')) {
		figure->y.scale = GT_LOG10;
		figure->y.from_zero = false;
		if (result == 0 && gt_figure_extent(figure).y_least <= 0)
			result = gt_fail(error, "expected numbers above 0 on a logarithmic axis");
	}
	free(boxes->at);
	*boxes = (struct boxes){0};
	return result;
}

/* ---- bars ---- */

/* Names against numbers. By default, of `gstats --csv`: the hit rate of reads for each level that has any, by kernel. Of other
 * tables: the first column against the columns of numbers. */

#define Y_LIST 2048

struct bars {
	struct gt_figure *figure;
	const char *x; /* the column along x */
	struct boxes boxes;
};

static int add_bar(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct bars *bars = context;
	char size[GT_FIGURE_TEXT];
	int place = gt_figure_place(&bars->figure->x, gt_plot_value(bars->x, pick->x, size), error);

	return place < 0 ? -1 : add_box(&bars->boxes, (size_t)place, pick, pick->y, error);
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

static int draw_bars(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
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
			return gt_fail(error, "%s: expected a column of numbers beside '%s'", plot->sheets[0].name, options.x);
		options.y = list;
	}
	if (!figure->x.label[0])
		gt_plot_words(options.x, figure->x.label, &figure->x.numbers);
	bars.x = options.x;
	int result = gt_pick_each(&found, figure, add_bar, &bars, error);
	return put_boxes(&bars.boxes, &found, figure, result == 0 ? error : &(struct gt_error){{0}}) == 0 ? result : -1;
}

const struct gt_plot_kind gt_plot_bars = {.name = "bars", .style = GT_BOXES, .draw = draw_bars};

/* ---- histogram ---- */

/* The frequency of reuse distances, one by one if all are short, else in bins that double: 0, 1, 2 to 3, 4 to 7, ... A wider
 * bin of the table counts at its beginning. */

#define SINGLE 16 /* distances below this are drawn one by one, if all are below */

struct histogram {
	struct gt_figure *figure;
	struct boxes boxes;
	double longest;
	bool infinite;
};

/* Until the longest is known, the place of a distance is the distance itself, or -1 if it is infinite. */
static int add_distance(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct histogram *histogram = context;
	double distance;
	bool size, infinite = strcmp(pick->x, "inf") == 0;

	if (!infinite && (!gt_sheet_number(pick->x, &distance, &size) || distance < 0 || distance >= 0x1p62))
		return gt_fail(error, "%s, row %zu: expected a distance, found '%.60s'", pick->sheet->name, pick->row + 1, pick->x);
	if (infinite)
		histogram->infinite = true;
	else
		histogram->longest = fmax(histogram->longest, distance);
	return add_box(&histogram->boxes, infinite ? SIZE_MAX : (size_t)distance, pick, pick->y, error);
}

static size_t bin_of(size_t distance, bool single)
{
	size_t bin = 0;

	if (single)
		return distance;
	for (; distance > 0; distance >>= 1)
		bin++;
	return bin;
}

/* Names the bins, and moves each count to its bin. */
static int bin(struct histogram *histogram, struct gt_error *error)
{
	bool single = histogram->longest < SINGLE;
	size_t bins = bin_of((size_t)histogram->longest, single) + 1;
	char name[32];

	for (size_t i = 0; i < bins; i++) {
		gt_format_size(single || i == 0 ? i : UINT64_C(1) << (i - 1), name);
		if (gt_figure_place(&histogram->figure->x, name, error) < 0)
			return -1;
	}
	if (histogram->infinite && gt_figure_place(&histogram->figure->x, "inf", error) < 0)
		return -1;
	for (size_t i = 0; i < histogram->boxes.n; i++) {
		size_t *place = &histogram->boxes.at[i].place;
		*place = *place == SIZE_MAX ? bins : bin_of(*place, single);
	}
	if (single)
		snprintf(histogram->figure->x.label, sizeof histogram->figure->x.label, "reuse distance (lines)");
	return 0;
}

static int draw_histogram(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct histogram histogram = {.figure = figure};
	struct gt_error ignored;
	int result = gt_pick_each(plot, figure, add_distance, &histogram, error);

	if (result == 0)
		result = bin(&histogram, error);
	return put_boxes(&histogram.boxes, plot, figure, result == 0 ? error : &ignored) == 0 ? result : -1;
}

const struct gt_plot_kind gt_plot_histogram = {
	.name = "histogram", .x = "distance", .y = "count", .by = "kernel,pc,op,array",
	.x_label = "reuse distance (lines; a bin begins at its label)", .y_label = "references",
	.style = GT_BOXES, .draw = draw_histogram,
};

/* ---- mru ---- */

/* Hits by position in the LRU stack. The last row of grd's table counts the misses. */

#define LEAST 4 /* positions that are drawn even without hits */

struct mru {
	struct gt_figure *figure;
	struct boxes boxes;
	long last; /* the highest position that is drawn; in grd's table, the misses */
	bool by_grd;
};

static int add_position(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct mru *mru = context;
	char *end;
	long position = strtol(pick->x, &end, 10);

	if (end == pick->x || *end || position < 0 || position >= GT_FIGURE_PLACES)
		return gt_fail(error, "%s, row %zu: expected a position from 0 to %d, found '%.60s'", pick->sheet->name, pick->row + 1,
			       GT_FIGURE_PLACES - 1, pick->x);
	mru->by_grd = gt_sheet_column(pick->sheet, "stage") < 0;
	if (position > mru->last && (mru->by_grd || pick->y > 0 || position < LEAST))
		mru->last = position;
	return add_box(&mru->boxes, (size_t)position, pick, pick->y, error);
}

static int draw_mru(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct mru mru = {.figure = figure, .last = -1};
	struct gt_error ignored;
	char name[32];
	int result = gt_pick_each(plot, figure, add_position, &mru, error);

	for (long i = 0; i <= mru.last && result == 0; i++) {
		snprintf(name, sizeof name, i == mru.last && mru.by_grd ? "misses" : "%ld", i);
		result = gt_figure_place(&figure->x, name, error) < 0 ? -1 : 0;
	}
	if (mru.by_grd)
		snprintf(figure->y.label, sizeof figure->y.label, "references");
	return put_boxes(&mru.boxes, plot, figure, result == 0 ? error : &ignored) == 0 ? result : -1;
}

const struct gt_plot_kind gt_plot_mru = {
	.name = "mru", .x = "position", .y = "count", .by = "kernel,stage,pc,op,array", .array = "mru",
	.x_label = "position in the LRU stack (0: most recently used)", .y_label = "hits",
	.style = GT_BOXES, .draw = draw_mru,
};

/* ---- coalescing ---- */

/* [003] figures 9 and 10: for each access, the number of a warp's lanes at each 4 bytes of the 128 that begin with the sector
 * of its first lane. Vertical lines separate sectors. */

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

static int visit_access(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	const struct accesses *accesses = context;

	return add_access(accesses->plot, pick->sheet, pick->row, accesses->figure, error);
}

static int draw_coalescing(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct accesses accesses = {plot, figure};
	struct gt_figure unused; /* an access is a panel, not a series */

	for (size_t file = 0; file < plot->n; file++)
		if (gt_sheet_column(&plot->sheets[file], "graph0") < 0)
			return gt_fail(error, "%s: expected the table of gtrace-ptx --static --tree or gcoalesce --degree --graph, with #graph lines", plot->sheets[file].name);
	gt_figure_begin(&unused);
	int result = gt_pick_each(plot, &unused, visit_access, &accesses, error);
	gt_figure_clear(&unused);
	for (int i = 1; i < PLACES / SECTOR; i++)
		figure->marks[figure->marks_n++] = i * SECTOR - 0.5;
	figure->y.from_zero = true;
	return result;
}

const struct gt_plot_kind gt_plot_coalescing = {
	.name = "coalescing", .x = "op", .y = "graph0",
	.x_label = "4-byte units of the 128 bytes from the warp's first sector", .y_label = "lanes",
	.style = GT_BOXES, .draw = draw_coalescing,
};
