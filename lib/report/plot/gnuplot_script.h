/* SPDX-License-Identifier: MIT */
/* The parts of a script for gnuplot. */
#ifndef GT_REPORT_PLOT_GNUPLOT_SCRIPT_H
#define GT_REPORT_PLOT_GNUPLOT_SCRIPT_H

#include "report/plot/gnuplot.h"

#define GT_LETTER 8	 /* pixels, on average */
#define GT_NAME_SHOWN 40 /* characters of a series' name */

struct gt_script {
	const struct gt_figure *figure;
	struct gt_canvas canvas;
	FILE *to;
	size_t columns, rows; /* of panels */
	bool key;	      /* there is a legend */
	unsigned band;	      /* pixels above the panels, with the title and the one legend of all */
};

/* ---- gnuplot_text.c ---- */

/* In single quotes gnuplot substitutes nothing. An apostrophe becomes a typographic one, so that it cannot end the
 * quotes. Labels of an axis are format strings, so there a percent sign is doubled. */
void gt_gnuplot_quoted(const char *text, bool label, FILE *to);
/* "set WHAT 'text'" */
void gt_gnuplot_set(const char *what, const char *text, FILE *to);
/* " title 'name'" */
void gt_gnuplot_name(const struct gt_script *script, const char *name);

/* ---- gnuplot_axes.c ---- */

/* Ranges, scales, ticks and labels of both axes, and the marks across. */
void gt_gnuplot_axes(const struct gt_script *script, size_t panel);

/* ---- gnuplot_style.c ---- */

/* A colour's name for gnuplot; after the last, the first again. */
const char *gt_gnuplot_colour(size_t colour);
/* "with ..." for a series. */
void gt_gnuplot_style(const struct gt_script *script, const struct gt_figure_series *series, size_t colour);

#endif
