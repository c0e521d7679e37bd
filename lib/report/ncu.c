/* SPDX-License-Identifier: MIT */
/* Reports in the names of NVIDIA's profilers. */
#include <inttypes.h>
#include <string.h>

#include "report/csv.h"
#include "report/json.h"
#include "report/metric.h"
#include "report/report.h"
#include "report/table.h"

/* Calls `show` for each metric of a vocabulary that the kernel's counters determine. */
static void each_metric(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel,
			void (*show)(void *context, const struct gt_metric *metric, struct gt_metric_value value),
			void *context)
{
	const char *last = "";

	for (size_t i = 0; i < *names->n; i++) {
		const struct gt_metric *metric = &names->metrics[i];
		struct gt_metric_value value = gt_metric_evaluate(metric, kernel, NULL);
		if (value.state == GT_METRIC_ABSENT || strcmp(metric->name, last) == 0)
			continue;
		show(context, metric, value);
		last = metric->name;
	}
}

static void table_row(void *context, const struct gt_metric *metric, struct gt_metric_value value)
{
	char number[GT_TABLE_NUMBER], text[GT_METRIC_TEXT];
	const char *shown = value.state == GT_METRIC_COUNT ? gt_table_number(value.count, number)
							   : gt_metric_format(value, text);

	gt_table_add(context, (const char *const[GT_TABLE_COLUMNS]){metric->name, metric->unit, shown});
}

static int write_table(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, FILE *to,
		       struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrlllll"};

	each_metric(names, kernel, table_row, &table);
	return gt_table_write(&table, to, error);
}

struct csv_context {
	const struct gt_kernel *kernel;
	const char *capability; /* of the GPU */
	FILE *to;
};

static void write_shape(const uint32_t shape[3], FILE *to)
{
	fprintf(to, "\"(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")\",", shape[0], shape[1], shape[2]);
}

/* As in ncu, every value is in quotes; unlike there, numbers have no thousands separators. Of what the model does not
 * have, the process has id 0 and our name, and context and stream are those of a program that makes none. */
static void csv_row(void *context, const struct gt_metric *metric, struct gt_metric_value value)
{
	const struct csv_context *csv = context;
	char text[GT_METRIC_TEXT];

	if (value.state == GT_METRIC_UNDEFINED)
		return;
	fprintf(csv->to, "\"%" PRIu64 "\",\"0\",\"gtrace\",\"127.0.0.1\",", csv->kernel->id);
	gt_csv_field(csv->kernel->name, true, csv->to);
	fputs(",\"1\",\"7\",", csv->to);
	write_shape(csv->kernel->block, csv->to);
	write_shape(csv->kernel->grid, csv->to);
	fprintf(csv->to, "\"%" PRIu32 "\",", csv->kernel->device);
	gt_csv_field(csv->capability, true, csv->to);
	fprintf(csv->to, ",\"Command line profiler metrics\",\"%s\",\"%s\",\"%s\"\n", metric->name, metric->unit,
		gt_metric_format(value, text));
}

static void write_csv(const struct gt_vocabulary *names, const struct gt_report *report, FILE *to)
{
	fputs("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\","
	      "\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n", to);
	for (size_t i = 0; i < report->n; i++)
		each_metric(names, &report->kernels[i], csv_row,
			    &(struct csv_context){&report->kernels[i].kernel, report->capability, to});
}

struct json_context {
	const char *comma;
	FILE *to;
};

static void json_member(void *context, const struct gt_metric *metric, struct gt_metric_value value)
{
	struct json_context *json = context;

	fprintf(json->to, "%s\n    {\"name\": \"%s\", \"unit\": \"%s\", \"value\": ", json->comma, metric->name,
		metric->unit);
	gt_json_value(value, json->to);
	putc('}', json->to);
	json->comma = ",";
}

static void write_json(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, FILE *to)
{
	fputs(", \"metrics\": [", to);
	each_metric(names, kernel, json_member, &(struct json_context){"", to});
	putc(']', to);
}

/* The reports of a vocabulary, one in each form. */
#define REPORTS(NAME, VOCABULARY)										\
	static int NAME##_table_body(const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error)	\
	{													\
		return write_table(&gt_vocabularies[VOCABULARY], kernel, to, error);				\
	}													\
	static void NAME##_json_body(const struct gt_report_kernel *kernel, FILE *to)				\
	{													\
		write_json(&gt_vocabularies[VOCABULARY], kernel, to);						\
	}													\
	int gt_report_write_##NAME##_table(const struct gt_report *report, FILE *to, struct gt_error *error)	\
	{													\
		return gt_table_report(report, NAME##_table_body, to, error);					\
	}													\
	int gt_report_write_##NAME##_csv(const struct gt_report *report, FILE *to, struct gt_error *error)	\
	{													\
		(void)error;											\
		write_csv(&gt_vocabularies[VOCABULARY], report, to);						\
		return 0;											\
	}													\
	int gt_report_write_##NAME##_json(const struct gt_report *report, FILE *to, struct gt_error *error)	\
	{													\
		(void)error;											\
		gt_json_report(report, #NAME, NAME##_json_body, to);						\
		return 0;											\
	}

REPORTS(ncu, 0)
REPORTS(nvprof, 1)
