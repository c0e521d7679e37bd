/* SPDX-License-Identifier: MIT */
/* gstats: a report of the counts of a pipe. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory_file.h"
#include "base/utf8.h"
#include "report/callgrind.h"
#include "report/compare/compare.h"
#include "report/page/page.h"
#include "report/report.h"
#include "report/scale.h"
#include "tool.h"

static const char help[] =
	"usage: gstats [--csv | --json] [--names gtrace|ncu|nvprof | --reference FILE] [--by WHAT] [--kernel RE]\n"
	"              [--scale] [--output FILE] [--tee] [STREAM]\n"
	"       gstats --report DIR [--by WHAT] [--kernel RE] [--scale] [--tee] [STREAM]\n"
	"       gstats --callgrind FILE [--kernel RE] [--scale] [--tee] [STREAM]\n"
	"       gstats --errors [--csv | --json] [--output FILE] FILE...\n"
	"Prints the counters of all stages, for each kernel and in total, after the whole stream\n"
	"is read and its checksum verified.\n"
	"\n"
	"  --csv            kernel,stage,counter,value\n"
	"  --json           JSON; gstats(1) has the schema\n"
	"  --names NAMES    gtrace: our counters (default); ncu, nvprof: the metrics of NVIDIA's profilers\n"
	"  --reference FILE compare with hardware counters, a CSV of ncu or a table: hardware, ours,\n"
	"                   difference, and the errors by metric\n"
	"  --errors         read rows of --reference --csv instead of a stream: errors by metric\n"
	"  --report DIR     write DIR/index.html, a page with tables and plots, and print nothing\n"
	"  --by WHAT        launch: each launch by itself; kernel: the launches of a name together, with\n"
	"                   their least, mean and largest values (kernel; launch with --csv, --json)\n"
	"  --callgrind FILE write what stages counted by instruction (grd --by pc) by source line, for\n"
	"                   cg_annotate and KCachegrind, and print nothing\n"
	"  --kernel RE      only kernels whose name matches this Perl-compatible regular expression\n"
	"  --scale          counts behind gschedule times blocks / modelled_blocks (a part of a grid)\n"
	"  --output FILE    write the report to FILE, not to standard output\n"
	"  --tee            pass the stream on to standard output, unchanged; the report goes to\n"
	"                   standard error or to --output\n"
	"  -v, --verbose    show progress\n"
	"  --quiet          no warnings\n"
	"  --help, --version\n"
	"\n"
	"example: gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce | gstats --csv\n";

struct options {
	const char *form, *names, *kernel, *output, *reference, *report, *callgrind;
	bool tee, errors, form_chosen, by_chosen, by_name, scale;
};

static void check(const struct tool *tool, struct options *options)
{
	if (options->reference && options->names)
		tool_usage(tool, "--reference: its file determines the names: leave out --names");
	if (options->report && (options->form_chosen || options->names || options->reference || options->errors || options->output))
		tool_usage(tool, "--report goes with --kernel, --scale and --tee only");
	if (options->callgrind && (options->form_chosen || options->names || options->reference || options->errors || options->output ||
				   options->report || options->by_chosen))
		tool_usage(tool, "--callgrind goes with --kernel, --scale and --tee only");
	if (options->errors && (options->reference || options->names || options->kernel || options->tee || options->scale))
		tool_usage(tool, "--errors goes with --csv, --json and --output only");
	if (options->errors && optind == tool->argc)
		tool_usage(tool, "--errors: expected files of rows that --reference --csv wrote, or - for standard input");
	if (options->by_chosen && (options->reference || options->errors))
		tool_usage(tool, "--by: hardware's counters are compared launch by launch: leave it out");
	if (!options->by_chosen)
		options->by_name = !options->form_chosen && !options->reference;
	options->names = options->names ? options->names : "gtrace";
	if (!gt_report_form_find(options->names, options->form))
		tool_usage(tool, "--names '%s': expected gtrace, ncu or nvprof", options->names);
}

static void set_by(const struct tool *tool, struct options *options, const char *what)
{
	options->by_chosen = true;
	options->by_name = strcmp(what, "kernel") == 0;
	if (!options->by_name && strcmp(what, "launch") != 0)
		tool_usage(tool, "--by '%s': expected kernel or launch", what);
}

static struct options parse(struct tool *tool)
{
	enum { CSV = 1, JSON, BY, CALLGRIND, NAMES, KERNEL, OUTPUT, TEE, REFERENCE, ERRORS, REPORT, SCALE };
	static const struct option long_options[] = {
		{"csv", no_argument, NULL, CSV},
		{"json", no_argument, NULL, JSON},
		{"by", required_argument, NULL, BY},
		{"callgrind", required_argument, NULL, CALLGRIND},
		{"names", required_argument, NULL, NAMES},
		{"kernel", required_argument, NULL, KERNEL},
		{"output", required_argument, NULL, OUTPUT},
		{"tee", no_argument, NULL, TEE},
		{"reference", required_argument, NULL, REFERENCE},
		{"errors", no_argument, NULL, ERRORS},
		{"report", required_argument, NULL, REPORT},
		{"scale", no_argument, NULL, SCALE},
		TOOL_OPTIONS,
	};
	struct options options = {.form = "table"};

	for (int c; (c = tool_option(tool, "v", long_options)) != -1;) {
		switch (c) {
		case CSV:
		case JSON:
			if (options.form_chosen)
				tool_usage(tool, "--csv and --json: expected one of them, once");
			options.form_chosen = true;
			options.form = c == CSV ? "csv" : "json";
			break;
		case BY:
			set_by(tool, &options, optarg);
			break;
		case CALLGRIND:
			options.callgrind = optarg;
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
		case SCALE:
			options.scale = true;
			break;
		case REFERENCE:
			options.reference = optarg;
			break;
		case ERRORS:
			options.errors = true;
			break;
		case REPORT:
			options.report = optarg;
			break;
		}
	}
	check(tool, &options);
	return options;
}

static void take(struct tool *tool, struct gt_report *report, enum gt_event event)
{
	if (event == GT_KERNEL)
		tool_must(tool, gt_report_add_kernel(report, gt_reader_kernel(tool->in), &tool->error));
	else if (event == GT_COUNT)
		tool_must(tool, gt_report_count(report, gt_reader_count(tool->in), &tool->error));
	else if (event == GT_GPU)
		gt_report_gpu(report, gt_reader_gpu(tool->in));
}

/* Opens the output of the report. */
static FILE *open_output(struct tool *tool, const struct options *options)
{
	FILE *to = options->tee ? stderr : stdout;

	if (options->output && !(to = fopen(options->output, "w"))) {
		gt_fail_errno(&tool->error, "%s", options->output);
		tool_fail(tool);
	}
	return to;
}

