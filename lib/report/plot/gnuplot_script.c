/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "report/plot/gnuplot_script.h"

#define TITLE_HEIGHT 30 /* pixels */
#define LEGEND_LINE 20 /* pixels */

/* ---- size ---- */

/* Lines that a legend of all series takes, beside each other in the picture's width. */
static unsigned legend_lines(const struct gt_script *script)
{
	const struct gt_figure *figure = script->figure;
	size_t longest = figure->diagonal ? 5 : 0, names = gt_figure_names(figure) + figure->diagonal;

	for (size_t i = 0; i < figure->series_n; i++) {
		size_t characters = gt_utf8_characters(figure->series[i].name);
		longest = characters > longest ? characters : longest;
	}
	longest = longest < GT_NAME_SHOWN ? longest : GT_NAME_SHOWN;
	size_t fit = script->canvas.width / (longest * GT_LETTER + 50);
	return (unsigned)((names + (fit ? fit : 1) - 1) / (fit ? fit : 1)) + 1;
}

static void lay_out(struct gt_script *script)
{
	size_t panels = script->figure->panels_n ? script->figure->panels_n : 1;
	bool text = script->canvas.terminal == GT_TEXT;
	bool wide = script->figure->style == GT_BOXES && script->figure->x.places_n >= 24;

	script->columns = panels == 1 || wide ? 1 : panels <= 4 ? 2 : panels <= 12 ? 3 : 4;
	if (text)
		script->columns = 1;
	script->rows = (panels + script->columns - 1) / script->columns;
	if (script->canvas.width == 0)
		script->canvas.width = text ? 79 : script->columns == 4 ? 1280 : script->columns == 3 ? 1080 : 800;
	if (panels > 1 && !text)
		script->band = (script->figure->title[0] ? TITLE_HEIGHT : 0) + (script->key ? LEGEND_LINE * legend_lines(script) : 0);
	if (script->canvas.height == 0)
		script->canvas.height = text ? (unsigned)(24 * script->rows)
				: script->rows == 1 ? (script->columns == 1 ? 500 : 380)
				: (unsigned)(wide ? 190 * script->rows : script->columns == 4 ? 270 * script->rows : 320 * script->rows) + script->band;
}

static void set_terminal(const struct gt_script *script)
{
	unsigned width = script->canvas.width, height = script->canvas.height;

	fputs("set encoding utf8\n", script->to);
	if (script->canvas.terminal == GT_TEXT)
		fprintf(script->to, "set terminal dumb size %u,%u noenhanced mono\n", width, height);
	else if (script->canvas.terminal == GT_PNG)
		fprintf(script->to, "set terminal pngcairo size %u,%u noenhanced font 'Sans,11' background '#FFFFFF'\n", width, height);
	else
		fprintf(script->to, "set terminal svg size %u,%u noenhanced font 'sans-serif,14' background '#FFFFFF'\n", width, height);
}

/* ---- data ---- */

static void put_data(const struct gt_script *script)
{
	const struct gt_figure *figure = script->figure;
	double floor_of_log = 0;

	if (figure->style == GT_BOXES && figure->y.scale != GT_LINEAR)
		floor_of_log = gt_figure_extent(figure).y_least / 1e6;
	for (size_t i = 0; i < figure->series_n; i++) {
		fprintf(script->to, "$data%zu << EOD\n", i);
		for (size_t j = 0; j < figure->series[i].n; j++) {
			const struct gt_point *p = &figure->series[i].points[j];
			if (figure->style == GT_BOXES)
				fprintf(script->to, "%.9g %.9g %.9g %.9g %.9g %.9g\n", p->x + p->width / 2, p->y, p->x,
					p->x + p->width, fmax(p->low, floor_of_log), p->y);
			else if (figure->margins) {
				fprintf(script->to, "%.9g %.9g %.9g %.9g\n", p->x, p->y, p->low, p->width);
				if (figure->style == GT_STEPS && j + 1 < figure->series[i].n)
					fprintf(script->to, "%.9g %.9g %.9g %.9g\n", p[1].x, p->y, p->low, p->width);
			}
			else
				fprintf(script->to, "%.9g %.9g\n", p->x, p->y);
		}
		fputs("EOD\n", script->to);
	}
}

/* A title is above the legend. A picture of characters has no room beside its y axis, so its label is put into the
 * title. */
static void set_title(const struct gt_script *script, const char *title, bool key)
{
	char text[2 * GT_FIGURE_TEXT + 8];

	snprintf(text, sizeof text, "%s%s%s", title, *title ? "; y: " : "y: ", script->figure->y.label);
	if (script->canvas.terminal == GT_TEXT)
		title = text;
	if (*title)
		gt_gnuplot_set(key ? "key title" : "title", title, script->to);
}

