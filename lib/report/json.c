/* SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <inttypes.h>

#include "base/utf8.h"

void gt_json_string(const char *text, FILE *to)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', to);
	while (*at) {
		size_t length = gt_utf8_length(at);
		if (*at == '"' || *at == '\\')
			fprintf(to, "\\%c", *at);
		else if (*at < ' ' || *at == 127)
			fprintf(to, "\\u%04x", *at);
		else if (length == 0)
			fputs("\\ufffd", to);
		else if (length < 4 && !gt_utf8_shown((const char *)at))
			fprintf(to, "\\u%04x", length == 2 ? (at[0] & 31U) << 6 | (at[1] & 63U)
							   : (at[0] & 15U) << 12 | (at[1] & 63U) << 6 | (at[2] & 63U));
		else
			fwrite(at, 1, length, to);
		at += length ? length : 1;
	}
	putc('"', to);
}

void gt_json_value(struct gt_metric_value value, FILE *to)
{
	char text[GT_METRIC_TEXT];

	fputs(value.state == GT_METRIC_UNDEFINED ? "null" : gt_metric_format(value, text), to);
}

/* Members of a launch; null if the launches of a name differ in it. */
static void write_shape(const char *name, bool differs, const uint32_t shape[3], FILE *to)
{
	if (differs)
		fprintf(to, ", \"%s\": null", name);
	else
		fprintf(to, ", \"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, shape[0], shape[1], shape[2]);
}

static void write_figure(const char *name, bool differs, uint32_t figure, FILE *to)
{
	if (differs)
		fprintf(to, ", \"%s\": null", name);
	else
		fprintf(to, ", \"%s\": %" PRIu32, name, figure);
}

static void write_launch(const struct gt_report_kernel *kernel, FILE *to)
{
	const struct gt_kernel *launch = &kernel->kernel;

	fprintf(to, "{\"kernel\": %" PRIu64, launch->id);
	if (kernel->merged > 0)
		fprintf(to, ", \"launches\": %zu", kernel->merged);
	if (!kernel->announced)
		return;
	fputs(", \"name\": ", to);
	gt_json_string(launch->name, to);
	write_shape("grid", kernel->grid_differs, launch->grid, to);
	write_shape("block", kernel->block_differs, launch->block, to);
	write_figure("registers", kernel->registers_differ, launch->registers, to);
	write_figure("shared_bytes", kernel->shared_differs, launch->shared_bytes, to);
}

void gt_json_report(const struct gt_report *report, const char *names,
		    void (*body)(const struct gt_report_kernel *kernel, FILE *to), FILE *to)
{
	fprintf(to, "{\"gtrace_report\": %d, \"names\": \"%s\", \"gpu\": ", GT_REPORT_VERSION, names);
	if (report->gpu[0])
		gt_json_string(report->gpu, to);
	else
		fputs("null", to);
	fputs(",\n \"kernels\": [", to);
	for (size_t i = 0; i < report->n; i++) {
		fputs(i ? ",\n  " : "\n  ", to);
		write_launch(&report->kernels[i], to);
		body(&report->kernels[i], to);
		putc('}', to);
	}
	fprintf(to, "],\n \"total\": {\"kernels\": %zu", report->n);
	if (report->by_name)
		fprintf(to, ", \"launches\": %" PRIu64, gt_report_launches(report));
	body(&report->total, to);
	fputs("}}\n", to);
}

static void write_entry(const struct gt_count_entry *entry, FILE *to)
{
	gt_json_string(entry->name, to);
	fputs(": ", to);
	if (entry->kind == GT_COUNT_NUMBER)
		fprintf(to, "%" PRIu64, entry->number);
	else if (entry->kind == GT_COUNT_TEXT)
		gt_json_string(entry->text, to);
	else {
		putc('[', to);
		for (size_t i = 0; i < entry->n; i++)
			fprintf(to, "%s%" PRIu64, i ? ", " : "", entry->array[i]);
		putc(']', to);
	}
}

static void write_stage(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, FILE *to)
{
	const char *comma = "";

	fputs("{\"stage\": ", to);
	gt_json_string(stage->name, to);
	fputs(", \"counters\": {", to);
	for (size_t i = 0; i < stage->n; i++) {
		if (stage->counters[i].differs)
			continue;
		fputs(comma, to);
		write_entry(&stage->counters[i].value, to);
		comma = ", ";
	}
	fputs("}, \"ratios\": {", to);
	comma = "";
	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value value = gt_metric_evaluate(&gt_ratios[i], kernel, stage);
		if (value.state == GT_METRIC_ABSENT)
			continue;
		fprintf(to, "%s\"%s\": ", comma, gt_ratios[i].name);
		gt_json_value(value, to);
		comma = ", ";
	}
	fputs("}}", to);
}

static void write_stages(const struct gt_report_kernel *kernel, FILE *to)
{
	fputs(", \"stages\": [", to);
	for (size_t i = 0; i < kernel->n; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		write_stage(kernel, &kernel->stages[i], to);
	}
	putc(']', to);
}

int gt_report_write_json(const struct gt_report *report, FILE *to, struct gt_error *error)
{
	gt_json_report(report, "gtrace", write_stages, to);
	(void)error;
	return 0;
}
