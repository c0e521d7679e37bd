/* SPDX-License-Identifier: MIT */
/* The tables of a report on the page, and their definitions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "report/format.h"
#include "report/metric.h"
#include "report/page/part.h"
#include "stream/kernel_name.h"

#define TABLES 20 /* kernels that have a table of their own, at most; the others have a row in a table of each stage, */
#define KERNELS 200 /* of as many kernels in all */

void gt_page_number(uint64_t number, FILE *to)
{
	char text[GT_TABLE_NUMBER];

	fprintf(to, "<td class=\"number\">%s</td>", gt_table_number(number, text));
}

const char *gt_page_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME])
{
	char words[GT_KERNEL_NAME];
	const char *shown = gt_name_words(kernel->kernel.name, words);

	if (kernel == &page->report->total)
		snprintf(name, GT_PAGE_NAME, "all %zu kernels", page->report->n);
	else if (kernel->merged > 1)
		snprintf(name, GT_PAGE_NAME, "%s, %zu launches", shown, kernel->merged);
	else
		snprintf(name, GT_PAGE_NAME, "kernel %" PRIu64 "%s%s", kernel->kernel.id, shown[0] ? ", " : "", shown);
	return name;
}

/* "4 x 16 blocks of 32 x 8 threads, 32 registers a thread, 0 bytes of shared memory a block". */
static void write_launch(const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_kernel *launch = &kernel->kernel;
	const uint32_t *const shapes[] = {launch->grid, launch->block};
	const bool differs[] = {kernel->grid_differs, kernel->block_differs};
	char size[32];

	fputs("<p>", to);
	for (int i = 0; i < 2; i++) {
		if (differs[i] || shapes[i][0] == 0) {
			fprintf(to, "%s %s", differs[i] ? "different numbers of" : "unknown", i ? "threads" : "blocks");
		} else {
			fprintf(to, "%" PRIu32, shapes[i][0]);
			for (int j = 1; j < 3 && (shapes[i][1] > 1 || shapes[i][2] > 1); j++)
				if (j == 1 || shapes[i][2] > 1)
					fprintf(to, " × %" PRIu32, shapes[i][j]);
			fputs(i ? " threads" : " blocks", to);
		}
		fputs(i ? ", " : " of ", to);
	}
	if (launch->registers && !kernel->registers_differ)
		fprintf(to, "%" PRIu32 " registers a thread, ", launch->registers);
	fprintf(to, "%s bytes of shared memory a block.</p>\n",
		kernel->shared_differs ? "different" : gt_format_size(launch->shared_bytes, size));
}

static void begin_stage(const struct gt_report_stage *stage, int columns, FILE *to)
{
	fprintf(to, "<tbody>\n<tr><th colspan=\"%d\" scope=\"rowgroup\" class=\"stage\">", columns);
	gt_markup_text(stage->name, to);
	fputs("</th></tr>\n", to);
}

static void write_stage(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, FILE *to)
{
	struct gt_report_row row;
	bool several = kernel->merged > 1, begun = false;
	size_t length;

	for (size_t i = 0; i < stage->n; i++) {
		const struct gt_report_counter *counter = &stage->counters[i];
		if (gt_report_class(counter->value.name, &length) || !gt_report_make_row(kernel, stage, counter, &row))
			continue;
		if (!begun)
			begin_stage(stage, several ? 7 : 4, to);
		begun = true;
		fputs("<tr><th scope=\"row\">", to);
		gt_markup_text(row.name, to);
		fprintf(to, "</th><td%s>", row.is_text ? "" : " class=\"number\"");
		gt_markup_text(row.value, to);
		fputs("</td><td>", to);
		gt_markup_text(row.unit, to);
		fputs("</td><td>", to);
		gt_markup_text(row.remark + strspn(row.remark, " "), to);
		fputs("</td>", to);
		for (int k = 0; several && k < 3; k++)
			fprintf(to, "<td class=\"number\">%s</td>", row.spreads ? row.spread[k] : "");
		fputs("</tr>\n", to);
	}
	if (begun)
		fputs("</tbody>\n", to);
}

