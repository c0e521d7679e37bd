/* SPDX-License-Identifier: MIT */
/* On the page: hardware, or counters of another run, beside the model; and two runs side by side. */
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

static void write_value(const char *word, bool known, double value, FILE *to)
{
	if (!word) {
		write_real(known ? value : NAN, to);
		return;
	}
	fputs("<td class=\"number\">", to);
	gt_markup_text(word, to);
	fputs("</td>", to);
}

static void write_row(const struct gt_comparison_row *row, FILE *to)
{
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(row->kernel[0] ? row->kernel : "-", to);
	fputs("</th><td>", to);
	gt_markup_text(row->metric ? row->metric : "-", to);
	fputs("</td><td>", to);
	gt_markup_text(row->metric ? row->unit : "", to);
	fputs("</td>", to);
	bool compared = row->note <= GT_COMPARED_LAST, word = row->words[0] || row->words[1];
	write_value(row->words[0], row->metric && !word && row->note != GT_NOT_IN_REFERENCE, row->hardware, to);
	write_value(row->words[1], row->metric && !word && (compared || row->note == GT_NOT_IN_REFERENCE), row->ours, to);
	write_real(compared && !word ? row->ours - row->hardware : NAN, to);
	fputs("<td>", to);
	gt_markup_text(gt_comparison_notes[row->note] ? gt_comparison_notes[row->note] : "", to);
	fputs("</td></tr>\n", to);
}

static void write_heading(const char *side, FILE *to)
{
	fputs("<th scope=\"col\" class=\"number\">", to);
	gt_markup_text(side, to);
	fputs("</th>", to);
}

static void write_rows(const struct gt_comparison *comparison, FILE *to)
{
	size_t n = 0;

	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>Launch by launch</caption>\n<thead><tr><th scope=\"col\">kernel</th>"
	      "<th scope=\"col\">metric</th><th scope=\"col\">unit</th>", to);
	write_heading(comparison->sides[0], to);
	write_heading(comparison->sides[1], to);
	fputs("<th scope=\"col\" class=\"number\">difference</th><th scope=\"col\">note</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < comparison->n; i++)
		if (gt_comparison_shows(comparison, &comparison->rows[i]) && n++ < ROWS_SHOWN)
			write_row(&comparison->rows[i], to);
	fputs("</tbody></table></div>\n", to);
	if (n > ROWS_SHOWN)
		fprintf(to, "<p>The first %d of %zu rows.</p>\n", ROWS_SHOWN, n);
	if (comparison->of_saved)
		fputs("<p>Counters that differ; gstats --csv has all.</p>\n", to);
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
	if (!page->comparison->of_saved) {
		write_errors(page->errors, to);
		if (draw(page->errors, to, error) != 0)
			return -1;
	}
	write_rows(page->comparison, to);
	return 0;
}

const struct gt_page_section gt_page_comparison = {
	.id = "hardware", .heading = "Comparison", .has = has_comparison, .write = write_comparison};

/* ---- two runs side by side ---- */

#define PAIRS_SHOWN 200 /* kernels; the others are fewer bytes apart */

static void write_text_cell(const char *text, bool number, FILE *to)
{
	fputs(number ? "<td class=\"number\">" : "<td>", to);
	gt_markup_text(text, to);
	fputs("</td>", to);
}

static void write_quantities(const struct gt_runs *runs, const struct gt_run_pair *pair, const char *caption, FILE *to)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n", to);
	if (caption)
		fprintf(to, "<caption>%s</caption>\n", caption);
	fputs("<thead><tr><th scope=\"col\">quantity</th>", to);
	write_heading(runs->run[GT_RUN_A]->name, to);
	write_heading(runs->run[GT_RUN_B]->name, to);
	fputs("<th scope=\"col\" class=\"number\">change</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < GT_QUANTITIES; i++) {
		const struct gt_quantity_value *values = pair->values[i];
		char text[GT_QUANTITY_TEXT];
		if (!values[GT_RUN_A].known && !values[GT_RUN_B].known)
			continue;
		fprintf(to, "<tr><th scope=\"row\">%s</th>", gt_quantities[i].label);
		for (int side = 0; side < GT_RUN_SIDES; side++)
			write_text_cell(gt_quantity_text(i, &values[side], text), true, to);
		write_text_cell(gt_quantity_change(i, values, text), true, to);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table></div>\n", to);
}

