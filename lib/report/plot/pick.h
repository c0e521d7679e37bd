/* SPDX-License-Identifier: MIT */
/* For the kinds of pictures: the numbers of the rows that a plot's options choose, and words for columns. */
#ifndef GT_REPORT_PLOT_PICK_H
#define GT_REPORT_PLOT_PICK_H

#include "report/plot/plot.h"

/* A number of a row that the options choose. */
struct gt_pick {
	const struct gt_sheet *sheet;
	size_t file; /* index of the sheet */
	size_t row;
	size_t series; /* of the figure */
	const char *x;
	double y;
};

/* Calls `visit` for each number of the chosen rows, file by file, row by row, y by y, and creates the panels and series. A
 * y of "-" or "" is left out. */
int gt_pick_each(const struct gt_plot *plot, struct gt_figure *figure,
		 int (*visit)(void *context, const struct gt_pick *pick, struct gt_error *error), void *context,
		 struct gt_error *error);

/* The words for a column: "l1.reads" is "l1 reads (sectors)"; *numbers becomes GT_SIZES for bytes. */
void gt_plot_words(const char *column, char words[GT_FIGURE_TEXT], enum gt_numbers *numbers);

/* A value of a column as names show it: 32K for 32768 in a column of sizes. */
const char *gt_plot_value(const char *column, const char *value, char buffer[GT_FIGURE_TEXT]);

#endif