static void close_output(struct tool *tool, const struct options *options, FILE *to)
{
	if (!options->output)
		return;
	bool lost = ferror(to) != 0;
	if (fclose(to) != 0 || lost) {
		gt_fail_errno(&tool->error, "%s: cannot write the report", options->output);
		tool_fail(tool);
	}
}

/* The table and JSON name the metrics that the model does not have; CSV has no place for them. */
static void warn_of_others(const struct tool *tool, const struct gt_comparison *comparison)
{
	enum { SHOWN = 5 };
	char names[512] = "", more[40] = "";
	size_t length = 0;

	for (size_t i = 0; i < comparison->n_others && i < SHOWN && length < sizeof names; i++)
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", comparison->others[i]);
	if (comparison->n_others > SHOWN)
		snprintf(more, sizeof more, " and %zu others", comparison->n_others - SHOWN);
	if (comparison->n_others)
		tool_warn(tool, "not modelled, and not in the CSV: %s%s", names, more);
}

/* Prints the report next to hardware's counters, with the errors. */
static void print_comparison(struct tool *tool, const struct gt_report *report, const struct gt_reference *reference,
			     const char *form, FILE *to)
{
	struct gt_comparison comparison;
	struct gt_errors errors = {0};

	tool_must(tool, gt_compare(&comparison, report, reference, &tool->error));
	tool_must(tool, gt_comparison_errors(&comparison, &errors, &tool->error));
	tool_must(tool, gt_comparison_write(&comparison, &errors, form, to, &tool->error));
	if (strcmp(form, "csv") == 0)
		warn_of_others(tool, &comparison);
	gt_comparison_clear(&comparison);
	gt_errors_clear(&errors);
}

static void print(struct tool *tool, const struct gt_report *report, const struct gt_reference *reference,
		  const struct options *options)
{
	FILE *to = open_output(tool, options);

	if (options->reference)
		print_comparison(tool, report, reference, options->form, to);
	else
		tool_must(tool, gt_report_form_find(options->names, options->form)->write(report, to, &tool->error));
	close_output(tool, options, to);
}

