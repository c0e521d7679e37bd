/* SPDX-License-Identifier: MIT */
/* Draws a figure by gnuplot. A script has the terminal, the data of each series as a block ($data0, $data1 ...), and for each
 * panel its axes and one plot command. Several panels are a multiplot, with the title and one legend of all in a band above
 * them. All ticks are placed here, not by gnuplot, so that the output does not depend on its version. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/file.h"
#include "base/utf8.h"
#include "report/format.h"
#include "report/plot/plot.h"

#define LETTER 8	      /* pixels, on average */
#define NAME_SHOWN 40	      /* characters of a series' name */
#define PLACE_SHOWN 24	      /* characters of a place's name */
#define MARGINS 110	      /* pixels at both sides of a panel */
#define LEFT_MARGIN 70	      /* pixels that the y axis takes in any case */
#define TITLE_HEIGHT 30	      /* pixels */
#define LEGEND_LINE 20	      /* pixels */
#define PICTURE_MAX ((size_t)1 << 28)

struct script {
	const struct gt_figure *figure;
	struct gt_canvas canvas;
	FILE *to;
	size_t columns, rows; /* of panels */
	bool key;	      /* there is a legend */
	unsigned band;	      /* pixels above the panels, with the title and the one legend of all */
};

/* ---- texts ---- */

/* In single quotes gnuplot substitutes nothing. An apostrophe becomes a typographic one, so that it cannot end the
 * quotes. Labels of an axis are format strings, so there a percent sign is doubled. */
static void put_quoted(const char *text, bool label, FILE *to)
{
	putc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("\xE2\x80\x99", to);
		else
			putc(*text, to);
		if (label && *text == '%')
			putc('%', to);
	}
	putc('\'', to);
}

/* "set WHAT 'text'" */
static void set_text(const char *what, const char *text, FILE *to)
{
	fprintf(to, "set %s ", what);
	put_quoted(text, false, to);
	putc('\n', to);
}

/* " title 'name'" */
static void put_name(const struct script *script, const char *name)
{
	char text[GT_FIGURE_TEXT];

	fputs(" title ", script->to);
	put_quoted(gt_figure_short(name, NAME_SHOWN, text), false, script->to);
}

/* ---- colours and styles ---- */

/* The colours of Okabe and Ito, which people with any colour vision can distinguish; darkest first, for contrast with
 * white. */
