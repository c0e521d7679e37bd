/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/markup.h"
#include "report/page/page.h"
#include "report/plot/gnuplot.h"

#define SAID_POINTS 12 /* points that the text alternative lists one by one */

/* Pictures are embedded as images, so that their names and ids cannot collide with those of the page. */
static void write_base64(const char *bytes, size_t n, FILE *to)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t group = 0;
		for (size_t j = 0; j < 3; j++)
			group = group << 8 | (i + j < n ? (unsigned char)bytes[i + j] : 0);
		for (size_t j = 0; j < 4; j++)
			putc(i + j <= n ? digits[group >> (18 - 6 * j) & 63] : '=', to);
	}
}

/* "hits (% of reads) against kernel; l1: gemm 86.4; l2: gemm 72.7"; with many points, only their number per series. */
static void write_words(const struct gt_figure *figure, FILE *to)
{
	size_t points = 0;

	for (size_t i = 0; i < figure->series_n; i++)
		points += figure->series[i].n;
	gt_markup_text(figure->y.label, to);
	fputs(" against ", to);
	gt_markup_text(figure->x.label, to);
	for (size_t i = 0; i < figure->series_n; i++) {
		const struct gt_figure_series *series = &figure->series[i];
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

static int write_image(const struct gt_figure *figure, const char *caption, FILE *to, struct gt_error *error)
{
	struct gt_canvas canvas = {GT_SVG, 480, 320};
	char *picture;
	size_t bytes;

	if (gt_gnuplot_draw(figure, canvas, &picture, &bytes, error) != 0)
		return -1;
	fprintf(to, "<figure><img width=\"%u\" height=\"%u\" alt=\"", canvas.width, canvas.height);
	write_words(figure, to);
	fputs("\" src=\"data:image/svg+xml;base64,", to);
	write_base64(picture, bytes, to);
	fputs("\"><figcaption>", to);
	gt_markup_text(caption, to);
	fputs("</figcaption></figure>\n", to);
	free(picture);
	return 0;
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
			result = write_image(&figure, caption, to, error);
		gt_figure_clear(&figure);
	}
	gt_sheet_clear(sheet);
	return result;
}
