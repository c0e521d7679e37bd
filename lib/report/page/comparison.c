/* SPDX-License-Identifier: MIT */
/* Hardware beside the model on the page. */
#include <math.h>
#include <stdio.h>

#include "report/format.h"
#include "report/page/part.h"

#define ROWS_SHOWN 500

static void write_real(double value, FILE *to)
{
	if (isnan(value))
		fputs("<td class=\"number\">-</td>", to);
	else
		fprintf(to, "<td class=\"number\">%.6g</td>", value);
}

static void write_row(const struct gt_comparison_row *row, FILE *to)
{
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(row->kernel[0] ? row->kernel : "-", to);
	fputs("</th><td>", to);
	gt_markup_text(row->metric ? row->metric->name : "-", to);
	fputs("</td><td>", to);
	gt_markup_text(row->metric ? row->metric->unit : "", to);
	fputs("</td>", to);
	bool compared = row->note <= GT_COMPARED_LAST;
	write_real(compared || row->note == GT_IMPOSSIBLE || row->note == GT_NOT_TOLD || row->note == GT_NOT_IN_MODEL ? row->hardware : NAN, to);
	write_real(compared ? row->ours : NAN, to);
	write_real(compared ? row->ours - row->hardware : NAN, to);
	fputs("<td>", to);
	gt_markup_text(gt_comparison_notes[row->note] ? gt_comparison_notes[row->note] : "", to);
	fputs("</td></tr>\n", to);
}

static void write_rows(const struct gt_comparison *comparison, FILE *to)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>Launch by launch</caption>\n<thead><tr><th scope=\"col\">kernel</th>"
	      "<th scope=\"col\">metric</th><th scope=\"col\">unit</th><th scope=\"col\" class=\"number\">hardware</th>"
	      "<th scope=\"col\" class=\"number\">ours</th><th scope=\"col\" class=\"number\">difference</th><th scope=\"col\">note</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < comparison->n && i < ROWS_SHOWN; i++)
		write_row(&comparison->rows[i], to);
	fputs("</tbody></table></div>\n", to);
	if (comparison->n > ROWS_SHOWN)
		fprintf(to, "<p>The first %d of %zu rows.</p>\n", ROWS_SHOWN, comparison->n);
	if (comparison->n_others > 0)
		fputs("<p>Not modelled:", to);
	for (size_t i = 0; i < comparison->n_others; i++) {
		fputs(i ? ", " : " ", to);
		gt_markup_text(comparison->others[i], to);
	}
	if (comparison->n_others > 0)
		fputs(".</p>\n", to);
}

static void write_errors(const struct gt_errors *errors, FILE *to)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>Errors by metric: MAPE is the mean error in percent where "
	      "hardware is not 0, MAE the mean absolute error in the unit, r Pearson's correlation</caption>\n<thead><tr><th scope=\"col\">metric</th>"
	      "<th scope=\"col\">unit</th><th scope=\"col\" class=\"number\">rows</th><th scope=\"col\" class=\"number\">MAPE %</th>"
	      "<th scope=\"col\" class=\"number\">MAE</th><th scope=\"col\" class=\"number\">r</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics statistics = gt_errors_statistics(&errors->metrics[i]);
		fputs("<tr><th scope=\"row\">", to);
		gt_markup_text(errors->metrics[i].name, to);
		fputs("</th><td>", to);
		gt_markup_text(errors->metrics[i].unit, to);
		fputs("</td>", to);
		gt_page_number(statistics.n, to);
		write_real(statistics.mape, to);
		write_real(statistics.mae, to);
		write_real(statistics.pearson, to);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table></div>\n", to);
}

/* A picture for each metric with several rows: points on the diagonal agree. */
static int draw(const struct gt_errors *errors, FILE *to, struct gt_error *error)
{
	int result = 0;

	fputs("<div class=\"pictures\">\n", to);
	for (size_t i = 0; i < errors->n && result == 0; i++) {
		const struct gt_errors_metric *metric = &errors->metrics[i];
		struct gt_plot_options options = {.x = "hardware", .y = "ours", .log = "", .diagonal = true};
		char numbers[2][32], caption[512];
		struct gt_sheet sheet;
		if (metric->n < 2)
			continue;
		gt_sheet_begin(&sheet, metric->name);
		result = gt_sheet_row(&sheet, (const char *const[]){"hardware", "ours"}, 2, error);
		for (size_t j = 0; j < metric->n && result == 0; j++) {
			snprintf(numbers[0], sizeof numbers[0], "%.17g", metric->hardware[j]);
			snprintf(numbers[1], sizeof numbers[1], "%.17g", metric->ours[j]);
			result = gt_sheet_row(&sheet, (const char *const[]){numbers[0], numbers[1]}, 2, error);
		}
		snprintf(caption, sizeof caption, "%.300s (%.60s): what is on the line agrees.", metric->name, metric->unit);
		if (result == 0)
			result = gt_page_picture("scatter", &options, &sheet, caption, to, error);
		else
			gt_sheet_clear(&sheet);
	}
	fputs("</div>\n", to);
	return result;
}

static bool has_comparison(const struct gt_page *page)
{
	return page->comparison != NULL;
}

static int write_comparison(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	write_errors(page->errors, to);
	if (draw(page->errors, to, error) != 0)
		return -1;
	write_rows(page->comparison, to);
	return 0;
}

const struct gt_page_section gt_page_comparison = {
	.id = "hardware", .heading = "Hardware and model", .has = has_comparison, .write = write_comparison};
