/* SPDX-License-Identifier: MIT */
/* Writes the rows of a report: as a table, CSV or JSON; of our counters, or of the metrics of a profiler (a vocabulary). What
 * stands in a row is made in row.c and metric.c. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "base/utf8.h"
#include "report/format.h"
#include "report/metric.h"
#include "report/sites.h"

/* ---- a table ---- */

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
static void write_heading(const struct gt_report *report, const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_kernel *launch = &kernel->kernel;
	char size[32];

	if (kernel == &report->total) {
		fputs("total of ", to);
		if (report->launches > report->n)
			fprintf(to, "%" PRIu64 " launches of ", report->launches);
		fprintf(to, "%zu kernels\n", report->n);
		return;
	}
	fprintf(to, "kernel %" PRIu64 "  ", launch->id);
	write_name(launch->name, to);
	if (kernel->merged > 1)
		fprintf(to, "  and %zu more launches", kernel->merged - 1);
	else if (kernel->stands_for > 1)
		fprintf(to, "  for %" PRIu64 " launches that are alike", kernel->stands_for);
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
	struct gt_report_row row;
	const char *name = stage->name; /* written in the stage's first row only */
	size_t length;

	for (size_t i = 0; i < stage->n; i++) {
		if (gt_report_site(stage->counters[i].value.name, &length) || !gt_report_make_row(kernel, stage, &stage->counters[i], &row))
			continue; /* --lines shows what is counted by site */
		gt_table_add(table, (const char *const[GT_TABLE_COLUMNS]){name, row.name, row.value, row.unit, row.remark,
			     row.spreads ? row.spread[0] : NULL, row.spreads ? row.spread[1] : NULL, row.spreads ? row.spread[2] : NULL});
		name = "";
	}
	if (name[0] && is_printed(stage))
		gt_table_add(table, (const char *const[GT_TABLE_COLUMNS]){name, "(nothing)"});
}

static int write_counter_table(const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error)
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

static int write_metric_table(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, FILE *to,
			      struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrlllll"};
	char number[GT_TABLE_NUMBER], text[GT_METRIC_TEXT];
	const struct gt_metric *metric;
	struct gt_metric_value value;

	for (size_t at = 0; (metric = gt_metric_next(names, kernel, &at, &value));)
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){metric->name, metric->unit,
			     value.state == GT_METRIC_COUNT ? gt_table_number(value.count, number) : gt_metric_format(value, text)});
	return gt_table_write(&table, to, error);
}

/* The heading of a kernel, or of the total, and its table. */
static int write_kernel_table(const struct gt_report *report, const struct gt_report_kernel *kernel,
			      const struct gt_vocabulary *names, FILE *to, struct gt_error *error)
{
	write_heading(report, kernel, to);
	return names ? write_metric_table(names, kernel, to, error) : write_counter_table(kernel, to, error);
}

static uint64_t polls_of(const struct gt_report_kernel *kernel)
{
	const struct gt_report_stage *ran = gt_report_find_stage(kernel, "ptx");
	uint64_t polls = 0;

	if (ran)
		gt_report_number(ran, "polls", &polls);
	return polls;
}

#define POLLED_SHOWN 4

/* The kernels that polled. */
struct polled {
	size_t first[POLLED_SHOWN], n; /* their numbers, and how many there are */
};

static void note_polls(struct polled *polled, const struct gt_report_kernel *kernel, size_t number)
{
	if (polls_of(kernel) > 0 && polled->n++ < POLLED_SHOWN)
		polled->first[polled->n - 1] = number;
}