/* Writes a text that is complete, so that no incomplete file is left. */
static void write_whole(struct tool *tool, struct gt_memory_file *memory, const char *path, const char *what)
{
	size_t bytes = 0;
	char *text = gt_memory_file_take(memory, &bytes, what, &tool->error);

	tool_must(tool, text ? 0 : -1);
	FILE *to = fopen(path, "w");
	bool written = to && fwrite(text, 1, bytes, to) == bytes;
	written = to && fclose(to) == 0 && written;
	if (!written)
		gt_fail_errno(&tool->error, "%s: cannot write %s", path, what);
	free(text);
	if (!written)
		tool_fail(tool);
}

static void write_page(struct tool *tool, const struct gt_report *report, const char *directory)
{
	struct gt_page page = {.report = report, .gpu = gt_reader_gpu(tool->in), .history = gt_reader_history(tool->in)};
	char path[4096];
	struct gt_memory_file memory;

	tool_must(tool, gt_memory_file_open(&memory, &tool->error));
	tool_must(tool, gt_page_write(&page, memory.file, &tool->error));
	if ((size_t)snprintf(path, sizeof path, "%s/index.html", directory) >= sizeof path)
		tool_must(tool, gt_fail(&tool->error, "--report: expected a shorter name"));
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		tool_must(tool, gt_fail_errno(&tool->error, "%s: cannot write the page", directory));
	write_whole(tool, &memory, path, "the page");
}

static void write_callgrind(struct tool *tool, const struct gt_report *report, const char *path)
{
	const char *const *history = gt_reader_history(tool->in);
	struct gt_memory_file memory;
	char command[512];
	bool placed;

	snprintf(command, sizeof command, "%s", *history ? *history : "");
	for (char *tab = command; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	tool_must(tool, gt_memory_file_open(&memory, &tool->error));
	tool_must(tool, gt_report_write_callgrind(report, gt_utf8_printable(command), memory.file, &placed, &tool->error));
	write_whole(tool, &memory, path, "the counts");
	if (!placed)
		tool_warn(tool, "the trace has no source lines: compile with nvcc -lineinfo");
}

/* --errors: reads rows, not a stream. */
static void print_errors(struct tool *tool, const struct options *options)
{
	struct gt_errors errors = {0};

	for (int i = optind; i < tool->argc; i++)
		tool_must(tool, gt_errors_read(&errors, tool->argv[i], &tool->error));
	FILE *to = open_output(tool, options);
	tool_must(tool, gt_errors_write(&errors, options->form, to, &tool->error));
	if (strcmp(options->form, "json") == 0)
		putc('\n', to);
	close_output(tool, options, to);
	gt_errors_clear(&errors);
	tool_end(tool);
}

/* Reads the stream to its end; with --tee passes it on. */
static void gather(struct tool *tool, struct gt_report *report, const struct options *options)
{
	enum gt_event event;

	tool_read(tool);
	if (options->tee)
		tool_write(tool);
	while (tool_next(tool, &event)) {
		take(tool, report, event);
		if (options->tee)
			tool_pass(tool);
	}
	if (options->scale)
		tool_must(tool, gt_report_scale(report, &tool->error));
	tool_must(tool, gt_report_finish(report, &tool->error));
	if (options->by_name)
		tool_must(tool, gt_report_by_name(report, &tool->error));
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct gt_report report;
	struct gt_reference reference = {0};

	tool_begin(&tool, "gstats", help, argc, argv);
	struct options options = parse(&tool);
	tool.is_filter = options.tee;
	if (options.errors) {
		print_errors(&tool, &options);
		return 0;
	}
	if (gt_report_begin(&report, options.kernel, &tool.error) != 0)
		tool_usage_error(&tool, "--kernel");
	if (options.reference)
		tool_must(&tool, gt_reference_read(&reference, options.reference, &tool.error));
	gather(&tool, &report, &options);
	if (options.report)
		write_page(&tool, &report, options.report);
	else if (options.callgrind)
		write_callgrind(&tool, &report, options.callgrind);
	else if (!options.tee || options.output)
		print(&tool, &report, &reference, &options);
	tool_end(&tool);
	if (options.tee && !options.report && !options.callgrind && !options.output)
		print(&tool, &report, &reference, &options);
	gt_reference_clear(&reference);
	gt_report_clear(&report);
	return 0;
}
