/* SPDX-License-Identifier: MIT */
#include "report/page/rates.h"

#include <string.h>

#include "report/format.h"

bool gt_rate_is_reads(const struct gt_count_entry *entry, size_t *length)
{
	return entry->kind == GT_COUNT_NUMBER && strncmp(entry->name, "0x", 2) == 0 && gt_report_class(entry->name, length) &&
	       strcmp(entry->name + *length, ".reads") == 0;
}

void gt_rate_find_levels(const struct gt_report *report, struct gt_rate_levels *levels)
{
	size_t length;

	levels->n = 0;
	for (size_t s = 0; s < report->total.n && levels->n < GT_RATE_LEVELS; s++) {
		const struct gt_report_stage *stage = &report->total.stages[s];
		bool counted = false;
		for (size_t i = 0; i < stage->n && !counted; i++)
			counted = gt_rate_is_reads(&stage->counters[i].value, &length);
		if (counted)
			levels->names[levels->n++] = stage->name;
	}
}

struct gt_reads gt_rate_reads(const struct gt_report_kernel *kernel, const char *level, const char *pc, size_t length)
{
	const struct gt_report_stage *stage = gt_report_find_stage(kernel, level);
	struct gt_reads reads = {0};
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.reads", (int)length, pc);
	if (!stage || !gt_report_number(stage, name, &reads.reads))
		return reads;
	snprintf(name, sizeof name, "%.*s.read_hits", (int)length, pc);
	gt_report_number(stage, name, &reads.hits);
	return reads;
}

void gt_rate_headings(const struct gt_rate_levels *levels, bool reads, FILE *to)
{
	for (size_t i = 0; i < levels->n; i++)
		for (int k = !reads; k < 2; k++) {
			fputs("<th scope=\"col\" class=\"number\">", to);
			gt_markup_text(levels->names[i], to);
			fputs(k == 0 ? " reads</th>" : " hit rate</th>", to);
		}
}

void gt_rate_cell(struct gt_reads reads, FILE *to)
{
	if (reads.reads > 0)
		fprintf(to, "<td class=\"number\">%.2f %%</td>", 100 * (double)reads.hits / (double)reads.reads);
	else
		fputs("<td class=\"number\">-</td>", to);
}
