/* SPDX-License-Identifier: MIT */
/* A P-chase [001]. With one array size: the latency of each access against its place in the array. With several: the mean
 * latency or, if the latency of a hit is known, the miss rate, against the size. Means and rates exclude the first visit of
 * each place, which always misses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/plot/pick.h"

struct run {
	double n, accesses, cycles, misses;
};

struct chase {
	const struct gt_plot *plot;
	struct gt_figure *figure;
	struct gt_map visited; /* places read since the start of the run or the file */
	struct run run;	       /* the current one */
	size_t file;
};

/* The number in the first of these columns that the sheet has. */
static int number(const struct gt_pick *pick, const char *const columns[2], double *value, struct gt_error *error)
{
	bool size;

	for (int i = 0; i < 2; i++) {
		int column = gt_sheet_column(pick->sheet, columns[i]);
		if (column >= 0 && gt_sheet_number(gt_sheet_cell(pick->sheet, pick->row, (size_t)column), value, &size))
			return 0;
	}
	return gt_fail(error, "%s, row %zu: expected a number in a column '%s'", pick->sheet->name, pick->row + 1, columns[0]);
}

/* Ends the current run, which is a point of its file's series. */
static int end_run(struct chase *chase, struct gt_error *error)
{
	const struct run *run = &chase->run;
	const char *name = chase->plot->n > 1 ? chase->plot->sheets[chase->file].name : "";
	int series = gt_figure_series_of(chase->figure, 0, name, error);

	gt_map_clear(&chase->visited);
	if (series < 0 || run->accesses == 0)
		return series < 0 ? -1 : 0;
	double y = chase->plot->options->hit_below > 0 ? 100 * run->misses / run->accesses : run->cycles / run->accesses;
	return gt_figure_point(&chase->figure->series[series], (struct gt_point){.x = run->n, .y = y}, error);
}

static int add_to_sweep(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	static const char *const offsets[] = {"offset", "accessed_offset_bytes"};
	struct chase *chase = context;
	double n, offset;
	bool size;
	int fresh;

	if (!gt_sheet_number(pick->x, &n, &size))
		return gt_fail(error, "%s, row %zu: expected a size, found '%.60s'", pick->sheet->name, pick->row + 1, pick->x);
	if (number(pick, offsets, &offset, error) != 0)
		return -1;
	if (n != chase->run.n || pick->file != chase->file) {
		if (chase->run.n > 0 && end_run(chase, error) != 0)
			return -1;
		chase->run = (struct run){.n = n};
		chase->file = pick->file;
	}
	if (offset < 0 || offset >= 0x1p53 || !gt_map_put(&chase->visited, (uint64_t)offset, 1, &fresh))
		return gt_fail(error, "%s, row %zu: cannot keep the offset", pick->sheet->name, pick->row + 1);
	if (fresh)
		return 0;
	chase->run.accesses++;
	chase->run.cycles += pick->y;
	chase->run.misses += pick->y >= chase->plot->options->hit_below;
	return 0;
}

static int add_access(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	static const char *const offsets[] = {"offset", "accessed_offset_bytes"};
	struct chase *chase = context;
	struct gt_point point = {.y = pick->y};

	if (number(pick, offsets, &point.x, error) != 0)
		return -1;
	return gt_figure_point(&chase->figure->series[pick->series], point, error);
}

struct sizes {
	const char *first;
	bool several;
};

static int note_size(void *context, const struct gt_pick *pick, struct gt_error *error)
{
	struct sizes *sizes = context;

	(void)error;
	sizes->first = sizes->first ? sizes->first : pick->x;
	sizes->several = sizes->several || strcmp(sizes->first, pick->x) != 0;
	return 0;
}

/* Whether the rows that are chosen have several sizes. */
static int sweeps(const struct gt_plot *plot, bool *several, struct gt_error *error)
{
	struct gt_figure unused;
	struct sizes sizes = {0};

	gt_figure_begin(&unused);
	int result = gt_pick_each(plot, &unused, note_size, &sizes, error);
	gt_figure_clear(&unused);
	*several = sizes.several;
	return result;
}

static int draw_sweep(struct chase *chase, struct gt_figure *figure, struct gt_error *error)
{
	bool rates = chase->plot->options->hit_below > 0;
	struct gt_figure unused; /* its series are not drawn */

	snprintf(figure->y.label, sizeof figure->y.label, rates ? "miss rate (%%)" : "mean latency (cycles)");
	figure->y.end = rates ? 100 : 0;
	figure->style = GT_LINES_POINTS;
	gt_figure_begin(&unused);
	int result = gt_pick_each(chase->plot, &unused, add_to_sweep, chase, error);
	gt_figure_clear(&unused);
	if (result == 0 && chase->run.n > 0)
		result = end_run(chase, error);
	gt_plot_words("N", figure->x.label, &figure->x.numbers);
	return result;
}

static int draw_pchase(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct chase chase = {.plot = plot, .figure = figure};
	bool several;
	int result = sweeps(plot, &several, error);

	figure->y.from_zero = true;
	if (result != 0)
		return result;
	if (several) {
		if (gt_map_open(&chase.visited, 64, error) != 0)
			return -1;
		result = draw_sweep(&chase, figure, error);
		gt_map_close(&chase.visited);
		return result;
	}
	result = gt_pick_each(plot, figure, add_access, &chase, error);
	gt_plot_words("offset", figure->x.label, &figure->x.numbers);
	return result;
}

const struct gt_plot_kind gt_plot_pchase = {.name = "pchase", .x = "N", .y = "latency", .style = GT_POINTS, .draw = draw_pchase};
