/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/utf8.h"
#include "report/metric.h"

#define INLINE_VALUES 8 /* arrays up to this length are shown in full */

void gt_table_add(struct gt_table *table, const char *const cells[GT_TABLE_COLUMNS])
{
	void *bigger = gt_grown(table->cells, table->n, &table->capacity, sizeof *table->cells);

	if (!bigger) {
		table->failed = true;
		return;
	}
	table->cells = bigger;
	for (int i = 0; i < GT_TABLE_COLUMNS; i++) {
		char *cell = table->cells[table->n][i];
		snprintf(cell, GT_TABLE_CELL, "%s", cells[i] ? cells[i] : "");
		gt_utf8_printable(cell);
	}
	table->n++;
}

static void write_rows(const struct gt_table *table, FILE *to)
{
	size_t width[GT_TABLE_COLUMNS] = {0};

	for (size_t row = 0; row < table->n; row++)
		for (int i = 0; i < GT_TABLE_COLUMNS; i++)
			if (strlen(table->cells[row][i]) > width[i])
				width[i] = strlen(table->cells[row][i]);
	for (size_t row = 0; row < table->n; row++) {
		size_t owed = 0; /* pending blanks, written only before other text */
		for (int i = 0; i < GT_TABLE_COLUMNS; i++) {
			const char *cell = table->cells[row][i];
			size_t length = strlen(cell), gap = width[i] - length;
			bool right = table->alignment[i] == 'r';
			owed += 2 + (right ? gap : 0);
			if (length > 0) {
				fprintf(to, "%*s%s", (int)owed, "", cell);
				owed = 0;
			}
			owed += right ? 0 : gap;
		}
		putc('\n', to);
	}
}

int gt_table_write(struct gt_table *table, FILE *to, struct gt_error *error)
{
	int result = table->failed ? gt_fail_memory(error, "a table") : 0;

	if (result == 0)
		write_rows(table, to);
	free(table->cells);
	*table = (struct gt_table){.alignment = table->alignment};
	return result;
}

const char *gt_table_number(uint64_t number, char buffer[GT_TABLE_NUMBER])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, number), out = 0;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = digits[i];
	}
	buffer[out] = '\0';
	return buffer;
}

static void write_name(const char *name, FILE *to)
{
	size_t taken, shown;

	for (; *name; name += taken) {
		const char *character = gt_utf8_next(name, &taken, &shown);
		fwrite(character, 1, shown, to);
	}
}

/* "grid 4 x 16 (64 blocks)": trailing dimensions of 1 are left out. */
static void write_shape(const char *what, bool differs, const uint32_t shape[3], uint64_t count, const char *unit, FILE *to)
{
	char number[GT_TABLE_NUMBER];

	if (differs || shape[0] == 0) {
		fprintf(to, "%s %s", what, differs ? "differs" : "unknown");
		return;
	}
	fprintf(to, "%s %" PRIu32, what, shape[0]);
	if (shape[1] > 1 || shape[2] > 1)
		fprintf(to, " x %" PRIu32, shape[1]);
	if (shape[2] > 1)
		fprintf(to, " x %" PRIu32, shape[2]);
	fprintf(to, " (%s %s)", gt_table_number(count, number), unit);
}

/* "kernel 1  name" and the launch, or the heading of the total. */
static void print_heading(const struct gt_report *report, const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_kernel *launch = &kernel->kernel;
	char size[32];

	if (kernel == &report->total) {
		fputs("total of ", to);
		if (gt_report_launches(report) > report->n)
			fprintf(to, "%" PRIu64 " launches of ", gt_report_launches(report));
		fprintf(to, "%zu kernels\n", report->n);
		return;
	}
	fprintf(to, "kernel %" PRIu64 "  ", launch->id);
	write_name(launch->name, to);
	if (kernel->merged > 1)
		fprintf(to, "  and %zu more launches", kernel->merged - 1);
	putc('\n', to);
	if (!kernel->announced)
		return;
	write_shape("  grid", kernel->grid_differs, launch->grid, gt_kernel_blocks(launch), "blocks", to);
	write_shape("   block", kernel->block_differs, launch->block, gt_kernel_threads(launch), "threads", to);
	if (launch->registers && !kernel->registers_differ)
		fprintf(to, "   registers %" PRIu32, launch->registers);
	else
		fprintf(to, "   registers %s", kernel->registers_differ ? "differ" : "unknown");
	fprintf(to, "   shared %s\n", kernel->shared_differs ? "differs" : gt_format_size(launch->shared_bytes, size));
}

