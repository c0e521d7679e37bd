/* SPDX-License-Identifier: MIT */
/* A figure by gnuplot: as its script, or drawn by it, run as a child process. */
#ifndef GT_REPORT_PLOT_GNUPLOT_H
#define GT_REPORT_PLOT_GNUPLOT_H

#include "report/plot/figure.h"

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
