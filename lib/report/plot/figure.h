/* SPDX-License-Identifier: MIT */
/* A figure, independent of the program that draws it: axes with labels, and panels with series of points. All numbers are
 * finite. */
#ifndef GT_REPORT_PLOT_FIGURE_H
#define GT_REPORT_PLOT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

#define GT_FIGURE_SERIES 24	/* in a figure, at most: more cannot be distinguished */
#define GT_FIGURE_PANELS 36	/* at most */
#define GT_FIGURE_PLACES 160	/* of an axis of names, at most */
#define GT_FIGURE_TEXT 384	/* bytes of a label, with its final 0 */

enum gt_scale { GT_LINEAR, GT_LOG2, GT_LOG10 };

/* The format of the numbers along an axis. */
enum gt_numbers {
	GT_PLAIN, /* 1, 0.5, 20k, 1.5M: decimal thousands */
	GT_SIZES, /* 32K, 1.5M: powers of 1024 */
};

struct gt_axis {
	char label[GT_FIGURE_TEXT];
	enum gt_scale scale;
	enum gt_numbers numbers;
	bool from_zero;	  /* 0 is part of the axis */
	double end;	  /* its smallest upper end; 0: the data's */
	double zero;	  /* of a logarithmic axis: where values of 0 are drawn, below all others; 0: there are none */
	char (*places)[GT_FIGURE_TEXT]; /* an axis of names, at 0, 1, 2 ...; NULL: of numbers; owned */
	size_t places_n;
};

enum gt_style { GT_LINES, GT_STEPS, GT_LINES_POINTS, GT_POINTS, GT_BOXES };

/* A point, or a box from (x, low) to (x + width, y). */
struct gt_point {
	double x, y, low, width;
};

struct gt_figure_series {
	char name[GT_FIGURE_TEXT]; /* "" only if it is the only one */
	struct gt_point *points;   /* owned */
	size_t n, capacity;
	size_t panel;
	bool is_front; /* the front of the other points of its panel: steps, whatever the figure's style */
};

/* A row of a table that no other beats. */
struct gt_front_row {
	size_t sheet, row;
	bool knee;
};

struct gt_figure {
	char title[GT_FIGURE_TEXT];
	struct gt_axis x, y;
	bool free; /* each panel has axes of its own, panel_x and panel_y */
	struct gt_axis panel_x[GT_FIGURE_PANELS], panel_y[GT_FIGURE_PANELS]; /* as x and y, with the scale of the panel */
	enum gt_style style;
	bool diagonal; /* draw where x = y */
	bool margins;  /* low and width are the lower and upper bound of an uncertain y: draw the band between */
	double marks[8]; /* vertical lines */
	size_t marks_n;
	struct gt_figure_series *series; /* owned */
	size_t series_n;
	char panels[GT_FIGURE_PANELS][GT_FIGURE_TEXT]; /* their titles */
	size_t panels_n;
	struct gt_front_row *front; /* panel by panel, by rising x; owned */
	size_t front_n, front_capacity;
	char front_text[GT_FIGURE_TEXT]; /* what is to be small and large there */
};

/* An empty figure, freed by gt_figure_clear. */
void gt_figure_begin(struct gt_figure *figure);
void gt_figure_clear(struct gt_figure *figure);

/* The panel of that title, or the series of that name in a panel, created if it is new; -1 if there are too many. Texts
 * are cleaned for drawing (utf8.h). */
int gt_figure_panel(struct gt_figure *figure, const char *title, struct gt_error *error);
int gt_figure_series_of(struct gt_figure *figure, size_t panel, const char *name, struct gt_error *error);
/* The place of a name on an axis of names, created if it is new; -1 if there are too many. */
int gt_figure_place(struct gt_axis *axis, const char *name, struct gt_error *error);
/* A name of at most so many characters, below GT_FIGURE_TEXT / 4. A longer one keeps both its ends, but of a path and of a profiler's
 * metric the end tells most. Returns the buffer. */
const char *gt_figure_short(const char *name, size_t most, char buffer[GT_FIGURE_TEXT]);
int gt_figure_point(struct gt_figure_series *series, struct gt_point point, struct gt_error *error);

/* Smallest and largest x and y of all points; 0 to 1 if there are none. */
struct gt_extent {
	double x_least, x_most, y_least, y_most;
};
struct gt_extent gt_figure_extent(const struct gt_figure *figure);
/* The same for the points of one panel; with axes for all, of all. */
struct gt_extent gt_figure_extent_of(const struct gt_figure *figure, size_t panel);

/* The number of different names among the series of all panels; the index of a series' name among them. */
size_t gt_figure_names(const struct gt_figure *figure);
size_t gt_figure_colour(const struct gt_figure *figure, size_t series);

/* ---- the marks of an axis, and their labels ---- */

#define GT_TICKS 24 /* of an axis of numbers, at most */
#define GT_TICK_TEXT 32

struct gt_ticks {
	double least, most; /* the range of the axis */
	double at[GT_TICKS];
	char label[GT_TICKS][GT_TICK_TEXT];
	size_t n;
};

/* Marks an axis of numbers for data from least to most, with about `wanted` (2 to 12) labels. */
void gt_ticks_place(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks);

#endif
