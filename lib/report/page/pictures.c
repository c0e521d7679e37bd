/* SPDX-License-Identifier: MIT */
/* The pictures of a report: hits and traffic of each level by kernel; for all kernels together, hits by stack position
 * and reuse distances. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/page/page.h"

#define KERNELS_DRAWN 12
#define POSITIONS_DRAWN 32
#define NAME_CHARACTERS 14

/* Appends a row of texts and one number. */
static int add(struct gt_sheet *sheet, const char *first, const char *second, double number, struct gt_error *error)
{
	char text[32];

	snprintf(text, sizeof text, "%.10g", number);
	return gt_sheet_row(sheet, (const char *const[]){first, second, text}, 3, error);
}

static int begin(struct gt_sheet *sheet, const char *first, const char *second, const char *third, struct gt_error *error)
{
	gt_sheet_begin(sheet, "report");
	return gt_sheet_row(sheet, (const char *const[]){first, second, third}, 3, error);
}

/* Draws the sheet, if it was made. */
static int end(int result, const char *kind, const struct gt_plot_options *options, struct gt_sheet *sheet, const char *caption,
	       FILE *to, struct gt_error *error)
{
	if (result == 0)
		return gt_page_picture(kind, options, sheet, caption, to, error);
	gt_sheet_clear(sheet);
	return -1;
}

const char *gt_page_short_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME])
{
	char tidy[4 * NAME_CHARACTERS + 1];

	gt_utf8_tidy(kernel->kernel.name, NAME_CHARACTERS, tidy);
	if ((page->report->n > 1 && kernel->merged < 2) || !tidy[0])
		snprintf(name, GT_PAGE_NAME, "%" PRIu64 "%s%s", kernel->kernel.id, tidy[0] ? " " : "", tidy);
	else
		snprintf(name, GT_PAGE_NAME, "%s", tidy);
	return name;
}

/* The hits of each level in percent of the sectors that loads request from it. */
static int draw_hits(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	static const char *const columns[] = {"kernel", "level", "read_hits", "reads"};
	struct gt_plot_options options = {.x = "kernel", .y = "read_hits/reads", .by = "level"};
	struct gt_sheet sheet;
	char name[GT_PAGE_NAME], numbers[2][24];

	gt_sheet_begin(&sheet, "report");
	int result = gt_sheet_row(&sheet, columns, 4, error);
	for (size_t i = 0; i < page->report->n && i < KERNELS_DRAWN && result == 0; i++) {
		const struct gt_report_kernel *kernel = &page->report->kernels[i];
		gt_page_short_name(page, kernel, name);
		for (size_t j = 0; j < kernel->n && result == 0; j++) {
			uint64_t reads, hits;
			if (!gt_report_number(&kernel->stages[j], "reads", &reads) || reads == 0 ||
			    !gt_report_number(&kernel->stages[j], "read_hits", &hits))
				continue;
			snprintf(numbers[0], sizeof numbers[0], "%" PRIu64, hits);
			snprintf(numbers[1], sizeof numbers[1], "%" PRIu64, reads);
			result = gt_sheet_row(&sheet, (const char *const[]){name, kernel->stages[j].name, numbers[0], numbers[1]}, 4, error);
		}
	}
	return end(result, "bars", &options, &sheet, "Read hits of each level, in percent of the sectors that loads request from it.", to, error);
}

/* The sectors that reach each stage. */
static int draw_traffic(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_plot_options options = {.x = "stage", .y = "sectors", .by = "kernel", .x_label = "stage of the pipe",
					  .y_label = "sectors that reach it"};
	struct gt_sheet sheet;
	int result = begin(&sheet, "stage", "kernel", "sectors", error);

	for (size_t i = 0; i < page->report->n && i < KERNELS_DRAWN && result == 0; i++) {
		const struct gt_report_kernel *kernel = &page->report->kernels[i];
		for (size_t j = 0; j < kernel->n && result == 0; j++) {
			const struct gt_report_stage *stage = &kernel->stages[j];
			uint64_t reads, writes, atomics = 0;
			char name[GT_PAGE_NAME];
			if (!gt_report_number(stage, "reads", &reads) || !gt_report_number(stage, "writes", &writes))
				continue;
			gt_report_number(stage, "atomics", &atomics);
			gt_page_short_name(page, kernel, name);
			result = add(&sheet, stage->name, name, (double)reads + (double)writes + (double)atomics, error);
		}
	}
	return end(result, "bars", &options, &sheet, "Sectors that reach each level of the memory; read hits of one level do not reach the next.", to, error);
}

static const struct gt_count_entry *array_of(const struct gt_report_stage *stage, const char *name)
{
	for (size_t i = 0; i < stage->n; i++)
		if (strcmp(stage->counters[i].value.name, name) == 0 && stage->counters[i].value.kind == GT_COUNT_ARRAY)
			return &stage->counters[i].value;
	return NULL;
}

static int draw_positions(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report_kernel *total = &page->report->total;
	struct gt_sheet sheet;
	char place[16];
	int result = begin(&sheet, "position", "stage", "count", error);

	for (size_t i = 0; i < total->n && result == 0; i++) {
		const struct gt_count_entry *mru = array_of(&total->stages[i], "mru");
		uint64_t hits = 0;
		gt_report_number(&total->stages[i], "read_hits", &hits);
		for (size_t j = 0; hits > 0 && mru && j < mru->n && j < POSITIONS_DRAWN && result == 0; j++) {
			snprintf(place, sizeof place, "%zu", j);
			result = add(&sheet, place, total->stages[i].name, (double)mru->array[j], error);
		}
	}
	return end(result, "mru", NULL, &sheet, "Read hits by position in the LRU stack: a cache of w ways with these sets would have the hits of the first w positions.", to, error);
}

/* Adds a row of a profile: the number of distances in the bin that begins at `first`. */
static int add_distance(struct gt_sheet *sheet, const char *stage, double first, uint64_t count, struct gt_error *error)
{
	char text[32];

	snprintf(text, sizeof text, "%.17g", first);
	return count > 0 ? add(sheet, first < 0 ? "inf" : text, stage, (double)count, error) : 0;
}

static int draw_distances(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report_kernel *total = &page->report->total;
	struct gt_plot_options options = {.by = "stage"};
	struct gt_sheet sheet;
	int result = begin(&sheet, "distance", "stage", "count", error);

	for (size_t i = 0; i < total->n && result == 0; i++) {
		const struct gt_report_stage *stage = &total->stages[i];
		const struct gt_count_entry *near = array_of(stage, "distance");
		uint64_t infinite = 0;
		for (size_t j = 0; near && j < near->n && result == 0; j++)
			result = add_distance(&sheet, stage->name, (double)j, near->array[j], error);
		if (near && gt_report_number(stage, "infinite", &infinite) && result == 0)
			result = add_distance(&sheet, stage->name, -1, infinite, error);
	}
	return end(result, "histogram", &options, &sheet, "Reuse distances: distinct other lines since the last reference to a line; inf is its first reference. Distances beyond grd --bound are not drawn.", to, error);
}

int gt_page_pictures(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	fputs("<div class=\"pictures\">\n", to);
	if (draw_hits(page, to, error) != 0 ||
	    draw_traffic(page, to, error) != 0 || draw_positions(page, to, error) != 0 || draw_distances(page, to, error) != 0)
		return -1;
	fputs("</div>\n", to);
	if (page->report->n > KERNELS_DRAWN)
		fprintf(to, "<p>Pictures by kernel show the first %d of %zu.</p>\n", KERNELS_DRAWN, page->report->n);
	return 0;
}
