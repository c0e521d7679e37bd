/* SPDX-License-Identifier: MIT */
/* Hits by position in the LRU stack. The last row of grd's table counts the misses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot/plot.h"

#define LEAST 4 /* positions that are drawn even without hits */

struct mru {
	struct gt_figure *figure;
	struct gt_boxes boxes;
	long last; /* the highest position that is drawn; in grd's table, the misses */
	bool by_grd;
};

static int take(void *context, const struct gt_pick *pick, struct gt_error *error)
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
	return gt_boxes_add(&mru->boxes, (size_t)position, pick, pick->y, error);
}

int gt_plot_mru(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error)
{
	struct mru mru = {.figure = figure, .last = -1};
	struct gt_error ignored;
	char name[32];
	int result = gt_pick_each(plot, figure, take, &mru, error);

	for (long i = 0; i <= mru.last && result == 0; i++) {
		snprintf(name, sizeof name, i == mru.last && mru.by_grd ? "misses" : "%ld", i);
		result = gt_figure_place(&figure->x, name, error) < 0 ? -1 : 0;
	}
	if (mru.by_grd)
		snprintf(figure->y.label, sizeof figure->y.label, "references");
	return gt_boxes_put(&mru.boxes, plot, figure, result == 0 ? error : &ignored) == 0 ? result : -1;
}
