/* SPDX-License-Identifier: MIT */
/* A figure in the page: each panel is a picture of its own, as SVG with a text alternative. Its colours are those of the page's
 * style, in light and dark, and each mark tells its value when the pointer is over it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "report/format.h"
#include "report/page/part.h"

#define WIDTH 480
#define HEIGHT 300
#define LEFT 58
#define RIGHT 20
#define BELOW 40     /* room for the labels of an axis */
#define SLANTED 80   /* the same, if they are slanted */
#define LETTER 6.6   /* mean width of a character of 12px */
#define COLOURS 8    /* of the style */
#define UNCUT 60     /* characters of a straight label, at most */
#define SAID_POINTS 12 /* points that the text alternative lists one by one */
#define LABEL 12     /* characters of a slanted label */

struct drawing {
	const struct gt_figure *figure;
	size_t panel;
	struct gt_ticks x, y; /* x only if it has no places */
	double top, bottom;   /* of the axes: below the legend, above the labels */
	FILE *to;
};

static const struct gt_axis *x_axis(const struct drawing *drawing)
{
	return drawing->figure->free ? &drawing->figure->panel_x[drawing->panel] : &drawing->figure->x;
}

static const struct gt_axis *y_axis(const struct drawing *drawing)
{
	return drawing->figure->free ? &drawing->figure->panel_y[drawing->panel] : &drawing->figure->y;
}

/* Where a value lies between the ends of an axis, from 0 to 1. */
static double share(const struct gt_axis *axis, const struct gt_ticks *ticks, double value)
{
	if (axis->scale == GT_LINEAR)
		return (value - ticks->least) / (ticks->most - ticks->least);
	if (value <= 0)
		value = axis->zero;
	return value > 0 ? log(value / ticks->least) / log(ticks->most / ticks->least) : 0;
}

static double x_of(const struct drawing *drawing, double value)
{
	const struct gt_axis *axis = x_axis(drawing);
	double part = axis->places ? (value + 0.5) / (double)axis->places_n : share(axis, &drawing->x, value);

	return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct drawing *drawing, double value)
{
	return drawing->bottom - share(y_axis(drawing), &drawing->y, value) * (drawing->bottom - drawing->top);
}

