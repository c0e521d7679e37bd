/* SPDX-License-Identifier: MIT */
/* gstats: what a pipe counted, as a report. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "tool.h"

static const char help[] =
	"usage: gstats [--csv | --json] [--names gtrace|ncu] [--kernel RE] [--output FILE] [--tee] [STREAM]\n"
	"Prints what the stages of a pipe counted, for each kernel and in total, once the whole\n"
	"stream was read and its checksum is right.\n"
	"\n"
	"  --csv            kernel,stage,counter,value\n"
	"  --json           JSON; gstats(1) has the schema\n"
	"  --names NAMES    gtrace: our counters (default); ncu: the metrics of NVIDIA's profiler\n"
	"  --kernel RE      only kernels whose name matches this Perl-compatible regular expression\n"
	"  --output FILE    write the report there, not to standard output\n"
	"  --tee            pass the stream on to standard output, unchanged; the report goes to\n"
	"                   standard error or to --output\n"
	"  -v, --verbose    show progress\n"
	"  --help, --version\n";

struct options {
	const char *form, *names, *kernel, *output;
	bool tee;
};

static struct options parse(struct tool *tool)
{
	enum { CSV = 1, JSON, NAMES, KERNEL, OUTPUT, TEE };
	static const struct option long_options[] = {
		{"csv", no_argument, NULL, CSV},
		{"json", no_argument, NULL, JSON},
		{"names", required_argument, NULL, NAMES},
		{"kernel", required_argument, NULL, KERNEL},
		{"output", required_argument, NULL, OUTPUT},
		{"tee", no_argument, NULL, TEE},
		TOOL_OPTIONS,
	};
	struct options options = {.form = "table", .names = "gtrace"};
	bool form_chosen = false;

	for (int c; (c = tool_option(tool, "v", long_options)) != -1;) {
		switch (c) {
		case CSV:
		case JSON:
			if (form_chosen)
				tool_usage(tool, "--csv and --json: expected one of them, once");
			form_chosen = true;
			options.form = c == CSV ? "csv" : "json";
			break;
		case NAMES:
			options.names = optarg;
			break;
		case KERNEL:
			options.kernel = optarg;
			break;
		case OUTPUT:
			options.output = optarg;
			break;
		case TEE:
			options.tee = true;
			break;
		}
	}
	if (!gt_report_form(options.names, options.form))
		tool_usage(tool, "--names '%s': expected gtrace or ncu", options.names);
	return options;
}

static void take(struct tool *tool, struct gt_report *report, enum gt_event event)
{
	if (event == GT_KERNEL)
		tool_must(tool, gt_report_kernel(report, gt_reader_kernel(tool->in), &tool->error));
	else if (event == GT_COUNT)
		tool_must(tool, gt_report_count(report, gt_reader_count(tool->in), &tool->error));
	else if (event == GT_GPU)
		gt_report_gpu(report, gt_reader_gpu(tool->in));
}

static void print(struct tool *tool, const struct gt_report *report, const struct options *options)
{
	const struct gt_report_form *form = gt_report_form(options->names, options->form);
	FILE *to = options->tee ? stderr : stdout;

	if (options->output) {
		to = fopen(options->output, "w");
		if (!to) {
			gt_fail_errno(&tool->error, "%s", options->output);
			tool_fail(tool);
		}
	}
	form->write(report, to);
	if (!options->output)
		return;
	bool lost = ferror(to) != 0;
	if (fclose(to) != 0 || lost) {
		gt_fail_errno(&tool->error, "%s: cannot write the report", options->output);
		tool_fail(tool);
	}
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct gt_report report;
	enum gt_event event;

	tool_begin(&tool, "gstats", help, argc, argv);
	struct options options = parse(&tool);
	if (gt_report_begin(&report, options.kernel, &tool.error) != 0)
		tool_usage_error(&tool, "--kernel");
	tool_read(&tool);
	if (options.tee)
		tool_write(&tool);
	while (tool_next(&tool, &event)) {
		take(&tool, &report, event);
		if (options.tee)
			tool_pass(&tool);
	}
	tool_must(&tool, gt_report_finish(&report, &tool.error));
	if (!options.tee)
		print(&tool, &report, &options);
	tool_end(&tool);
	if (options.tee)
		print(&tool, &report, &options);
	gt_report_clear(&report);
	return 0;
}
