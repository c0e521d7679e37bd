/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/utf8.h"
#include "report/plot/gnuplot_script.h"
#include "report/plot/ticks.h"

#define MARGINS 110   /* pixels at both sides of a panel */
#define LEFT_MARGIN 70 /* pixels that the y axis takes in any case */
#define PLACE_SHOWN 24 /* characters of a place's name */

static void put_range(char axis, const struct gt_ticks *ticks, FILE *to)
{
	fprintf(to, "set %crange [%.12g:%.12g]\nset %ctics (", axis, ticks->least, ticks->most, axis);
	for (size_t i = 0; i < ticks->n; i++) {
		fputs(i ? ", " : "", to);
		gt_gnuplot_quoted(ticks->label[i], true, to);
		fprintf(to, " %.12g", ticks->at[i]);
	}
	fputs(")\n", to);
}

/* The scale of an axis; an earlier panel may have set another. */
static void put_scale(char axis, const struct gt_axis *about, bool again, FILE *to)
{
	if (about->scale != GT_LINEAR)
		fprintf(to, "set logscale %c %d\n", axis, about->scale == GT_LOG2 ? 2 : 10);
	else if (again)
		fprintf(to, "unset logscale %c\n", axis);
}

/* Labels of an axis of names, rotated if they do not fit horizontally. */
static void put_places(const struct gt_script *script)
{
	const struct gt_axis *axis = &script->figure->x;
	bool text = script->canvas.terminal == GT_TEXT;
	size_t longest = 0, every = 1;
	char place[GT_FIGURE_TEXT];
	FILE *to = script->to;

	for (size_t i = 0; i < axis->places_n; i++)
		if (gt_utf8_characters(axis->places[i]) > longest)
			longest = gt_utf8_characters(axis->places[i]);
	longest = longest < PLACE_SHOWN ? longest : PLACE_SHOWN;
	double side = script->canvas.width / (double)script->columns;
	double room = (text ? 0.85 * side : fmax(side - MARGINS, MARGINS) / GT_LETTER) / (double)axis->places_n; /* letters */
	bool turned = (double)longest + 1 > room;
	if (turned && (text || longest <= 5)) { /* few letters: leave labels out instead */
		every = (size_t)ceil(((double)longest + 1) / fmax(room, 0.1));
		turned = false;
	}
	unsigned angle = !turned ? 0 : room > 3.8 && script->columns == 1 ? 35 : 90;
	double left = (double)longest * GT_LETTER * 0.82 - room * GT_LETTER / 2; /* the part of the first label that is left of its place */
	if (angle == 35 && left > LEFT_MARGIN)
		fprintf(to, "set lmargin at screen %.3f\nset rmargin 3\n", left / script->canvas.width);
	fprintf(to, "set xrange [-0.6:%.12g]\nset xtics rotate by %u %s scale 0 (", (double)axis->places_n - 0.4, angle,
		angle ? "right" : "center");
	for (size_t i = 0, put = 0; i < axis->places_n; i++) {
		if (i % every != 0 && !(i + 1 == axis->places_n && i % every > every / 2))
			continue;
		fputs(put++ ? ", " : "", to);
		gt_gnuplot_quoted(gt_figure_short(axis->places[i], PLACE_SHOWN, place), true, to);
		fprintf(to, " %zu", i);
	}
	fputs(")\n", to);
}

static unsigned labels_wanted(const struct gt_script *script, bool x)
{
	bool text = script->canvas.terminal == GT_TEXT;
	double side = x ? script->canvas.width / (double)script->columns : script->canvas.height / (double)script->rows;
	double wanted = side / (text ? (x ? 9 : 4) : x ? 75 : 60);

	return wanted < 2 ? 2 : wanted > 10 ? 10 : (unsigned)wanted;
}

void gt_gnuplot_axes(const struct gt_script *script, size_t panel)
{
	const struct gt_figure *figure = script->figure;
	const struct gt_axis *along = figure->free ? &figure->panel_x[panel] : &figure->x;
	const struct gt_axis *up = figure->free ? &figure->panel_y[panel] : &figure->y;
	struct gt_extent extent = gt_figure_extent_of(figure, panel);
	struct gt_ticks ticks;

	if (figure->diagonal) { /* the same range on both axes */
		extent.x_least = extent.y_least = fmin(extent.x_least, extent.y_least);
		extent.x_most = extent.y_most = fmax(extent.x_most, extent.y_most);
	}
	if (figure->x.places)
		put_places(script);
	else {
		gt_ticks_place(along, extent.x_least, extent.x_most, labels_wanted(script, true), &ticks);
		put_scale('x', along, figure->free, script->to);
		put_range('x', &ticks, script->to);
	}
	gt_ticks_place(up, extent.y_least, extent.y_most, labels_wanted(script, false), &ticks);
	put_scale('y', up, figure->free, script->to);
	put_range('y', &ticks, script->to);
	gt_gnuplot_set("xlabel", figure->x.label, script->to);
	if (script->canvas.terminal != GT_TEXT) /* see set_title */
		gt_gnuplot_set("ylabel", figure->y.label, script->to);
	for (size_t i = 0; i < figure->marks_n; i++)
		fprintf(script->to, "set arrow from first %.12g, graph 0 to first %.12g, graph 1 nohead dashtype 3 linecolor rgb '#707070'\n",
			figure->marks[i], figure->marks[i]);
}
