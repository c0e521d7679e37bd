/* SPDX-License-Identifier: MIT */
/* Pictures: a kind makes a figure from sheets, and gnuplot draws it. A kind is a struct gt_plot_kind, with a function of its
 * own if no common one fits, and a row of the list below. */
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
	bool pareto;   /* draw the front of the points that no other beats in x and in y */
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
	bool may_be_free; /* numbers are along x, so that panels may have axes of their own */
	bool may_have_front; /* points of numbers against numbers */
	/* The options' x and y are the kind's where the user named none. Returns 0, -1, or GT_PLOT_NAMES. */
	int (*draw)(const struct gt_plot *plot, struct gt_figure *figure, struct gt_error *error);
};

#define GT_PLOT_NAMES 1 /* x has names, not numbers: kind bars draws them */

/* The kinds: those of boxes are in boxes.c, those of numbers against numbers in lines.c, pchase in its own file. */
#define GT_PLOT_KINDS(ROW) \
	ROW(histogram) ROW(csdd) ROW(curve) ROW(coalescing) ROW(bars) ROW(scatter) ROW(sweep) ROW(mru) ROW(pchase)
#define GT_PLOT_KIND(NAME) extern const struct gt_plot_kind gt_plot_##NAME;
GT_PLOT_KINDS(GT_PLOT_KIND)
#undef GT_PLOT_KIND

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

/* Writes the rows of the front of one sheet, with its columns and `knee`, as CSV. */
void gt_plot_write_front(const struct gt_figure *figure, const struct gt_sheet *sheet, FILE *to);

/* ---- a figure drawn by gnuplot: its script, or what gnuplot makes of it as a child process ---- */

enum gt_terminal { GT_SVG, GT_PNG, GT_TEXT };

struct gt_canvas {
	enum gt_terminal terminal;
	unsigned width, height; /* pixels, or characters; 0: as fits the figure */
};

/* The script as a text of *bytes bytes and a final 0, which the caller frees; NULL without memory. Texts of the figure are in
 * single quotes, in which gnuplot substitutes nothing, and contain no such quote. */
char *gt_gnuplot_script_text(const struct gt_figure *figure, struct gt_canvas canvas, size_t *bytes, struct gt_error *error);

/* Runs gnuplot, found in PATH, on the script. *picture has *bytes bytes and a final 0, and is freed by the caller. The
 * title of an SVG names the figure's title and axes. Returns 0, or -1 if there is no gnuplot or if it fails. */
int gt_gnuplot_draw(const struct gt_figure *figure, struct gt_canvas canvas, char **picture, size_t *bytes,
		    struct gt_error *error);

#endif