static const char *const palette[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442"};
#define COLOURS (sizeof palette / sizeof *palette)

#define DASHES 5 /* that gnuplot has */

static const int point_types[] = {7, 5, 9, 11, 13, 6, 4, 8};

/* A colour's name for gnuplot; after the last, the first again. */
static const char *colour_of(size_t colour)
{
	return palette[colour % COLOURS];
}

/* "with ..." for a series. */
static void put_style(const struct script *script, const struct gt_figure_series *series, size_t colour)
{
	enum gt_style style = script->figure->style;
	const char *rgb = colour_of(colour);
	size_t again = colour / COLOURS; /* how often the palette was used completely */
	bool text = script->canvas.terminal == GT_TEXT;

	if (series->n < 2 && style != GT_BOXES)
		style = GT_POINTS;
	else if (series->is_front)
		style = GT_STEPS;
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

/* ---- axes ---- */

static void put_range(char axis, const struct gt_ticks *ticks, FILE *to)
{
	fprintf(to, "set %crange [%.12g:%.12g]\nset %ctics (", axis, ticks->least, ticks->most, axis);
	for (size_t i = 0; i < ticks->n; i++) {
		fputs(i ? ", " : "", to);
		put_quoted(ticks->label[i], true, to);
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
static void put_places(const struct script *script)
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
	double room = (text ? 0.85 * side : fmax(side - MARGINS, MARGINS) / LETTER) / (double)axis->places_n; /* letters */
	bool turned = (double)longest + 1 > room;
	if (turned && (text || longest <= 5)) { /* few letters: leave labels out instead */
		every = (size_t)ceil(((double)longest + 1) / fmax(room, 0.1));
		turned = false;
	}
	unsigned angle = !turned ? 0 : room > 3.8 && script->columns == 1 ? 35 : 90;
	double left = (double)longest * LETTER * 0.82 - room * LETTER / 2; /* the part of the first label that is left of its place */
	if (angle == 35 && left > LEFT_MARGIN)
		fprintf(to, "set lmargin at screen %.3f\nset rmargin 3\n", left / script->canvas.width);
	fprintf(to, "set xrange [-0.6:%.12g]\nset xtics rotate by %u %s scale 0 (", (double)axis->places_n - 0.4, angle,
		angle ? "right" : "center");
	for (size_t i = 0, put = 0; i < axis->places_n; i++) {
		if (i % every != 0 && !(i + 1 == axis->places_n && i % every > every / 2))
			continue;
		fputs(put++ ? ", " : "", to);
		put_quoted(gt_figure_short(axis->places[i], PLACE_SHOWN, place), true, to);
		fprintf(to, " %zu", i);
	}
	fputs(")\n", to);
}

static unsigned labels_wanted(const struct script *script, bool x)
{
	bool text = script->canvas.terminal == GT_TEXT;
	double side = x ? script->canvas.width / (double)script->columns : script->canvas.height / (double)script->rows;
	double wanted = side / (text ? (x ? 9 : 4) : x ? 75 : 60);

	return wanted < 2 ? 2 : wanted > 10 ? 10 : (unsigned)wanted;
}

/* Ranges, scales, ticks and labels of both axes, and the marks across. */
static void put_axes(const struct script *script, size_t panel)
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
	set_text("xlabel", figure->x.label, script->to);
	if (script->canvas.terminal != GT_TEXT) /* see set_title */
		set_text("ylabel", figure->y.label, script->to);
	for (size_t i = 0; i < figure->marks_n; i++)
		fprintf(script->to, "set arrow from first %.12g, graph 0 to first %.12g, graph 1 nohead dashtype 3 linecolor rgb '#707070'\n",
			figure->marks[i], figure->marks[i]);
}

/* ---- size ---- */

/* Lines that a legend of all series takes, beside each other in the picture's width. */
static unsigned legend_lines(const struct script *script)
{
	const struct gt_figure *figure = script->figure;
	size_t longest = figure->diagonal ? 5 : 0, names = gt_figure_names(figure) + figure->diagonal;

	for (size_t i = 0; i < figure->series_n; i++) {
		size_t characters = gt_utf8_characters(figure->series[i].name);
		longest = characters > longest ? characters : longest;
	}
	longest = longest < NAME_SHOWN ? longest : NAME_SHOWN;
	size_t fit = script->canvas.width / (longest * LETTER + 50);
	return (unsigned)((names + (fit ? fit : 1) - 1) / (fit ? fit : 1)) + 1;
}

static void lay_out(struct script *script)
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

static void set_terminal(const struct script *script)
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

static void put_data(const struct script *script)
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

/* ---- panels ---- */

/* A title is above the legend. A picture of characters has no room beside its y axis, so its label is put into the
 * title. */
static void set_title(const struct script *script, const char *title, bool key)
{
	char text[2 * GT_FIGURE_TEXT + 8];

	snprintf(text, sizeof text, "%s%s%s", title, *title ? "; y: " : "y: ", script->figure->y.label);
	if (script->canvas.terminal == GT_TEXT)
		title = text;
	if (*title)
		set_text(key ? "key title" : "title", title, script->to);
}

/* Puts the next panel into its place. Labels of axes stand at the edges of the picture. */
static void place_panel(const struct script *script, size_t panel)
{
	const struct gt_figure *figure = script->figure;
	size_t row = panel / script->columns, column = panel % script->columns;
	double height = (1 - script->band / (double)script->canvas.height) / (double)script->rows, width = 1.0 / (double)script->columns;

	fprintf(script->to, "set origin %.6f,%.6f\nset size %.6f,%.6f\n", (double)column * width, (double)(script->rows - 1 - row) * height,
		width, height);
	if (figure->free || panel == 0)
		put_axes(script, panel);
	set_text("xlabel", panel + script->columns >= figure->panels_n ? figure->x.label : "", script->to);
	if (script->canvas.terminal != GT_TEXT)
		set_text("ylabel", column == 0 ? figure->y.label : "", script->to);
}

static void put_panel(const struct script *script, size_t panel)
{
	const struct gt_figure *figure = script->figure;
	const char *comma = "plot ";
	char title[GT_FIGURE_TEXT];

	if (figure->panels_n > 1)
		place_panel(script, panel);
	if (figure->panels_n > 0) {
		size_t fit = script->canvas.width / script->columns / (script->canvas.terminal == GT_TEXT ? 1 : LETTER);
		set_title(script, gt_figure_short(figure->panels[panel], fit < 12 ? 10 : fit < 80 ? fit - 2 : 80, title), false);
	}
	for (size_t i = 0; i < figure->series_n; i++) {
		size_t colour = gt_figure_colour(figure, i);
		if (figure->series[i].panel != panel || figure->series[i].n == 0)
			continue;
		if (figure->margins)
			fprintf(script->to, "%s$data%zu using 1:3:4 with filledcurves linecolor rgb '%s' fillstyle transparent solid 0.2 notitle",
				comma, i, colour_of(colour));
		fprintf(script->to, "%s$data%zu %s", figure->margins ? ", " : comma, i,
			figure->style == GT_BOXES ? "using 1:2:3:4:5:6 " : "using 1:2 ");
		put_style(script, &figure->series[i], colour);
		put_name(script, figure->series[i].name);
		comma = ", ";
	}
	if (figure->diagonal) {
		fprintf(script->to, "%sx with lines linecolor rgb '#707070' dashtype 2", comma);
		put_name(script, "x = y");
	}
	putc('\n', script->to);
}

/* The title and the legend of several panels, above them: a panel without axes, whose series have no points. */
static void put_band(const struct script *script)
{
	const struct gt_figure *figure = script->figure;
	double part = script->band / (double)script->canvas.height;
	const char *comma = "plot ";

	if (script->band == 0)
		return;
	fprintf(script->to, "set origin 0,%.6f\nset size 1,%.6f\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n", 1 - part, part);
	set_text("title", figure->title, script->to);
	fputs(script->key ? "set key inside center center horizontal Left reverse samplen 2\n" : "unset key\n", script->to);
	for (size_t i = 0; script->key && i < figure->series_n; i++) {
		bool first = true;
		for (size_t j = 0; j < i && first; j++)
			first = strcmp(figure->series[i].name, figure->series[j].name) != 0;
		if (!first)
			continue;
		fprintf(script->to, figure->style == GT_BOXES ? "%s'+' using (NaN):(NaN):(NaN):(NaN):(NaN):(NaN) " : "%s'+' using (NaN):(NaN) ", comma);
		put_style(script, &figure->series[i], gt_figure_colour(figure, i));
		put_name(script, figure->series[i].name);
		comma = ", ";
	}
	if (!script->key)
		fputs("plot NaN notitle", script->to);
	else if (figure->diagonal)
		fprintf(script->to, "%sNaN with lines linecolor rgb '#707070' dashtype 2 title 'x = y'", comma);
	fputs("\nunset key\nunset title\nset border 3 linecolor rgb '#404040'\nset tics nomirror out\n", script->to);
}

/* Writes the script. */
static void write_script(const struct gt_figure *figure, struct gt_canvas canvas, FILE *to)
{
	struct script script = {.figure = figure, .canvas = canvas, .to = to};
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
			put_name(&script, figure->title);
		putc('\n', to);
		if (!text)
			put_band(&script);
	} else {
		put_axes(&script, 0);
		if (figure->panels_n == 0)
			set_title(&script, figure->title, script.key);
	}
	for (size_t panel = 0; panel < (figure->panels_n ? figure->panels_n : 1); panel++)
		put_panel(&script, panel);
	if (many)
		fputs("unset multiplot\n", to);
}

/* ---- running it ---- */

char *gt_gnuplot_script_text(const struct gt_figure *figure, struct gt_canvas canvas, size_t *bytes, struct gt_error *error)
{
	struct gt_memory_file script;

	if (gt_memory_file_open(&script, error) != 0)
		return NULL;
	write_script(figure, canvas, script.file);
	return gt_memory_file_take(&script, bytes, "a picture", error);
}

/* Runs gnuplot without its own settings and without the user's. */
static int run(const char *script, size_t script_bytes, char **picture, size_t *bytes, struct gt_error *error)
{
	char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "-";
	struct gt_child_output output;

	if (gt_child_run((char *[]){name, defaults, standard_input, NULL}, script, script_bytes, PICTURE_MAX, &output, error) != 0)
		return -1;
	if (output.status != 0 || output.bytes == 0) {
		free(output.text);
		if (WIFEXITED(output.status) && WEXITSTATUS(output.status) == 127)
			return gt_fail(error, "gnuplot cannot be run: %s", gt_child_reason("gnuplot", ENOENT));
		return gt_fail(error, "gnuplot failed: %s", output.complaint[0] ? output.complaint : "no message");
	}
	*picture = output.text;
	*bytes = output.bytes;
	return 0;
}

/* Replaces the title of an SVG, which is gnuplot's name and version, by the figure's: for screen readers, and so that the
 * output does not depend on the version. */
static int name_picture(const struct gt_figure *figure, char **picture, size_t *bytes, struct gt_error *error)
{
	char *from = strstr(*picture, "<title>"), *to = from ? strstr(from, "</desc>") : NULL;
	struct gt_memory_file named;

	if (!to)
		return 0;
	if (gt_memory_file_open(&named, error) != 0)
		return -1;
	FILE *file = named.file;
	fwrite(*picture, 1, (size_t)(from - *picture), file);
	fputs("<title>", file);
	if (figure->title[0]) {
		gt_markup_text(figure->title, file);
		fputs(": ", file);
	}
	gt_markup_text(figure->y.label, file);
	fputs(" against ", file);
	gt_markup_text(figure->x.label, file);
	fputs("</title>", file);
	fputs(to + strlen("</desc>"), file);
	free(*picture);
	*picture = gt_memory_file_take(&named, bytes, "a picture", error);
	return *picture ? 0 : -1;
}

int gt_gnuplot_draw(const struct gt_figure *figure, struct gt_canvas canvas, char **picture, size_t *bytes,
		    struct gt_error *error)
{
	size_t script_bytes = 0;
	char *script = gt_gnuplot_script_text(figure, canvas, &script_bytes, error);
	int result = script ? run(script, script_bytes, picture, bytes, error) : -1;

	free(script);
	if (result != 0) {
		*picture = NULL;
		return -1;
	}
	if (canvas.terminal == GT_TEXT && **picture == '\f') /* begins a page */
		memmove(*picture, *picture + 1, (*bytes)--);
	if (canvas.terminal == GT_SVG)
		result = name_picture(figure, picture, bytes, error);
	if (result != 0) {
		free(*picture);
		*picture = NULL;
	}
	return result;
}
