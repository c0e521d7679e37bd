/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <stdio.h>

#include "report/format.h"

#define OPEN_KERNELS 4 /* with more kernels, their tables are collapsed */

/* The pipe, from its first to its last filter. */
static void write_history(const struct gt_page *page, FILE *to)
{
	fputs("<h2 id=\"pipe\">The pipe</h2>\n<p>The filters that the stream has passed, the first one first.</p>\n<pre><code>", to);
	gt_page_pipe(page, " |\n  ", to);
	fputs("</code></pre>\n", to);
}

/* The command of the program or trace, that of the first filter, and a colon. */
static void write_source(const struct gt_page *page, FILE *to)
{
	const char *first[2] = {page->history ? page->history[0] : NULL, NULL};
	const struct gt_page only = {.history = first};

	gt_page_pipe(&only, "", to);
	fputs(first[0] ? ": " : "", to);
}

static void write_head(const struct gt_page *page, FILE *to)
{
	char name[GT_PAGE_NAME];
	const struct gt_report *report = page->report;
	const struct gt_report_kernel *about = report->n == 1 ? &report->kernels[0] : &report->total;
	const char *gpu = report->gpu[0] ? report->gpu : "an unnamed GPU";

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>gtrace: ", to);
	write_source(page, to);
	gt_markup_text(gt_page_name(page, about, name), to);
	fputs(" on ", to);
	gt_markup_text(gpu, to);
	fprintf(to, "%s%s", page->date ? ", " : "", page->date ? page->date : "");
	fprintf(to, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>", gt_page_style);
	gt_markup_text(name, to);
	fputs("</h1>\n<dl>\n", to);
	fputs("<dt>GPU</dt><dd>", to);
	gt_markup_text(gpu, to);
	fputs(", modelled by gtrace</dd>\n", to);
	if (page->date)
		fprintf(to, "<dt>date</dt><dd>%s</dd>\n", page->date);
	fputs("<dt>pipe</dt><dd><code>", to);
	gt_page_pipe(page, " | ", to);
	fputs("</code></dd>\n</dl>\n</header>\n", to);
}

static void write_contents(const struct gt_page *page, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<nav aria-label=\"Contents\"><ul>\n", to);
	if (gt_page_has_misses(page))
		fputs("<li><a href=\"#misses\">Where the misses come from</a></li>\n", to);
	fputs("<li><a href=\"#pictures\">Pictures</a></li>\n", to);
	if (gt_page_has_coalescing(page))
		fputs("<li><a href=\"#coalescing\">Coalescing</a></li>\n", to);
	if (page->comparison)
		fputs("<li><a href=\"#hardware\">Hardware and model</a></li>\n", to);
	fputs("<li><a href=\"#pipe\">The pipe</a></li>\n<li><a href=\"#gpu\">The GPU</a></li>\n", to);
	if (page->report->n > 1)
		fputs("<li><a href=\"#total\">Total</a></li>\n", to);
	for (size_t i = 0; i < page->report->n; i++) {
		fprintf(to, "<li><a href=\"#kernel%zu\">", i);
		gt_markup_text(gt_page_name(page, &page->report->kernels[i], name), to);
		fputs("</a></li>\n", to);
	}
	fputs("<li><a href=\"#definitions\">Definitions</a></li>\n</ul></nav>\n<main>\n", to);
}

static void write_kernels(const struct gt_page *page, FILE *to)
{
	const struct gt_report *report = page->report;
	char name[GT_PAGE_NAME];

	if (report->n > 1) {
		fputs("<h2 id=\"total\">Total</h2>\n", to);
		gt_page_kernel(page, &report->total, to);
	}
	for (size_t i = 0; i < report->n; i++) {
		fprintf(to, "<h2 id=\"kernel%zu\">", i);
		gt_markup_text(gt_page_name(page, &report->kernels[i], name), to);
		fprintf(to, "</h2>\n<details%s><summary>Counters</summary>\n", report->n <= OPEN_KERNELS ? " open" : "");
		gt_page_kernel(page, &report->kernels[i], to);
		fputs("</details>\n", to);
	}
	if (report->n == 0)
		fputs("<p>The stream has no kernels.</p>\n", to);
}

/* What stands before the tables of the kernels. */
static int write_findings(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	if (gt_page_has_misses(page)) {
		fputs("<h2 id=\"misses\">Where the misses come from</h2>\n", to);
		if (gt_page_misses(page, to, error) != 0)
			return -1;
	}
	fputs("<h2 id=\"pictures\">Pictures</h2>\n", to);
	if (gt_page_pictures(page, to, error) != 0)
		return -1;
	if (gt_page_has_coalescing(page)) {
		fputs("<h2 id=\"coalescing\">Coalescing</h2>\n", to);
		if (gt_page_coalescing(page, to, error) != 0)
			return -1;
	}
	if (page->comparison) {
		fputs("<h2 id=\"hardware\">Hardware and model</h2>\n", to);
		if (gt_page_comparison(page, to, error) != 0)
			return -1;
	}
	return 0;
}

int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	write_head(page, to);
	write_contents(page, to);
	if (write_findings(page, to, error) != 0)
		return -1;
	write_history(page, to);
	if (gt_page_gpu(page, to, error) != 0)
		return -1;
	write_kernels(page, to);
	fputs("<h2 id=\"definitions\">Definitions</h2>\n", to);
	gt_page_definitions(page, to);
	fprintf(to, "</main>\n<footer><p>Written by gstats --report. The numbers are those of a model, not of hardware.</p></footer>\n"
		"<script>%s</script>\n</body>\n</html>\n", gt_page_script);
	return 0;
}
