/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "report/format.h"
#include "report/page/page.h"

#define SAID_POINTS 12 /* points that the text alternative lists one by one */

/* "hits (% of reads) against kernel; l1: gemm 86.4; l2: gemm 72.7"; with many points, only their number per series. */
static void write_words(const struct gt_figure *figure, size_t panel, FILE *to)
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
		write_words(figure, panel, to);
		fputs("\">\n", to);
		gt_page_svg(figure, panel, to);
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