static void write_finding(const struct gt_run_pair *kernels, const struct gt_finding_pair *pair, FILE *to)
{
	const struct gt_finding *any = pair->side[GT_RUN_A] ? pair->side[GT_RUN_A] : pair->side[GT_RUN_B];
	struct gt_finding_numbers numbers;
	char place[GT_FINDING_PLACE];

	gt_finding_pair_numbers(kernels, pair, &numbers);
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(any->kind->title, to);
	fputs("</th>", to);
	write_text_cell(gt_finding_states[pair->state], false, to);
	write_text_cell(gt_finding_pair_place(pair, place), false, to);
	write_text_cell(any->arrays, false, to);
	write_text_cell(numbers.text[GT_RUN_A], true, to);
	write_text_cell(numbers.text[GT_RUN_B], true, to);
	write_text_cell(numbers.what, false, to);
	fputs("</tr>\n", to);
}

static void write_findings(const struct gt_runs *runs, const struct gt_run_pair *pair, FILE *to)
{
	size_t n = 0;

	for (size_t i = 0; i < pair->n; i++) {
		if (!gt_finding_pair_shown(&pair->findings[i]))
			continue;
		if (n++ == 0) {
			fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>Findings, with a number of each side</caption>\n<thead><tr>"
			      "<th scope=\"col\">finding</th><th scope=\"col\">state</th><th scope=\"col\">line</th><th scope=\"col\">arrays</th>", to);
			write_heading(runs->run[GT_RUN_A]->name, to);
			write_heading(runs->run[GT_RUN_B]->name, to);
			fputs("<th scope=\"col\">unit</th></tr></thead>\n<tbody>\n", to);
		}
		write_finding(pair, &pair->findings[i], to);
	}
	if (n > 0)
		fputs("</tbody></table></div>\n", to);
}

/* Names of kernels that one side has alone, and where. */
static void write_alone(const struct gt_runs *runs, int side, FILE *to)
{
	char name[2 * GT_KERNEL_NAME + 64];
	size_t n = 0;

	for (size_t i = runs->paired; i < runs->n; i++) {
		if (!runs->pairs[i].side[side])
			continue;
		if (n++ == 0) {
			fputs("<p>Only in ", to);
			gt_markup_text(runs->run[side]->name, to);
		}
		fputs(n == 1 ? ": " : ", ", to);
		gt_markup_text(gt_run_pair_name(runs, &runs->pairs[i], name), to);
	}
	if (n > 0)
		fputs(".</p>\n", to);
}

void gt_page_changes(const struct gt_runs *runs, FILE *to)
{
	char text[GT_RUNS_TEXT], name[2 * GT_KERNEL_NAME + 64];

	fputs("<p><strong>", to);
	gt_markup_text(gt_runs_sum(runs, text), to);
	fputs(".</strong> ", to);
	gt_markup_text(gt_runs_states(runs, text), to);
	fputs(text[0] ? ".</p>\n" : "</p>\n", to);
	write_quantities(runs, &runs->total, "All kernels. A sector is counted as its 32 bytes; a difference of less than 1 %, or one point, is the same.", to);
	for (int side = 0; side < GT_RUN_SIDES; side++)
		write_alone(runs, side, to);
	if (runs->by_site[GT_RUN_A] != runs->by_site[GT_RUN_B])
		fputs("<p>Findings are not compared, since one side was not counted by site.</p>\n", to);
	for (size_t i = 0; i < runs->paired && i < PAIRS_SHOWN; i++) {
		fputs("<h3>", to);
		gt_markup_text(gt_run_pair_name(runs, &runs->pairs[i], name), to);
		fputs("</h3>\n", to);
		write_quantities(runs, &runs->pairs[i], i == 0 && runs->paired > 1 ? "The kernel whose cost changes most" : NULL, to);
		write_findings(runs, &runs->pairs[i], to);
	}
	if (runs->paired > PAIRS_SHOWN)
		fprintf(to, "<p>The first %d of %zu kernels.</p>\n", PAIRS_SHOWN, runs->paired);
}
