/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <inttypes.h>
#include <string.h>

#include "report/markup.h"

#define OPEN_KERNELS 4 /* with more kernels, their tables are collapsed */

/* Dark text on white, with a contrast of 7:1 or more. Wide tables scroll by themselves, so that the page does not. */
static const char style[] =
	":root{color-scheme:light}"
	"body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;max-width:64rem;padding:0 1rem 3rem}"
	"h1{font-size:1.6rem;margin:1.5rem 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:2px solid #0072b2}"
	"h3{font-size:1.05rem;margin:1.5rem 0 .5rem}h1,h2,h3,li,summary{overflow-wrap:anywhere}"
	"a{color:#00518a}nav ul{padding-left:1.2rem;columns:18rem;column-gap:2rem}nav li{break-inside:avoid}"
	"pre{background:#f3f3f3;padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere}"
	".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0 0 1rem;width:480px;max-width:100%}"
	"img{max-width:100%;height:auto;border:1px solid #ddd}figcaption{font-size:.9rem;color:#444}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 1rem}"
	"caption{text-align:left;color:#444;font-size:.9rem;padding-bottom:.25rem}"
	"th,td{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0;border-bottom:1px solid #ddd;font-weight:400}"
	"tbody th{min-width:6rem;overflow-wrap:anywhere}thead th{white-space:nowrap;font-weight:600;border-bottom:2px solid #888}th.stage{font-weight:600;padding-top:.75rem}"
	"th.number,td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:.75rem}"
	"summary{cursor:pointer;font-weight:600}footer{margin-top:3rem;color:#444;font-size:.9rem}";

/* Whether the word needs no quotes in a shell. */
static bool plain(const char *word, size_t length)
{
	return length > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") >= length;
}

/* Writes a filter of the history, "name\tversion\targument...", as a command line. */
static void write_filter(const char *line, FILE *to)
{
	for (size_t field = 0; line; field++) {
		size_t length = strcspn(line, "\t");
		char word[512];
		snprintf(word, sizeof word, "%.*s", (int)(length < 500 ? length : 500), line);
		if (field != 1) { /* the version */
			bool quotes = !plain(line, length);
			fputs(field ? " " : "", to);
			fputs(quotes ? "&#39;" : "", to);
			gt_markup_text(word, to);
			fputs(length >= 500 ? "…" : "", to);
			fputs(quotes ? "&#39;" : "", to);
		}
		line = line[length] ? line + length + 1 : NULL;
	}
}

static void write_history(const struct gt_page *page, FILE *to)
{
	fputs("<h2 id=\"pipe\">The pipe</h2>\n<p>The filters that the stream has passed, the first one first.</p>\n<pre><code>", to);
	for (size_t i = 0; page->history && page->history[i]; i++) {
		fputs(i ? " |\n  " : "", to);
		write_filter(page->history[i], to);
	}
	fputs("</code></pre>\n", to);
}

static void write_gpu(const struct gt_page *page, FILE *to)
{
	fputs("<h2 id=\"gpu\">The GPU</h2>\n", to);
	if (!page->gpu || page->gpu->n == 0) {
		fputs("<p>No stage chose a GPU: options alone describe the model.</p>\n", to);
		return;
	}
	fputs("<details><summary>", to);
	gt_markup_text(page->report->gpu[0] ? page->report->gpu : "unnamed", to);
	fprintf(to, ": %zu values</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>The description that the stream carries; "
		"options of the pipe may set other values</caption>\n"
		"<thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th></tr></thead>\n<tbody>\n", page->gpu->n);
	for (size_t i = 0; i < page->gpu->n; i++) {
		fputs("<tr><th scope=\"row\">", to);
		gt_markup_text(page->gpu->figures[i].key, to);
		fputs("</th><td>", to);
		gt_markup_text(page->gpu->figures[i].value, to);
		fputs("</td></tr>\n", to);
	}
	fputs("</tbody></table></div></details>\n", to);
}

static void write_head(const struct gt_page *page, FILE *to)
{
	char name[GT_PAGE_NAME];
	const struct gt_report *report = page->report;
	const struct gt_report_kernel *about = report->n == 1 ? &report->kernels[0] : &report->total;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>gtrace: ", to);
	gt_markup_text(gt_page_name(page, about, name), to);
	fprintf(to, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>", style);
	gt_markup_text(name, to);
	fputs("</h1>\n<p>Caches of ", to);
	gt_markup_text(report->gpu[0] ? report->gpu : "an unnamed GPU", to);
	fputs(", modelled by gtrace.</p>\n</header>\n", to);
}

static void write_contents(const struct gt_page *page, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#pictures\">Pictures</a></li>\n", to);
	if (gt_page_has_misses(page))
		fputs("<li><a href=\"#misses\">Where the misses come from</a></li>\n", to);
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

int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	write_head(page, to);
	write_contents(page, to);
	fputs("<h2 id=\"pictures\">Pictures</h2>\n", to);
	if (gt_page_pictures(page, to, error) != 0)
		return -1;
	if (gt_page_has_misses(page)) {
		fputs("<h2 id=\"misses\">Where the misses come from</h2>\n", to);
		if (gt_page_misses(page, to, error) != 0)
			return -1;
	}
	write_history(page, to);
	write_gpu(page, to);
	write_kernels(page, to);
	fputs("<h2 id=\"definitions\">Definitions</h2>\n", to);
	gt_page_definitions(page, to);
	fputs("</main>\n<footer><p>Written by gstats --report. The numbers are those of a model, not of hardware.</p></footer>\n</body>\n</html>\n", to);
	return 0;
}
