/* SPDX-License-Identifier: MIT */
/* Kinds of pictures: each makes a figure from sheets. A kind is a row of a table, with a function of its own in the file of
 * its name if no common one fits. */
#ifndef GT_REPORT_PLOT_H
#define GT_REPORT_PLOT_H

#include "report/plot/figure.h"
#include "report/plot/sheet.h"

#define GT_PLOT_WHERE 16 /* conditions, at most */

struct gt_plot_options {
	const char *title, *x_label, *y_label; /* NULL: the kind's */
	const char *x;	   /* a column, or "file" */
	const char *y;	   /* columns or quotients A/B of two, separated by commas; NAME=COLUMN names one */
	const char *by;	   /* columns whose values make series */
	const char *panel; /* a column, or "file": a panel for each of its values */
	bool free;	   /* each panel has axes of its own */
	const char *log;   /* "", "x", "y", "xy", or NULL: decided by the data */
	const char *where[GT_PLOT_WHERE]; /* COLUMN=VALUE,...: only rows that have one of the values; several of them may be in one */
	size_t where_n;
	bool percent;  /* of the sum of the series */
	bool stacked;  /* bars of one place and file on top of each other */
	bool diagonal; /* draw the line x = y */
	double hit_below; /* cycles: a shorter latency is a hit; 0: not known */
};

struct gt_plot;

struct gt_plot_kind {
	const char *name;
	const char *x, *y, *by; /* the columns, unless options name them; NULL: must be named, or found */
	const char *panel;	/* the column of panels with axes of their own, if a table has it and options name none */
	const char *array;	/* of `gstats --csv`: the array counter that the kind draws, or NULL */
	const char *x_label, *y_label; /* NULL: from the names of the columns */
	enum gt_style style;
	/* Returns 0, -1, or GT_PLOT_NAMES. */
	int (*draw)(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
};

#define GT_PLOT_NAMES 1 /* x has names, not numbers: kind bars draws them */

struct gt_plot {
	const struct gt_plot_kind *kind;
	const struct gt_plot_options *options;
	const struct gt_sheet *sheets;
	size_t n;
};

/* The kind of that name, or NULL. */
const struct gt_plot_kind *gt_plot_kind_find(const char *name);

/* Makes the figure. Returns 0, or -1 with what the sheets lack; the caller clears the figure in either case. */
int gt_plot_figure(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);

/* ---- for the kinds ---- */

/* A number of a row that the options choose. */
struct gt_pick {
	const struct gt_sheet *sheet;
	size_t file; /* index of the sheet */
	size_t row;
	size_t series; /* of the figure */
	const char *x;
	double y;
};

/* Calls `take` for each number of the chosen rows, file by file, row by row, y by y, and creates the panels and series. A
 * y of "-" or "" is left out. */
int gt_pick_each(const struct gt_plot *plot, struct gt_figure *figure,
	    int (*take)(void *context, const struct gt_pick *pick, struct gt_error *error), void *context,
	    struct gt_error *error);

/* The x, y and by of the options, else of the kind. */
const char *gt_plot_x(const struct gt_plot *plot);
const char *gt_plot_y(const struct gt_plot *plot);

/* The words for a column: "l1.reads" is "l1 reads (sectors)"; *numbers becomes GT_SIZES for bytes. */
void gt_plot_words(const char *column, char words[GT_FIGURE_TEXT], enum gt_numbers *numbers);

/* A value of a column as names show it: 32K for 32768 in a column of sizes. */
const char *gt_plot_value(const char *column, const char *value, char buffer[GT_FIGURE_TEXT]);

/* Boxes, beside or on top of each other: see boxes.c. */
struct gt_boxes {
	struct gt_cell {
		size_t place, file, series;
		double value;
	} *cells; /* owned */
	size_t n, capacity;
};
int gt_boxes_add(struct gt_boxes *boxes, size_t place, const struct gt_pick *pick, double value, struct gt_error *error);
/* Makes the boxes the points of the figure's series, and frees them. */
int gt_boxes_put(struct gt_boxes *boxes, const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);

int gt_plot_histogram(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
int gt_plot_mru(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
int gt_plot_lines(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
int gt_plot_bars(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
int gt_plot_coalescing(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
int gt_plot_pchase(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);

#endif
