/* SPDX-License-Identifier: MIT */
#include "report/csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/report.h"

void gt_csv_field(const char *text, bool quoted, FILE *to)
{
	size_t taken, shown;

	quoted |= strpbrk(text, ",\"") != NULL;
	if (quoted)
		putc('"', to);
	for (; *text; text += taken) {
		const char *character = gt_utf8_next(text, &taken, &shown);
		if (*character == '"')
			putc('"', to);
		fwrite(character, 1, shown, to);
	}
	if (quoted)
		putc('"', to);
}

/* Writes the columns before the value. `index` is -1, or the index in an array. */
static void write_key(const char *kernel, const char *stage, const char *counter, long long index, FILE *to)
{
	char name[GT_COUNT_NAME + 24];

	snprintf(name, sizeof name, index < 0 ? "%s" : "%s[%lld]", counter, index);
	gt_csv_field(kernel, false, to);
	putc(',', to);
	gt_csv_field(stage, false, to);
	putc(',', to);
	gt_csv_field(name, false, to);
	putc(',', to);
}

static void write_entry(const char *kernel, const char *stage, const struct gt_count_entry *entry, FILE *to)
{
	if (entry->kind == GT_COUNT_ARRAY) {
		for (size_t i = 0; i < entry->n; i++) {
			write_key(kernel, stage, entry->name, (long long)i, to);
			fprintf(to, "%" PRIu64 "\n", entry->array[i]);
		}
		return;
	}
	write_key(kernel, stage, entry->name, -1, to);
	if (entry->kind == GT_COUNT_NUMBER)
		fprintf(to, "%" PRIu64, entry->number);
	else
		gt_csv_field(entry->text, false, to);
	putc('\n', to);
}

static void write_kernel(const char *label, const struct gt_report_kernel *kernel, FILE *to)
{
	for (size_t i = 0; i < kernel->n; i++) {
		const struct gt_report_stage *stage = &kernel->stages[i];
		for (size_t j = 0; j < stage->n; j++)
			if (!stage->counters[j].differs)
				write_entry(label, stage->name, &stage->counters[j].value, to);
	}
}

int gt_report_write_csv(const struct gt_report *report, FILE *to, struct gt_error *error)
{
	char label[24];

	fputs("kernel,stage,counter,value\n", to);
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = &report->kernels[i];
		snprintf(label, sizeof label, "%" PRIu64, kernel->kernel.id);
		write_kernel(report->by_name && kernel->announced ? kernel->kernel.name : label, kernel, to);
	}
	write_kernel("total", &report->total, to);
	(void)error;
	return 0;
}