/* Names them in one line. */
static int write_polls(const struct gt_report *report, const struct polled *polled, FILE *to, struct gt_error *error)
{
	for (size_t i = 0; i < polled->n && i < POLLED_SHOWN; i++) {
		const struct gt_report_kernel *kernel = gt_report_read(report, polled->first[i], error);
		if (!kernel)
			return -1;
		fprintf(to, "%s%" PRIu64 " ", i == 0 ? "\nwaited by polling, how often follows from the order of turns: " : ", ", kernel->kernel.id);
		write_name(kernel->kernel.name, to);
	}
	if (polled->n > POLLED_SHOWN)
		fprintf(to, ", and %zu more", polled->n - POLLED_SHOWN);
	if (polled->n > 0)
		putc('\n', to);
	return 0;
}

/* A table for each kernel, and one for the total if it is not the only kernel's. */
static int write_table(const struct gt_report *report, const struct gt_vocabulary *names, FILE *to, struct gt_error *error)
{
	struct polled polled = {.n = 0};

	if (report->gpu[0]) {
		fputs("GPU  ", to);
		write_name(report->gpu, to);
		fputs("\n\n", to);
	}
	if (report->n == 0)
		fputs("no kernels\n", to);
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = gt_report_read(report, i, error);
		if (i > 0)
			putc('\n', to);
		if (!kernel || write_kernel_table(report, kernel, names, to, error) != 0)
			return -1;
		note_polls(&polled, kernel, i);
	}
	if (report->n == 1)
		fprintf(to, "\ntotal of %" PRIu64 " %s: the same\n", report->launches,
			report->launches == 1 ? "kernel" : "launches");
	if (report->n > 1) {
		putc('\n', to);
		if (write_kernel_table(report, &report->total, names, to, error) != 0)
			return -1;
	}
	return names ? 0 : write_polls(report, &polled, to, error);
}

/* ---- the log of Accel-Sim ---- */

/* A log for scripts that read Accel-Sim's. As there, the header of each launch comes first, counts are summed up since the first launch, and
 * the last line says that the run has ended. */

/* The counts up to a launch, of which `sums` has those before it. */
static void write_log_counts(const struct gt_report_kernel *kernel, const struct gt_vocabulary *names, uint64_t *sums, FILE *to)
{
	const struct gt_metric *metric;
	struct gt_metric_value value;

	for (size_t at = 0; (metric = gt_metric_next(names, kernel, &at, &value));) {
		if (value.state != GT_METRIC_COUNT)
			continue;
		sums[metric - names->metrics] += value.count;
		fprintf(to, "%s%s = %" PRIu64 "\n", strchr(metric->name, '[') ? "\t" : "", metric->name, sums[metric - names->metrics]);
	}
}