/* Text at a place; `anchor` is start, middle or end. */
static void write_text(const struct drawing *drawing, double x, double y, const char *anchor, const char *text)
{
	fprintf(drawing->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	gt_markup_text(text, drawing->to);
	fputs("</text>", drawing->to);
}

/* The names of the series above the picture, in as many lines as they need; then the label of y. */
static void write_legend(struct drawing *drawing)
{
	const struct gt_figure *figure = drawing->figure;
	char name[GT_FIGURE_TEXT];
	double x = LEFT, y = 14;

	for (size_t i = 0; i < figure->series_n; i++) {
		if (figure->series[i].panel != drawing->panel || !figure->series[i].name[0])
			continue;
		gt_figure_short(figure->series[i].name, 40, name);
		double width = 18 + LETTER * (double)strlen(name) + 12;
		if (x > LEFT && x + width > WIDTH) {
			x = LEFT;
			y += 17;
		}
		fprintf(drawing->to, "<rect class=\"c%zu\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>",
			gt_figure_colour(figure, i) % COLOURS, x, y - 10);
		write_text(drawing, x + 18, y, "start", name);
		x += width;
	}
	if (x > LEFT)
		y += 17;
	write_text(drawing, 2, y, "start", y_axis(drawing)->label);
	drawing->top = y + 10;
}

/* The label of a place, of at most so many characters: of an instruction with its line behind it, the line; without one, the
 * instruction. */
static const char *label_of(const struct gt_axis *axis, size_t place, size_t most, char name[GT_FIGURE_TEXT])
{
	const char *text = axis->places[place];
	size_t word = strcspn(text, " ");
	const char *line = text[word] ? text + word + 1 : "";
	size_t length = strcspn(line, " ");

	if (strncmp(text, "0x", 2) != 0 || word > LABEL)
		return gt_figure_short(text, most, name);
	if (!memchr(line, ':', length)) {
		line = text;
		length = word;
	}
	char copy[GT_FIGURE_TEXT];
	snprintf(copy, sizeof copy, "%.*s", (int)length, line);
	return gt_figure_short(copy, most, name);
}

/* Every how many places there is room for a label. */
static size_t label_every(const struct gt_axis *axis)
{
	double room = (double)(WIDTH - LEFT - RIGHT) / (double)axis->places_n;

	return room < 15 ? (size_t)(15 / room) + 1 : 1;
}

/* Whether labels must be slanted to fit. */
static bool is_slanted(const struct gt_axis *axis)
{
	double room = (double)(WIDTH - LEFT - RIGHT) / (double)axis->places_n * (double)label_every(axis);
	char name[GT_FIGURE_TEXT];

	for (size_t i = 0; i < axis->places_n; i++)
		if (((double)strlen(label_of(axis, i, UNCUT, name)) + 1) * LETTER > room)
			return true;
	return false;
}

static void write_places(const struct drawing *drawing, const struct gt_axis *axis)
{
	bool slanted = is_slanted(axis);
	char name[GT_FIGURE_TEXT];

	for (size_t i = 0; i < axis->places_n; i += label_every(axis)) {
		double x = x_of(drawing, (double)i), y = drawing->bottom + 15;
		label_of(axis, i, slanted ? LABEL : UNCUT, name);
		if (slanted) {
			fprintf(drawing->to, "<g transform=\"translate(%.1f %.1f) rotate(-30)\">", x + 4, y - 2);
			write_text(drawing, 0, 0, "end", name);
			fputs("</g>", drawing->to);
		} else {
			write_text(drawing, x, y, "middle", name);
		}
	}
}

static void write_axes(struct drawing *drawing)
{
	const struct gt_axis *axis = x_axis(drawing);
	double bottom = drawing->bottom;

	for (size_t i = 0; i < drawing->y.n; i++) {
		double y = y_of(drawing, drawing->y.at[i]);
		fprintf(drawing->to, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, y, y);
		write_text(drawing, LEFT - 5, y + 4, "end", drawing->y.label[i]);
	}
	if (axis->places)
		write_places(drawing, axis);
	for (size_t i = 0; !axis->places && i < drawing->x.n; i++)
		write_text(drawing, x_of(drawing, drawing->x.at[i]), bottom + 15, "middle", drawing->x.label[i]);
	write_text(drawing, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 5, "middle", axis->label);
	fprintf(drawing->to, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, bottom, bottom);
	if (drawing->figure->diagonal) {
		double least = fmax(drawing->x.least, drawing->y.least), most = fmin(drawing->x.most, drawing->y.most);
		fprintf(drawing->to, "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x_of(drawing, least),
			y_of(drawing, least), x_of(drawing, most), y_of(drawing, most));
	}
}

static void write_title(const struct drawing *drawing, const struct gt_figure_series *series, const struct gt_point *point)
{
	const struct gt_axis *axis = x_axis(drawing);
	size_t place = (size_t)(point->x + point->width / 2 + 0.5);

	fputs("<title>", drawing->to);
	if (axis->places)
		gt_markup_text(place < axis->places_n ? axis->places[place] : "", drawing->to);
	else
		fprintf(drawing->to, "%.6g", point->x);
	if (series->name[0]) {
		fputs(", ", drawing->to);
		gt_markup_text(series->name, drawing->to);
	}
	fprintf(drawing->to, ": %.6g</title>", drawing->figure->style == GT_BOXES ? point->y - point->low : point->y);
}

static void write_series(const struct drawing *drawing, size_t number)
{
	const struct gt_figure_series *series = &drawing->figure->series[number];
	size_t colour = gt_figure_colour(drawing->figure, number) % COLOURS;

	for (size_t i = 0; i < series->n; i++) {
		const struct gt_point *point = &series->points[i];
		double x = x_of(drawing, point->x), y = y_of(drawing, point->y);
		if (drawing->figure->style == GT_BOXES) {
			double width = x_of(drawing, point->x + point->width) - x, height = y_of(drawing, point->low) - y;
			fprintf(drawing->to, "<rect class=\"c%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", colour, x, y, width, height);
			write_title(drawing, series, point);
			fputs("</rect>\n", drawing->to);
		} else {
			fprintf(drawing->to, "<circle class=\"c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">", colour, x, y);
			write_title(drawing, series, point);
			fputs("</circle>\n", drawing->to);
		}
	}
}

static void write_svg(const struct gt_figure *figure, size_t panel, FILE *to)
{
	struct gt_extent extent = gt_figure_extent_of(figure, panel);
	struct drawing drawing = {.figure = figure, .panel = panel, .to = to};

	if (!x_axis(&drawing)->places)
		gt_ticks_place(x_axis(&drawing), extent.x_least, extent.x_most, 6, &drawing.x);
	gt_ticks_place(y_axis(&drawing), extent.y_least, extent.y_most, 5, &drawing.y);
	drawing.bottom = HEIGHT - (x_axis(&drawing)->places && is_slanted(x_axis(&drawing)) ? SLANTED : BELOW);
	write_legend(&drawing);
	write_axes(&drawing);
	for (size_t i = 0; i < figure->series_n; i++)
		if (figure->series[i].panel == panel)
			write_series(&drawing, i);
}

/* ---- the figure around it ---- */

/* "hits (% of reads) against kernel; l1: gemm 86.4; l2: gemm 72.7"; with many points, only their number per series. */
static void write_alternative(const struct gt_figure *figure, size_t panel, FILE *to)
{
	size_t points = 0;

	for (size_t i = 0; i < figure->series_n; i++)
		points += figure->series[i].panel == panel ? figure->series[i].n : 0;
	gt_markup_text(figure->y.label, to);
	fputs(" against ", to);
	gt_markup_text(figure->x.label, to);
	for (size_t i = 0; i < figure->series_n; i++) {
		const struct gt_figure_series *series = &figure->series[i];
		if (series->panel != panel)
			continue;
		fputs("; ", to);
		gt_markup_text(series->name, to);
		if (points > SAID_POINTS || !figure->x.places) {
			fprintf(to, "%s%zu points", series->name[0] ? ", " : "", series->n);
			continue;
		}
		fputs(series->name[0] ? ":" : "", to);
		for (size_t j = 0; j < series->n; j++) {
			const struct gt_point *point = &series->points[j];
			size_t place = (size_t)(point->x + point->width / 2 + 0.5);
			putc(' ', to);
			gt_markup_text(place < figure->x.places_n ? figure->x.places[place] : "", to);
			fprintf(to, " %.4g%s", point->y - point->low, j + 1 < series->n ? "," : "");
		}
	}
}

/* Each panel is a picture of its own. */
static void write_pictures(const struct gt_figure *figure, const char *caption, FILE *to)
{
	for (size_t panel = 0; panel < (figure->panels_n ? figure->panels_n : 1); panel++) {
		fputs("<figure><svg viewBox=\"0 0 480 300\" role=\"img\" aria-label=\"", to);
		write_alternative(figure, panel, to);
		fputs("\"><title>", to);
		gt_markup_text(figure->y.label, to);
		fputs(" against ", to);
		gt_markup_text(figure->x.label, to);
		fputs("</title>\n", to);
		write_svg(figure, panel, to);
		fputs("</svg><figcaption>", to);
		if (figure->panels_n > 1) {
			gt_markup_text(figure->panels[panel], to);
			fputs(". ", to);
		}
		gt_markup_text(caption, to);
		fputs("</figcaption></figure>\n", to);
	}
}

int gt_page_picture(const char *kind, const struct gt_plot_options *options, struct gt_sheet *sheet, const char *caption,
		    FILE *to, struct gt_error *error)
{
	const struct gt_plot_options none = {0};
	struct gt_plot plot = {.kind = gt_plot_kind_find(kind), .options = options ? options : &none, .sheets = sheet, .n = 1};
	struct gt_figure figure = {0};
	int result = 0;

	if (sheet->rows > 0) {
		result = gt_plot_figure(&plot, &figure, error);
		if (result == 0)
			write_pictures(&figure, caption, to);
		gt_figure_clear(&figure);
	}
	gt_sheet_clear(sheet);
	return result;
}