static void write_kernel(const struct gt_page *page, const struct gt_report_kernel *kernel, FILE *to)
{
	char name[GT_PAGE_NAME];

	if (kernel != &page->report->total && kernel->announced)
		write_launch(kernel, to);
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>Counters of ", to);
	gt_markup_text(gt_page_name(page, kernel, name), to);
	fprintf(to, "</caption>\n<thead><tr><th scope=\"col\">counter</th><th scope=\"col\" class=\"number\">%s</th>"
		"<th scope=\"col\">unit</th><th scope=\"col\">ratio or elements</th>%s</tr></thead>\n",
		kernel->merged > 1 ? "sum" : "value",
		kernel->merged > 1 ? "<th scope=\"col\" class=\"number\">least</th><th scope=\"col\" class=\"number\">mean</th>"
				     "<th scope=\"col\" class=\"number\">largest</th>" : "");
	for (size_t i = 0; i < kernel->n; i++)
		write_stage(kernel, &kernel->stages[i], to);
	if (kernel->n == 0)
		fputs("<tbody><tr><td colspan=\"4\">Nothing was counted.</td></tr></tbody>\n", to);
	fputs("</table></div>\n", to);
}

/* ---- a row a kernel, of kernels that have no table of their own ---- */

/* Whether a counter of the total is a column: a number of no class that is not 0. */
static bool is_column(const struct gt_report_counter *counter)
{
	size_t length;

	return counter->value.kind == GT_COUNT_NUMBER && counter->value.number > 0 && !gt_report_class(counter->value.name, &length);
}

static void write_cells(const struct gt_report_stage *columns, const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_report_stage *stage = gt_report_find_stage(kernel, columns->name);
	char text[GT_TABLE_NUMBER];
	uint64_t number;

	for (size_t i = 0; i < columns->n; i++)
		if (is_column(&columns->counters[i]))
			fprintf(to, "<td>%s</td>", stage && gt_report_number(stage, columns->counters[i].value.name, &number) ? gt_table_number(number, text) : "-");
}

static void write_rows(const struct gt_page *page, const struct gt_report_stage *columns, size_t first, FILE *to)
{
	char name[GT_PAGE_NAME];
	size_t n = 0;

	for (size_t i = 0; i < columns->n; i++)
		n += is_column(&columns->counters[i]);
	if (n == 0)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers sort\">\n<caption>Stage ", to);
	gt_markup_text(columns->name, to);
	fputs("</caption>\n<thead><tr><th scope=\"col\">kernel</th>", to);
	for (size_t i = 0; i < columns->n; i++)
		if (is_column(&columns->counters[i])) {
			fputs("<th scope=\"col\">", to);
			gt_markup_text(columns->counters[i].value.name, to);
			fputs("</th>", to);
		}
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = first; i < page->report->n && i < KERNELS; i++) {
		fputs("<tr><th scope=\"row\">", to);
		gt_markup_text(gt_page_name(page, &page->report->kernels[i], name), to);
		fputs("</th>", to);
		write_cells(columns, &page->report->kernels[i], to);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table></div>\n", to);
}

static void write_others(const struct gt_page *page, FILE *to)
{
	const struct gt_report *report = page->report;

	fprintf(to, "<details><summary>The other %zu kernels</summary>\n", report->n - TABLES);
	if (report->n > KERNELS)
		fprintf(to, "<p>The tables have %d of them: gstats --csv and --json have all, and gstats --kernel chooses some.</p>\n", KERNELS - TABLES);
	fputs("<p>Numbers that are not 0 in all kernels; gstats --csv and --json have the others, and arrays.</p>\n"
	      "<p class=\"paper\">These tables are wider than paper, and are not printed.</p>\n", to);
	for (size_t i = 0; i < report->total.n; i++)
		write_rows(page, &report->total.stages[i], TABLES, to);
	fputs("</details>\n", to);
}