static void write_log_launch(const struct gt_kernel *kernel, size_t number, FILE *to)
{
	fputs("-kernel name = ", to);
	write_name(kernel->name, to);
	fprintf(to, "\n-kernel id = %" PRIu64 "\n-grid dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n-block dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n",
		kernel->id, kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
	fputs("kernel_name = ", to);
	write_name(kernel->name, to);
	fprintf(to, " \nkernel_launch_uid = %zu \nkernel_stream_id = 0\n", number);
}

static int write_log(const struct gt_report *report, const struct gt_vocabulary *names, FILE *to, struct gt_error *error)
{
	const struct gt_report_kernel *kernel = NULL;
	uint64_t *sums = calloc(names->n, sizeof *sums);

	if (!sums)
		return gt_fail_memory(error, "the log");
	fputs(GT_LOG_FIRST "\n", to);
	for (size_t i = 0; i < report->n && (kernel = gt_report_read(report, i, error)); i++) {
		write_log_launch(&kernel->kernel, i + 1, to);
		write_log_counts(kernel, names, sums, to);
	}
	free(sums);
	if (!kernel && report->n > 0)
		return -1;
	fputs(GT_LOG_LAST "\n", to);
	return 0;
}

/* ---- CSV ---- */

/* printf takes longer for a number than all else of a row. */
static void write_number(uint64_t number, FILE *to)
{
	char digits[20], *first = digits + sizeof digits;

	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	fwrite(first, 1, (size_t)(digits + sizeof digits - first), to);
}

/* The first columns of many rows: the kernel and the stage. */
struct columns {
	char *text;
	size_t bytes;
};

static void write_csv_array(const struct columns *columns, const struct gt_report_value *value, FILE *to)
{
	char name[GT_COUNT_NAME + 24];
	const int length = snprintf(name, sizeof name, "%s[", value->name);

	for (size_t i = 0; i < value->n; i++) {
		snprintf(name + length, sizeof name - (size_t)length, "%zu]", i);
		fwrite(columns->text, 1, columns->bytes, to);
		gt_csv_field(name, false, to);
		putc(',', to);
		write_number(value->array[i], to);
		putc('\n', to);
	}
}

static void write_csv_entry(const struct columns *columns, const struct gt_report_value *value, FILE *to)
{
	if (value->kind == GT_COUNT_ARRAY) {
		write_csv_array(columns, value, to);
		return;
	}
	fwrite(columns->text, 1, columns->bytes, to);
	gt_csv_field(value->name, false, to);
	putc(',', to);
	if (value->kind == GT_COUNT_NUMBER)
		write_number(value->number, to);
	else
		gt_csv_field(value->text, false, to);
	putc('\n', to);
}

static int make_columns(struct columns *columns, const char *label, const char *stage, struct gt_error *error)
{
	struct gt_memory_file memory;

	if (gt_memory_file_open(&memory, error) != 0)
		return -1;
	gt_csv_field(label, false, memory.file);
	putc(',', memory.file);
	gt_csv_field(stage, false, memory.file);
	putc(',', memory.file);
	columns->text = gt_memory_file_take(&memory, &columns->bytes, "the report", error);
	return columns->text ? 0 : -1;
}

static int write_csv_kernel(const char *label, const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error)
{
	for (size_t i = 0; i < kernel->n; i++) {
		const struct gt_report_stage *stage = &kernel->stages[i];
		struct columns columns;
		if (make_columns(&columns, label, stage->name, error) != 0)
			return -1;
		for (size_t j = 0; j < stage->n; j++)
			if (!stage->counters[j].differs)
				write_csv_entry(&columns, &stage->counters[j].value, to);
		free(columns.text);
	}
	return 0;
}

/* A line for each counter of each kernel and of the total. */
static int write_counter_csv(const struct gt_report *report, FILE *to, struct gt_error *error)
{
	char label[24];

	fputs("kernel,stage,counter,value\n", to);
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = gt_report_read(report, i, error);
		if (!kernel)
			return -1;
		snprintf(label, sizeof label, "%" PRIu64, kernel->kernel.id);
		if (write_csv_kernel(report->by_name && kernel->announced ? kernel->kernel.name : label, kernel, to, error) != 0)
			return -1;
	}
	return write_csv_kernel("total", &report->total, to, error);
}

static void write_csv_shape(const uint32_t shape[3], FILE *to)
{
	fprintf(to, "\"(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")\",", shape[0], shape[1], shape[2]);
}

/* As in ncu, every value is in quotes; unlike there, numbers have no thousands separators. Of what the model does not
 * have, the process has id 0 and our name, and context and stream are those of a program that makes none. */
static void write_metric_csv_row(const struct gt_kernel *kernel, const char *capability, const struct gt_metric *metric,
				 struct gt_metric_value value, FILE *to)
{
	char text[GT_METRIC_TEXT];

	if (value.state == GT_METRIC_UNDEFINED)
		return;
	fprintf(to, "\"%" PRIu64 "\",\"0\",\"gtrace\",\"127.0.0.1\",", kernel->id);
	gt_csv_field(kernel->name, true, to);
	fputs(",\"1\",\"7\",", to);
	write_csv_shape(kernel->block, to);
	write_csv_shape(kernel->grid, to);
	fprintf(to, "\"%" PRIu32 "\",", kernel->device);
	gt_csv_field(capability, true, to);
	fprintf(to, ",\"Command line profiler metrics\",\"%s\",\"%s\",\"%s\"\n", metric->name, metric->unit,
		gt_metric_format(value, text));
}

