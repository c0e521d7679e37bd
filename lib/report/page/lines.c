/* SPDX-License-Identifier: MIT */
/* Source lines: what their loads read of each level, and the part that hit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/format.h"
#include "report/page/rates.h"

#define LINES_SHOWN 30

struct line {
	const struct gt_report_kernel *kernel;
	char place[GT_SOURCE_TEXT]; /* "gemm.cu:38" */
	struct gt_reads of[GT_RATE_LEVELS];
};

struct lines {
	struct line *lines;
	size_t n, capacity;
};

static struct line *line_of(struct lines *lines, const struct gt_report_kernel *kernel, const char *place, struct gt_error *error)
{
	size_t i = lines->n;

	while (i > 0 && lines->lines[i - 1].kernel == kernel)
		if (strcmp(lines->lines[--i].place, place) == 0)
			return &lines->lines[i];
	struct line *bigger = gt_grown(lines->lines, lines->n, &lines->capacity, sizeof *bigger);
	if (!bigger) {
		gt_fail_memory(error, "the page");
		return NULL;
	}
	lines->lines = bigger;
	bigger[lines->n] = (struct line){.kernel = kernel};
	snprintf(bigger[lines->n].place, sizeof bigger[lines->n].place, "%s", place);
	return &bigger[lines->n++];
}

/* Adds the reads of an instruction to its line; without one, it is told of itself. */
static int add(struct lines *lines, const struct gt_report_kernel *kernel, const struct gt_sources *sources, size_t level,
	       const char *pc, size_t length, struct gt_reads reads, struct gt_error *error)
{
	const struct gt_source *source = gt_sources_find(sources, strtoull(pc, NULL, 16));
	char place[GT_SOURCE_TEXT];

	if (source)
		gt_source_format(source, place);
	else
		snprintf(place, sizeof place, "%.*s", (int)length, pc);
	struct line *line = line_of(lines, kernel, place, error);
	if (!line)
		return -1;
	line->of[level].reads += reads.reads;
	line->of[level].hits += reads.hits;
	return 0;
}

static int gather_kernel(struct lines *lines, const struct gt_rate_levels *levels, const struct gt_report_kernel *kernel,
			 struct gt_error *error)
{
	struct gt_sources sources;
	int result = gt_report_sources(kernel, &sources, error);
	size_t length;

	for (size_t level = 0; level < levels->n; level++) {
		const struct gt_report_stage *stage = gt_report_find_stage(kernel, levels->names[level]);
		for (size_t i = 0; stage && i < stage->n && result == 0; i++) {
			const char *pc = stage->counters[i].value.name;
			if (gt_rate_is_reads(&stage->counters[i].value, &length))
				result = add(lines, kernel, &sources, level, pc, length, gt_rate_reads(kernel, stage->name, pc, length), error);
		}
	}
	gt_sources_clear(&sources);
	return result;
}

/* By the misses of the first level, the most first. */
static int by_misses(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	uint64_t of_a = a->of[0].reads - a->of[0].hits, of_b = b->of[0].reads - b->of[0].hits;

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return strcmp(a->place, b->place);
}

static void write_line(const struct gt_page *page, const struct gt_rate_levels *levels, const struct line *line, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(line->place, to);
	fputs("</th><td class=\"name\">", to);
	gt_markup_text(line->kernel->kernel.name[0] && page->report->by_name ? line->kernel->kernel.name : gt_page_name(page, line->kernel, name), to);
	fputs("</td>", to);
	for (size_t i = 0; i < levels->n; i++) {
		gt_page_number(line->of[i].reads, to);
		gt_rate_cell(line->of[i], to);
	}
	fputs("</tr>\n", to);
}

static void write_lines(const struct gt_page *page, const struct gt_rate_levels *levels, const struct lines *lines, FILE *to)
{
	fputs("<h3>Hit rates by source line</h3>\n<p>Sectors that the loads of a line read of each level, and the part of them that hits; the line that misses most in ", to);
	gt_markup_text(levels->names[0], to);
	fputs(" first.</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<thead><tr><th scope=\"col\">line</th><th scope=\"col\">kernel</th>", to);
	gt_rate_headings(levels, true, to);
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < lines->n && i < LINES_SHOWN; i++)
		write_line(page, levels, &lines->lines[i], to);
	fputs("</tbody></table></div>\n", to);
	if (lines->n > LINES_SHOWN)
		fprintf(to, "<p>The first %d of %zu lines.</p>\n", LINES_SHOWN, lines->n);
}

int gt_page_lines(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_rate_levels levels;
	struct lines lines = {NULL, 0, 0};
	int result = 0;

	gt_rate_find_levels(page->report, &levels);
	for (size_t i = 0; i < page->report->n && result == 0; i++)
		result = gather_kernel(&lines, &levels, &page->report->kernels[i], error);
	if (result == 0 && lines.n > 0) {
		qsort(lines.lines, lines.n, sizeof *lines.lines, by_misses);
		write_lines(page, &levels, &lines, to);
	}
	free(lines.lines);
	return result;
}