/* ---- definitions ---- */

static void define(const char *stage, const char *name, const char *unit, const char *text, FILE *to)
{
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(name, to);
	fputs("</th><td>", to);
	gt_markup_text(stage, to);
	fputs("</td><td>", to);
	gt_markup_text(unit ? unit : "", to);
	fputs("</td><td>", to);
	gt_markup_text(text, to);
	fputs("</td></tr>\n", to);
}

/* Counters that are defined, each once. */
struct defined {
	const struct gt_counter **rows; /* n of them, owned */
	size_t n, capacity;
};

/* Defines a counter unless it is. That of a class has the definition of its row. */
static int define_counter(struct defined *defined, const char *stage, const struct gt_counter *about, FILE *to, struct gt_error *error)
{
	for (size_t i = 0; i < defined->n; i++)
		if (defined->rows[i] == about)
			return 0;
	const struct gt_counter **bigger = gt_grown(defined->rows, defined->n, &defined->capacity, sizeof *bigger);
	if (!bigger)
		return gt_fail_memory(error, "definitions");
	defined->rows = bigger;
	bigger[defined->n++] = about;
	define(stage, about->name, about->unit, about->definition, to);
	return 0;
}

static void define_ratios(const struct gt_report_kernel *total, FILE *to)
{
	char text[512];

	for (size_t i = 0; i < gt_ratios_n; i++) {
		const struct gt_metric *ratio = &gt_ratios[i];
		bool used = false;
		for (size_t j = 0; j < total->n && !used; j++)
			used = gt_metric_evaluate(ratio, total, &total->stages[j]).state != GT_METRIC_ABSENT;
		if (!used)
			continue;
		snprintf(text, sizeof text, "%s(%s) / (%s), of one stage's counters.", ratio->factor == 100 ? "100 × " : "", ratio->numerator, ratio->denominator);
		for (char *at = text, *out = text; (*out = *at); at++) /* shown as "reads + writes" for ".reads .writes" */
			out += *at != '.' || at[1] == '\0';
		define("ratio", ratio->name, ratio->unit, text, to);
	}
}

static int write_definitions(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report_kernel *total = &page->report->total;
	struct defined defined = {.n = 0};
	int result = 0;

	fputs("<details><summary>Definitions</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>What the counters and ratios of this report mean</caption>\n"
	      "<thead><tr><th scope=\"col\">name</th><th scope=\"col\">stage</th><th scope=\"col\">unit</th><th scope=\"col\">meaning</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < total->n; i++)
		for (size_t j = 0; j < total->stages[i].n && result == 0; j++) {
			const struct gt_counter *about = total->stages[i].counters[j].about;
			if (about->definition)
				result = define_counter(&defined, total->stages[i].plain, about, to, error);
		}
	free(defined.rows);
	define_ratios(total, to);
	fputs("</tbody></table></div></details>\n", to);
	return result;
}

/* ---- the section ---- */

static void write_folded(const struct gt_page *page, const struct gt_report_kernel *kernel, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<details><summary>", to);
	gt_markup_text(gt_page_name(page, kernel, name), to);
	fputs("</summary>\n", to);
	write_kernel(page, kernel, to);
	fputs("</details>\n", to);
}

static int write_counters(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report *report = page->report;

	if (report->n == 0)
		fputs("<p>The stream has no kernels.</p>\n", to);
	if (report->n > 1)
		write_folded(page, &report->total, to);
	for (size_t i = 0; i < report->n && i < TABLES; i++)
		write_folded(page, &report->kernels[i], to);
	if (report->n > TABLES)
		write_others(page, to);
	return write_definitions(page, to, error);
}

const struct gt_page_section gt_page_counters = {.id = "counters", .heading = "All counters", .write = write_counters};