static int write_metric_csv(const struct gt_vocabulary *names, const struct gt_report *report, FILE *to, struct gt_error *error)
{
	const struct gt_metric *metric;
	struct gt_metric_value value;

	fputs("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\","
	      "\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n", to);
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = gt_report_read(report, i, error);
		if (!kernel)
			return -1;
		for (size_t at = 0; (metric = gt_metric_next(names, kernel, &at, &value));)
			write_metric_csv_row(&kernel->kernel, report->capability, metric, value, to);
	}
	return 0;
}

static int write_csv(const struct gt_report *report, const struct gt_vocabulary *names, FILE *to, struct gt_error *error)
{
	return names ? write_metric_csv(names, report, to, error) : write_counter_csv(report, to, error);
}

/* ---- JSON ---- */

/* A metric's value: a number, or null if it is undefined. */
static void write_json_value(struct gt_metric_value value, FILE *to)
{
	char text[GT_METRIC_TEXT];

	fputs(value.state == GT_METRIC_UNDEFINED ? "null" : gt_metric_format(value, text), to);
}

/* Members of a launch; null if the launches of a name differ in it. */
static void write_json_shape(const char *name, bool differs, const uint32_t shape[3], FILE *to)
{
	if (differs)
		fprintf(to, ", \"%s\": null", name);
	else
		fprintf(to, ", \"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, shape[0], shape[1], shape[2]);
}

static void write_json_figure(const char *name, bool differs, uint32_t figure, FILE *to)
{
	if (differs)
		fprintf(to, ", \"%s\": null", name);
	else
		fprintf(to, ", \"%s\": %" PRIu32, name, figure);
}

static void write_json_launch(const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_kernel *launch = &kernel->kernel;

	fprintf(to, "{\"kernel\": %" PRIu64, launch->id);
	if (kernel->merged > 0 || kernel->stands_for > 0)
		fprintf(to, ", \"launches\": %" PRIu64, gt_report_launches(kernel));
	if (!kernel->announced)
		return;
	fputs(", \"name\": ", to);
	gt_json_string(launch->name, to);
	write_json_shape("grid", kernel->grid_differs, launch->grid, to);
	write_json_shape("block", kernel->block_differs, launch->block, to);
	write_json_figure("registers", kernel->registers_differ, launch->registers, to);
	write_json_figure("shared_bytes", kernel->shared_differs, launch->shared_bytes, to);
}

static void write_json_entry(const struct gt_report_value *entry, FILE *to)
{
	gt_json_string(entry->name, to);
	fputs(": ", to);
	if (entry->kind == GT_COUNT_NUMBER)
		write_number(entry->number, to);
	else if (entry->kind == GT_COUNT_TEXT)
		gt_json_string(entry->text, to);
	else {
		putc('[', to);
		for (size_t i = 0; i < entry->n; i++) {
			fputs(i ? ", " : "", to);
			write_number(entry->array[i], to);
		}
		putc(']', to);
	}
}

static void write_json_stage(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, FILE *to)
{
	const char *comma = "";

	fputs("{\"stage\": ", to);
	gt_json_string(stage->name, to);
	fputs(", \"counters\": {", to);
	for (size_t i = 0; i < stage->n; i++) {
		if (stage->counters[i].differs)
			continue;
		fputs(comma, to);
		write_json_entry(&stage->counters[i].value, to);
		comma = ", ";
	}
	fputs("}, \"ratios\": {", to);
	comma = "";
	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value value = gt_metric_evaluate(&gt_ratios[i], kernel, stage);
		if (value.state == GT_METRIC_ABSENT)
			continue;
		fprintf(to, "%s\"%s\": ", comma, gt_ratios[i].name);
		write_json_value(value, to);
		comma = ", ";
	}
	fputs("}}", to);
}