int gt_table_report(const struct gt_report *report,
		    int (*body)(const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error), FILE *to,
		    struct gt_error *error)
{
	if (report->gpu[0]) {
		fputs("GPU  ", to);
		write_name(report->gpu, to);
		fputs("\n\n", to);
	}
	if (report->n == 0)
		fputs("no kernels\n", to);
	for (size_t i = 0; i < report->n; i++) {
		if (i > 0)
			putc('\n', to);
		print_heading(report, &report->kernels[i], to);
		if (body(&report->kernels[i], to, error) != 0)
			return -1;
	}
	if (report->n == 1)
		fprintf(to, "\ntotal of %" PRIu64 " %s: the same\n", gt_report_launches(report),
			gt_report_launches(report) == 1 ? "kernel" : "launches");
	if (report->n > 1) {
		putc('\n', to);
		print_heading(report, &report->total, to);
		return body(&report->total, to, error);
	}
	return 0;
}

/* Shows the sum of an array as its value and, if the array is short, its elements as the remark. */
static void show_array(const struct gt_count_entry *entry, char value[GT_TABLE_CELL], char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];
	uint64_t sum = 0;
	bool fits = true;
	int at = 0;

	for (size_t i = 0; i < entry->n; i++) {
		sum += entry->array[i];
		fits = fits && sum >= entry->array[i];
	}
	snprintf(value, GT_TABLE_CELL, "%s", fits ? gt_table_number(sum, number) : "-");
	if (entry->n > INLINE_VALUES) {
		snprintf(remark, GT_TABLE_CELL, "sum of %zu values", entry->n);
		return;
	}
	at = snprintf(remark, GT_TABLE_CELL, "sum of");
	for (size_t i = 0; i < entry->n && at < GT_TABLE_CELL; i++)
		at += snprintf(remark + at, (size_t)(GT_TABLE_CELL - at), " %" PRIu64, entry->array[i]);
}

/* Shows the ratio that belongs to a counter as the remark. Returns whether there is one with a value. */
static bool show_ratio(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		       const char *counter, char remark[GT_TABLE_CELL])
{
	char text[GT_METRIC_TEXT];

	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value value = gt_metric_of_counter(&gt_ratios[i], kernel, stage, counter);
		if (value.state == GT_METRIC_ABSENT)
			continue;
		snprintf(remark, GT_TABLE_CELL, "%6s %s", gt_metric_format(value, text), gt_ratios[i].unit);
		return value.state != GT_METRIC_UNDEFINED;
	}
	return false;
}

static void show_counter(const struct gt_report_counter *counter, char value[GT_TABLE_CELL],
			 char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];

	if (counter->differs)
		snprintf(value, GT_TABLE_CELL, "differs");
	else if (counter->value.kind == GT_COUNT_ARRAY)
		show_array(&counter->value, value, remark);
	else if (counter->value.kind == GT_COUNT_TEXT)
		snprintf(value, GT_TABLE_CELL, "%s", counter->value.text);
	else if (counter->about->print == GT_PRINT_SIZE)
		gt_format_size(counter->value.number, value);
	else
		snprintf(value, GT_TABLE_CELL, "%s", gt_table_number(counter->value.number, number));
}

bool gt_table_counter(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		      const struct gt_report_counter *counter, char value[GT_TABLE_CELL], char remark[GT_TABLE_CELL])
{
	remark[0] = '\0';
	if (counter->about->print == GT_PRINT_NOT)
		return false;
	show_counter(counter, value, remark);
	bool possible = show_ratio(kernel, stage, counter->value.name, remark);
	return strcmp(value, "0") != 0 || counter->value.kind == GT_COUNT_TEXT || possible;
}

