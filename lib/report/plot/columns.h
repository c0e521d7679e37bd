/* SPDX-License-Identifier: MIT */
/* The columns of each sheet that a picture's options name: found in columns.c, used in pick.c. */
#ifndef GT_REPORT_PLOT_COLUMNS_H
#define GT_REPORT_PLOT_COLUMNS_H

#include "report/plot/plot.h"

#define GT_PLOT_LIST 32	    /* columns in a list, at most */
#define GT_PLOT_WORD 128    /* bytes of a name in a list */
#define GT_FILE_COLUMN (-2)

struct gt_words {
	char words[GT_PLOT_LIST][GT_PLOT_WORD];
	size_t n;
};

/* One y: a column, or a quotient of two in percent. */
struct gt_wanted {
	char name[GT_PLOT_WORD];
	int above, below; /* below -1: the column alone */
};

/* The options' columns in one sheet. */
struct gt_columns {
	int x, panel, by[GT_PLOT_LIST], where[GT_PLOT_WHERE], kernel;
	struct gt_wanted y[GT_PLOT_LIST];
	bool sole_kernel; /* the sheet has one kernel and a total, which are equal */
};

struct gt_picking {
	const struct gt_plot *plot;
	struct gt_figure *figure;
	struct gt_words by, y, values[GT_PLOT_WHERE];
	char where[GT_PLOT_WHERE][GT_PLOT_WORD]; /* columns, each with its values */
	size_t where_n;
	struct gt_columns *columns; /* one for each sheet; owned */
};

/* Splits "a,b,c". `what` names the option in an error. */
int gt_words_split(const char *what, const char *text, struct gt_words *words, struct gt_error *error);

/* Finds the columns of one sheet. Returns 0, or -1 naming the one that is missing. */
int gt_columns_find(struct gt_picking *picking, size_t file, struct gt_error *error);

/* The cell in a column, or the name of the sheet. */
const char *gt_columns_text(const struct gt_sheet *sheet, size_t row, int column);

/* Sets the label of the y axis, if the kind has none. */
void gt_columns_label(const struct gt_picking *picking, struct gt_axis *axis);

#endif
