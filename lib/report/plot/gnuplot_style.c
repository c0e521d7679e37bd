/* SPDX-License-Identifier: MIT */
#include "report/plot/gnuplot_script.h"

/* The colours of Okabe and Ito, which people with any colour vision can distinguish; darkest first, for contrast with
 * white. */
static const char *const palette[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442"};
#define COLOURS (sizeof palette / sizeof *palette)

#define DASHES 5 /* that gnuplot has */

static const int point_types[] = {7, 5, 9, 11, 13, 6, 4, 8};

const char *gt_gnuplot_colour(size_t colour)
{
	return palette[colour % COLOURS];
}

void gt_gnuplot_style(const struct gt_script *script, const struct gt_figure_series *series, size_t colour)
{
	enum gt_style style = script->figure->style;
	const char *rgb = gt_gnuplot_colour(colour);
	size_t again = colour / COLOURS; /* how often the palette was used completely */
	bool text = script->canvas.terminal == GT_TEXT;

	if (series->n < 2 && style != GT_BOXES)
		style = GT_POINTS;
	else if (text && style == GT_LINES_POINTS)
		style = GT_LINES;
	switch (style) {
	case GT_BOXES:
		fprintf(script->to, "with boxxyerror linecolor rgb '%s' fillstyle ", rgb);
		if (text)
			fputs("empty border", script->to);
		else if (again)
			fprintf(script->to, "pattern %d border", again == 1 ? 2 : 1);
		else
			fputs("solid 1.0 noborder", script->to);
		return;
	case GT_POINTS:
		fprintf(script->to, "with points linecolor rgb '%s' pointtype %d pointsize %s", rgb, text ? (int)colour + 1 : point_types[colour % COLOURS],
			series->n > 500 ? "0.25" : series->n > 100 ? "0.7" : "1");
		return;
	case GT_LINES_POINTS:
		fprintf(script->to, "with linespoints pointtype %d pointsize 0.7", point_types[colour % COLOURS]);
		break;
	case GT_LINES:
	case GT_STEPS:
		fputs(style == GT_STEPS ? "with steps" : "with lines", script->to);
		break;
	}
	/* Each line is thinner than the previous one, so that lines that coincide are all visible. */
	size_t names = gt_figure_names(script->figure);
	double step = names <= 4 ? 1.2 : names <= 8 ? 0.7 : 0.25;
	/* With more than four, thin lines on thick ones would be hard to see: the upper ones are dashed besides. */
	size_t dash = names <= 4 ? 0 : (colour + again) % DASHES;
	fprintf(script->to, " linewidth %g dashtype %zu linecolor rgb '%s'", 2 + step * (double)(names - 1 - colour), dash + 1, rgb);
}