/* Puts the next panel into its place. Labels of axes stand at the edges of the picture. */
static void place_panel(const struct gt_script *script, size_t panel)
{
	const struct gt_figure *figure = script->figure;
	size_t row = panel / script->columns, column = panel % script->columns;
	double height = (1 - script->band / (double)script->canvas.height) / (double)script->rows, width = 1.0 / (double)script->columns;

	fprintf(script->to, "set origin %.6f,%.6f\nset size %.6f,%.6f\n", (double)column * width, (double)(script->rows - 1 - row) * height,
		width, height);
	if (figure->free || panel == 0)
		gt_gnuplot_axes(script, panel);
	gt_gnuplot_set("xlabel", panel + script->columns >= figure->panels_n ? figure->x.label : "", script->to);
	if (script->canvas.terminal != GT_TEXT)
		gt_gnuplot_set("ylabel", column == 0 ? figure->y.label : "", script->to);
}

static void put_panel(const struct gt_script *script, size_t panel)
{
	const struct gt_figure *figure = script->figure;
	const char *comma = "plot ";
	char title[GT_FIGURE_TEXT];

	if (figure->panels_n > 1)
		place_panel(script, panel);
	if (figure->panels_n > 0) {
		size_t fit = script->canvas.width / script->columns / (script->canvas.terminal == GT_TEXT ? 1 : GT_LETTER);
		set_title(script, gt_figure_short(figure->panels[panel], fit < 12 ? 10 : fit < 80 ? fit - 2 : 80, title), false);
	}
	for (size_t i = 0; i < figure->series_n; i++) {
		size_t colour = gt_figure_colour(figure, i);
		if (figure->series[i].panel != panel || figure->series[i].n == 0)
			continue;
		if (figure->margins)
			fprintf(script->to, "%s$data%zu using 1:3:4 with filledcurves linecolor rgb '%s' fillstyle transparent solid 0.2 notitle",
				comma, i, gt_gnuplot_colour(colour));
		fprintf(script->to, "%s$data%zu %s", figure->margins ? ", " : comma, i,
			figure->style == GT_BOXES ? "using 1:2:3:4:5:6 " : "using 1:2 ");
		gt_gnuplot_style(script, &figure->series[i], colour);
		gt_gnuplot_name(script, figure->series[i].name);
		comma = ", ";
	}
	if (figure->diagonal) {
		fprintf(script->to, "%sx with lines linecolor rgb '#707070' dashtype 2", comma);
		gt_gnuplot_name(script, "x = y");
	}
	putc('\n', script->to);
}

/* The title and the legend of several panels, above them: a panel without axes, whose series have no points. */
static void put_band(const struct gt_script *script)
{
	const struct gt_figure *figure = script->figure;
	double part = script->band / (double)script->canvas.height;
	const char *comma = "plot ";

	if (script->band == 0)
		return;
	fprintf(script->to, "set origin 0,%.6f\nset size 1,%.6f\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n", 1 - part, part);
	gt_gnuplot_set("title", figure->title, script->to);
	fputs(script->key ? "set key inside center center horizontal Left reverse samplen 2\n" : "unset key\n", script->to);
	for (size_t i = 0; script->key && i < figure->series_n; i++) {
		bool first = true;
		for (size_t j = 0; j < i && first; j++)
			first = strcmp(figure->series[i].name, figure->series[j].name) != 0;
		if (!first)
			continue;
		fprintf(script->to, figure->style == GT_BOXES ? "%s'+' using (NaN):(NaN):(NaN):(NaN):(NaN):(NaN) " : "%s'+' using (NaN):(NaN) ", comma);
		gt_gnuplot_style(script, &figure->series[i], gt_figure_colour(figure, i));
		gt_gnuplot_name(script, figure->series[i].name);
		comma = ", ";
	}
	if (!script->key)
		fputs("plot NaN notitle", script->to);
	else if (figure->diagonal)
		fprintf(script->to, "%sNaN with lines linecolor rgb '#707070' dashtype 2 title 'x = y'", comma);
	fputs("\nunset key\nunset title\nset border 3 linecolor rgb '#404040'\nset tics nomirror out\n", script->to);
}

void gt_gnuplot_script(const struct gt_figure *figure, struct gt_canvas canvas, FILE *to)
{
	struct gt_script script = {.figure = figure, .canvas = canvas, .to = to};
	bool many = figure->panels_n > 1, text = canvas.terminal == GT_TEXT;

	script.key = gt_figure_names(figure) > 1 || figure->diagonal || (figure->series_n > 0 && figure->series[0].name[0]);
	lay_out(&script);
	set_terminal(&script);
	fprintf(to, "set border 3 linecolor rgb '#404040'\nset tics nomirror %s\nset samples 200\n", text ? "in" : "out");
	if (!text)
		fputs("set grid ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'\n", to);
	fputs(script.key ? "set key outside above center horizontal Left reverse samplen 2\n" : "unset key\n", to);
	put_data(&script);
	if (many) {
		fputs("set multiplot", to);
		if (text && figure->title[0])
			gt_gnuplot_name(&script, figure->title);
		putc('\n', to);
		if (!text)
			put_band(&script);
	} else {
		gt_gnuplot_axes(&script, 0);
		if (figure->panels_n == 0)
			set_title(&script, figure->title, script.key);
	}
	for (size_t panel = 0; panel < (figure->panels_n ? figure->panels_n : 1); panel++)
		put_panel(&script, panel);
	if (many)
		fputs("unset multiplot\n", to);
}