bool gt_table_spread(const struct gt_report_kernel *kernel, const struct gt_report_counter *counter,
		     char cells[3][GT_TABLE_NUMBER])
{
	if (kernel->merged < 2 || counter->launches < 2 || counter->least == counter->largest ||
	    counter->about->print == GT_PRINT_SIZE || gt_counter_is_setting(counter->about))
		return false;
	gt_table_number(counter->least, cells[0]);
	snprintf(cells[1], GT_TABLE_NUMBER, "%.1f", (double)counter->value.number / (double)counter->launches);
	gt_table_number(counter->largest, cells[2]);
	return true;
}

/* Whether any counter of a stage is for the table. */
static bool is_printed(const struct gt_report_stage *stage)
{
	bool printed = stage->n == 0;

	for (size_t i = 0; i < stage->n && !printed; i++)
		printed = stage->counters[i].about->print != GT_PRINT_NOT;
	return printed;
}

static void add_stage(struct gt_table *table, const struct gt_report_kernel *kernel,
		      const struct gt_report_stage *stage)
{
	char value[GT_TABLE_CELL], remark[GT_TABLE_CELL], cells[3][GT_TABLE_NUMBER];
	const char *name = stage->name; /* written in the stage's first row only */

	for (size_t i = 0; i < stage->n; i++) {
		const struct gt_report_counter *counter = &stage->counters[i];
		if (!gt_table_counter(kernel, stage, counter, value, remark))
			continue;
		const char *unit = counter->value.kind == GT_COUNT_TEXT ? NULL : counter->about->unit; /* "none" has none */
		bool spread = gt_table_spread(kernel, counter, cells);
		gt_table_add(table, (const char *const[GT_TABLE_COLUMNS]){name, counter->value.name, value, unit, remark,
			     spread ? cells[0] : NULL, spread ? cells[1] : NULL, spread ? cells[2] : NULL});
		name = "";
	}
	if (name[0] && is_printed(stage))
		gt_table_add(table, (const char *const[GT_TABLE_COLUMNS]){name, "(nothing)"});
}

static int write_kernel(const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrllrrr"};
	bool several = kernel->merged > 1;

	if (kernel->n > 0)
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"stage", "counter", several ? "sum" : "value", "unit", "",
			     several ? "least" : NULL, several ? "mean" : NULL, several ? "largest" : NULL});
	for (size_t i = 0; i < kernel->n; i++)
		add_stage(&table, kernel, &kernel->stages[i]);
	return gt_table_write(&table, to, error);
}

static uint64_t polls_of(const struct gt_report_kernel *kernel)
{
	for (size_t i = 0; i < kernel->n; i++)
		for (size_t k = 0; strcmp(kernel->stages[i].name, "ptx") == 0 && k < kernel->stages[i].n; k++)
			if (strcmp(kernel->stages[i].counters[k].value.name, "polls") == 0)
				return kernel->stages[i].counters[k].value.number;
	return 0;
}

#define POLLED_SHOWN 4

/* Names the kernels that polled in one line. */
static void write_polls(const struct gt_report *report, FILE *to)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++) {
		if (polls_of(&report->kernels[i]) == 0 || n++ >= POLLED_SHOWN)
			continue;
		fprintf(to, "%s%" PRIu64 " ", n == 1 ? "\nwaited by polling, how often follows from the order of turns: " : ", ",
			report->kernels[i].kernel.id);
		write_name(report->kernels[i].kernel.name, to);
	}
	if (n > POLLED_SHOWN)
		fprintf(to, ", and %zu more", n - POLLED_SHOWN);
	if (n > 0)
		putc('\n', to);
}

int gt_report_write_table(const struct gt_report *report, FILE *to, struct gt_error *error)
{
	if (gt_table_report(report, write_kernel, to, error) != 0)
		return -1;
	write_polls(report, to);
	return 0;
}
