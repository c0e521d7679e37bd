/* SPDX-License-Identifier: MIT */
/* Findings, first on the page: of each kernel, that with most cost first, its traffic and a table of what it could be spared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/findings.h"
#include "report/format.h"
#include "report/page/part.h"

#define KERNELS_SHOWN 20
#define FINDINGS_SHOWN 12 /* of each */

static void write_gain(const struct gt_finding *finding, const struct gt_traffic *traffic, FILE *to)
{
	char gain[GT_FINDING_TEXT];

	fputs("<td>", to);
	gt_markup_text(gt_finding_gain(finding, traffic, gain)[0] ? gain : "-", to);
	fputs("</td>", to);
}

static void write_finding(const struct gt_page *page, const struct gt_finding *finding, const struct gt_traffic *traffic, FILE *to)
{
	char command[GT_FINDING_TEXT];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(finding->kind->title, to);
	fputs("</th><td class=\"name\">", to);
	gt_markup_text(finding->place[0] ? finding->place : "the kernel", to);
	fputs("</td><td class=\"name\">", to);
	gt_markup_text(finding->arrays[0] ? finding->arrays : "-", to);
	fputs("</td><td>", to);
	gt_markup_text(finding->text, to);
	fputs("</td>", to);
	write_gain(finding, traffic, to);
	fputs("<td class=\"name\">", to);
	if (gt_finding_command(finding, page->program, command)) {
		fputs("<code>", to);
		gt_markup_text(command, to);
		fputs("</code></td></tr>\n", to);
	} else {
		fputs("-</td></tr>\n", to);
	}
}

static size_t count_shown(const struct gt_kernel_findings *findings)
{
	size_t n = 0;

	for (size_t i = 0; i < findings->n; i++)
		n += findings->findings[i].share >= GT_FINDINGS_LEAST;
	return n;
}

static void write_table(const struct gt_page *page, const struct gt_kernel_findings *findings, FILE *to)
{
	size_t shown = 0;

	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"findings\">\n<thead><tr><th scope=\"col\">finding</th><th scope=\"col\">place</th><th scope=\"col\">arrays</th>"
	      "<th scope=\"col\">what</th><th scope=\"col\">gain</th><th scope=\"col\">more</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < findings->n && shown < FINDINGS_SHOWN; i++)
		if (findings->findings[i].share >= GT_FINDINGS_LEAST) {
			write_finding(page, &findings->findings[i], &findings->traffic, to);
			shown++;
		}
	fputs("</tbody></table></div>\n", to);
}

static void write_kernel(const struct gt_page *page, const struct gt_kernel_findings *findings, FILE *to)
{
	char name[GT_PAGE_NAME], words[GT_FINDING_TEXT];
	size_t n = count_shown(findings);

	fputs("<h3>", to);
	gt_markup_text(gt_page_name(page, findings->kernel, name), to);
	fputs("</h3>\n<p>", to);
	gt_markup_text(gt_traffic_text(&findings->traffic, words), to);
	fputs("</p>\n", to);
	if (n > 0)
		write_table(page, findings, to);
	else
		fputs("<p>Nothing found: no finding would save 2 % of the traffic anywhere.</p>\n", to);
	if (n > FINDINGS_SHOWN)
		fprintf(to, "<p>The first %d of %zu findings: gtrace run --all has all.</p>\n", FINDINGS_SHOWN, n);
}

static bool has_findings(const struct gt_page *page)
{
	uint64_t bytes;

	for (size_t i = 0; i < page->report->n; i++) {
		const struct gt_report_stage *stage = gt_report_find_stage(&page->report->kernels[i], "coalesce");
		if (stage && gt_report_number(stage, "unique_bytes", &bytes))
			return true;
	}
	return false;
}

static int write_findings(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	size_t n = page->report->n;
	struct gt_kernel_findings *findings;
	int result = gt_findings_open(&findings, page->report, page->gpu, error);
	const struct gt_kernel_findings **order = result == 0 ? gt_findings_in_order(findings, n, error) : NULL;

	for (size_t i = 0; order && i < n && i < KERNELS_SHOWN; i++)
		write_kernel(page, order[i], to);
	if (order && n > KERNELS_SHOWN)
		fprintf(to, "<p>The %d kernels of %zu whose traffic costs most.</p>\n", KERNELS_SHOWN, n);
	result = order ? 0 : -1;
	free(order);
	gt_findings_close(findings, page->report);
	return result;
}

const struct gt_page_section gt_page_findings = {.id = "findings", .heading = "Findings", .has = has_findings, .write = write_findings};
