/* SPDX-License-Identifier: MIT */
/* How well the accesses of each kernel coalesce. */
#include <stdio.h>

#include "counter/counter.h"
#include "report/format.h"
#include "report/page/page.h"

#define KERNELS_SHOWN 200
#define KERNELS_DRAWN 12

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

bool gt_page_has_coalescing(const struct gt_page *page)
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

static int draw(const struct gt_page *page, FILE *to, struct gt_error *error)
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
			result = gt_sheet_row(&sheet, (const char *const[]){gt_page_short_name(page, &page->report->kernels[i], name), ops[j],
								    number}, 3, error);
		}
	if (result == 0)
		return gt_page_picture("bars", &options, &sheet,
				       "Sectors of 32 bytes per warp access: 4 is the least for 32 lanes of 4 bytes, 32 has a sector for each lane.",
				       to, error);
	gt_sheet_clear(&sheet);
	return -1;
}

int gt_page_coalescing(const struct gt_page *page, FILE *to, struct gt_error *error)
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
	return draw(page, to, error);
}
