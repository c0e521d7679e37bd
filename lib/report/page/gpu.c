/* SPDX-License-Identifier: MIT */
/* The GPU and the pipe on the page. */
#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/page/page.h"
#include "stream/history.h"

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

void gt_page_pipe(const struct gt_page *page, const char *between, FILE *to)
{
	for (size_t i = 0; page->history && page->history[i]; i++) {
		fputs(i ? between : "", to);
		write_filter(page->history[i], to);
	}
}

/* Loads the description that the pipe named, which has the sources of the values. An empty one if it is not there. */
static int load_named(const struct gt_page *page, struct gt_gpu *gpu, struct gt_error *error)
{
	static const char *const tools[] = {"gschedule", "gtrace-record", "gtrace-ptx"};
	char name[GT_GPU_TEXT], path[4096];
	struct gt_error absent;

	*gpu = (struct gt_gpu){0};
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		const char *entry = page->history ? gt_history_find(page->history, tools[i], "--gpu") : NULL;
		if (entry && gt_history_argument(entry, "--gpu", name, sizeof name))
			return gt_gpu_path(name, path, sizeof path, &absent) != 0 ? 0 : gt_gpu_load(gpu, path, error);
	}
	return 0;
}

/* Where a value comes from; NULL if the named description does not have that value. */
static const struct gt_gpu_figure *source_of(const struct gt_gpu *named, const struct gt_gpu_figure *figure)
{
	for (size_t i = 0; i < named->n; i++)
		if (strcmp(named->figures[i].key, figure->key) == 0 && strcmp(named->figures[i].value, figure->value) == 0)
			return &named->figures[i];
	return NULL;
}

static void write_figure(const struct gt_gpu_figure *figure, const struct gt_gpu_figure *source, FILE *to)
{
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(figure->key, to);
	fputs("</th><td>", to);
	gt_markup_text(figure->value, to);
	fprintf(to, "</td><td%s>", source && strcmp(source->status, "assumed") == 0 ? " class=\"assumed\"" : "");
	gt_markup_text(source ? source->status : "-", to);
	fputs("</td><td>", to);
	gt_markup_text(source ? source->source : "", to);
	fputs("</td></tr>\n", to);
}

int gt_page_gpu(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_gpu named;
	size_t assumed = 0;

	fputs("<h2 id=\"gpu\">The GPU</h2>\n", to);
	if (!page->gpu || page->gpu->n == 0) {
		fputs("<p>No stage chose a GPU: options alone describe the model.</p>\n", to);
		return 0;
	}
	if (load_named(page, &named, error) != 0) {
		gt_gpu_clear(&named);
		return -1;
	}
	for (size_t i = 0; i < page->gpu->n; i++) {
		const struct gt_gpu_figure *source = source_of(&named, &page->gpu->figures[i]);
		assumed += source && strcmp(source->status, "assumed") == 0;
	}
	fputs("<details><summary>", to);
	gt_markup_text(page->report->gpu[0] ? page->report->gpu : "unnamed", to);
	fprintf(to, ": %zu values", page->gpu->n);
	if (named.n > 0)
		fprintf(to, ", %zu of them assumed", assumed);
	fputs("</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>The description that the stream carries; "
	      "options of the pipe may set other values. Assumed: no vendor or measurement tells it.</caption>\n"
	      "<thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th><th scope=\"col\">status</th>"
	      "<th scope=\"col\">source</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < page->gpu->n; i++)
		write_figure(&page->gpu->figures[i], source_of(&named, &page->gpu->figures[i]), to);
	fputs("</tbody></table></div></details>\n", to);
	gt_gpu_clear(&named);
	return 0;
}