static void write_json_stages(const struct gt_report_kernel *kernel, FILE *to)
{
	fputs(", \"stages\": [", to);
	for (size_t i = 0; i < kernel->n; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		write_json_stage(kernel, &kernel->stages[i], to);
	}
	putc(']', to);
}

static void write_json_metrics(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_metric *metric;
	struct gt_metric_value value;
	const char *comma = "";

	fputs(", \"metrics\": [", to);
	for (size_t at = 0; (metric = gt_metric_next(names, kernel, &at, &value)); comma = ",") {
		fprintf(to, "%s\n    {\"name\": \"%s\", \"unit\": \"%s\", \"value\": ", comma, metric->name, metric->unit);
		write_json_value(value, to);
		putc('}', to);
	}
	putc(']', to);
}

/* The members of a kernel, or of the total, that have its counts. */
static void write_json_counts(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, FILE *to)
{
	if (names)
		write_json_metrics(names, kernel, to);
	else
		write_json_stages(kernel, to);
}

static int write_json(const struct gt_report *report, const struct gt_vocabulary *names, FILE *to, struct gt_error *error)
{
	fprintf(to, "{\"gtrace_report\": %d, \"names\": \"%s\", \"gpu\": ", GT_REPORT_VERSION, names ? names->name : "gtrace");
	if (report->gpu[0])
		gt_json_string(report->gpu, to);
	else
		fputs("null", to);
	fputs(",\n \"kernels\": [", to);
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = gt_report_read(report, i, error);
		if (!kernel)
			return -1;
		fputs(i ? ",\n  " : "\n  ", to);
		write_json_launch(kernel, to);
		write_json_counts(names, kernel, to);
		putc('}', to);
	}
	fprintf(to, "],\n \"total\": {\"kernels\": %zu", report->n);
	if (report->by_name)
		fprintf(to, ", \"launches\": %" PRIu64, report->launches);
	write_json_counts(names, &report->total, to);
	fputs("}}\n", to);
	return 0;
}

/* ---- the forms ---- */

struct gt_report_form {
	const char *names, *form;
	const struct gt_vocabulary *vocabulary; /* NULL: our own names */
	int (*write)(const struct gt_report *report, const struct gt_vocabulary *names, FILE *to, struct gt_error *error);
};

static const struct gt_report_form forms[] = {
	{"gtrace", "table", NULL, write_table},
	{"gtrace", "csv", NULL, write_csv},
	{"gtrace", "json", NULL, write_json},
	{"ncu", "table", &gt_vocabularies[GT_VOCABULARY_NCU], write_table},
	{"ncu", "csv", &gt_vocabularies[GT_VOCABULARY_NCU], write_csv},
	{"ncu", "json", &gt_vocabularies[GT_VOCABULARY_NCU], write_json},
	{"nvprof", "table", &gt_vocabularies[GT_VOCABULARY_NVPROF], write_table},
	{"nvprof", "csv", &gt_vocabularies[GT_VOCABULARY_NVPROF], write_csv},
	{"nvprof", "json", &gt_vocabularies[GT_VOCABULARY_NVPROF], write_json},
	{"accelsim", "table", &gt_vocabularies[GT_VOCABULARY_ACCELSIM], write_log},
	{"accelsim", "csv", &gt_vocabularies[GT_VOCABULARY_ACCELSIM], write_csv},
	{"accelsim", "json", &gt_vocabularies[GT_VOCABULARY_ACCELSIM], write_json},
};

const struct gt_report_form *gt_report_form_find(const char *names, const char *form)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].names, names) == 0 && strcmp(forms[i].form, form) == 0)
			return &forms[i];
	return NULL;
}

int gt_report_write(const struct gt_report *report, const struct gt_report_form *form, FILE *to, struct gt_error *error)
{
	return form->write(report, form->vocabulary, to, error);
}
