/* SPDX-License-Identifier: MIT */
/* The pictures of a report: hits and traffic of each level by kernel; for all kernels together, hits by stack position
 * and reuse distances. And how well the accesses of each kernel coalesce, as a table and a picture. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format.h"
#include "report/page/part.h"

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

/* The label of a kernel in a small picture: its name, shortened, and its number if it is one launch of several. */
static const char *short_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME])
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
		short_name(page, kernel, name);
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
			short_name(page, kernel, name);
			result = add(&sheet, stage->name, name, (double)reads + (double)writes + (double)atomics, error);
		}
	}
	return end(result, "bars", &options, &sheet, "Sectors that reach each level of the memory; read hits of one level do not reach the next.", to, error);
}

static const struct gt_report_value *array_of(const struct gt_report_stage *stage, const char *name)
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
		const struct gt_report_value *mru = array_of(&total->stages[i], "mru");
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
		const struct gt_report_value *near = array_of(stage, "distance");
		uint64_t infinite = 0;
		if (!gt_report_number(stage, "infinite", &infinite)) /* a level: its distances are in bins */
			continue;
		for (size_t j = 0; near && j < near->n && result == 0; j++)
			result = add_distance(&sheet, stage->name, (double)j, near->array[j], error);
		if (near && result == 0)
			result = add_distance(&sheet, stage->name, -1, infinite, error);
	}
	return end(result, "histogram", &options, &sheet, "Reuse distances: distinct other lines since the last reference to a line; inf is its first reference. Distances beyond grd --bound are not drawn.", to, error);
}

static int write_pictures(const struct gt_page *page, FILE *to, struct gt_error *error)
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

const struct gt_page_section gt_page_pictures = {.id = "pictures", .heading = "Pictures", .write = write_pictures};

/* ---- coalescing ---- */

#define KERNELS_SHOWN 200

static const char *const ops[] = {"load", "store", "atomic"};
#define OPS (sizeof ops / sizeof *ops)

struct coalescing {
	uint64_t accesses, requests, sectors;
};

/* What gcoalesce counted of an operation of a kernel. False if it had none. */
static bool counted(const struct gt_report_kernel *kernel, const char *op, struct coalescing *coalescing)
{
	const struct gt_report_stage *stage = gt_report_find_stage(kernel, "coalesce");
	char name[GT_COUNT_NAME];
	uint64_t *const values[] = {&coalescing->accesses, &coalescing->requests, &coalescing->sectors};
	static const char *const what[] = {"accesses", "requests", "sectors"};

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s_%s", op, what[i]);
		if (!stage || !gt_report_number(stage, name, values[i]))
			return false;
	}
	return coalescing->accesses > 0;
}

static bool has_coalescing(const struct gt_page *page)
{
	struct coalescing any;

	for (size_t i = 0; i < OPS; i++)
		if (counted(&page->report->total, ops[i], &any))
			return true;
	return false;
}

static void write_quotient(uint64_t above, uint64_t below, FILE *to)
{
	if (below > 0)
		fprintf(to, "<td class=\"number\">%.2f</td>", (double)above / (double)below);
	else
		fputs("<td class=\"number\">-</td>", to);
}

static void write_row(const struct gt_page *page, const struct gt_report_kernel *kernel, const char *op,
		      const struct coalescing *coalescing, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(gt_page_name(page, kernel, name), to);
	fprintf(to, "</th><td>%ss</td>", op);
	gt_page_number(coalescing->accesses, to);
	gt_page_number(coalescing->requests, to);
	write_quotient(coalescing->requests, coalescing->accesses, to);
	gt_page_number(coalescing->sectors, to);
	write_quotient(coalescing->sectors, coalescing->accesses, to);
	fputs("</tr>\n", to);
}

static int draw_coalescing(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_plot_options options = {.x = "kernel", .y = "sectors", .by = "operation", .y_label = "sectors per access"};
	char name[GT_PAGE_NAME], number[32];
	struct gt_sheet sheet;

	gt_sheet_begin(&sheet, "report");
	int result = gt_sheet_row(&sheet, (const char *const[]){"kernel", "operation", "sectors"}, 3, error);
	for (size_t i = 0; i < page->report->n && i < KERNELS_DRAWN && result == 0; i++)
		for (size_t j = 0; j < OPS && result == 0; j++) {
			struct coalescing coalescing;
			if (!counted(&page->report->kernels[i], ops[j], &coalescing))
				continue;
			snprintf(number, sizeof number, "%.6g", (double)coalescing.sectors / (double)coalescing.accesses);
			result = gt_sheet_row(&sheet, (const char *const[]){short_name(page, &page->report->kernels[i], name), ops[j],
								    number}, 3, error);
		}
	return end(result, "bars", &options, &sheet,
		   "Sectors of 32 bytes per warp access: 4 is the least for 32 lanes of 4 bytes, 32 has a sector for each lane.", to, error);
}

static int write_coalescing(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>Requests for lines and sectors of 32 bytes that the accesses of "
	      "warps become</caption>\n<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\">operation</th>"
	      "<th scope=\"col\" class=\"number\">accesses</th><th scope=\"col\" class=\"number\">requests</th>"
	      "<th scope=\"col\" class=\"number\">per access</th><th scope=\"col\" class=\"number\">sectors</th>"
	      "<th scope=\"col\" class=\"number\">per access</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < page->report->n && i < KERNELS_SHOWN; i++)
		for (size_t j = 0; j < OPS; j++) {
			struct coalescing coalescing;
			if (counted(&page->report->kernels[i], ops[j], &coalescing))
				write_row(page, &page->report->kernels[i], ops[j], &coalescing, to);
		}
	fputs("</tbody></table></div>\n", to);
	if (page->report->n > KERNELS_SHOWN)
		fprintf(to, "<p>The first %d of %zu kernels.</p>\n", KERNELS_SHOWN, page->report->n);
	return draw_coalescing(page, to, error);
}

const struct gt_page_section gt_page_coalescing = {
	.id = "coalescing", .heading = "Coalescing", .has = has_coalescing, .write = write_coalescing};
