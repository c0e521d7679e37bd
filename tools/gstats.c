/* SPDX-License-Identifier: MIT */
/* gstats: a report of the counts of a pipe. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "gstats.h"
#include "report/report.h"
#include "report/compare/compare.h"
#include "report/findings/findings.h"
#include "report/page/page.h"
#include "stream/history.h"
#include "stream/parts.h"

static void check_findings(const struct tool *tool, const struct options *options)
{
	if (options->findings && (strcmp(options->form, "csv") == 0 || options->names || options->reference || options->errors || options->report ||
				  options->callgrind))
		tool_usage(tool, "--findings goes with --all, --json, --program, --color, --by, --kernel, --scale, --output and --tee only");
	if (options->lines && (strcmp(options->form, "json") == 0 || options->findings || options->names || options->reference || options->errors || options->report ||
			       options->callgrind || options->by_chosen))
		tool_usage(tool, "--lines goes with --csv, --color, --kernel, --scale, --output and --tee only");
	if (options->all && !options->findings)
		tool_usage(tool, "--all: expected --findings, too");
	if (options->color && !options->findings && !options->lines)
		tool_usage(tool, "--color: expected --findings or --lines, too");
	if (!options->findings && !options->report && options->program)
		tool_usage(tool, "--program: expected --findings or --report, too");
	tool_is_coloured(tool, options->color, stdout);
}

static void check_kernels(const struct tool *tool, const struct options *options)
{
	if (options->kernels && (strcmp(options->form, "json") == 0 || options->names || options->reference || options->errors || options->report ||
				 options->callgrind || options->findings || options->by_chosen || options->scale))
		tool_usage(tool, "--kernels goes with --csv, --kernel, --output and --tee only");
}

static void check(const struct tool *tool, struct options *options)
{
	check_findings(tool, options);
	check_kernels(tool, options);
	if (options->reference && options->names)
		tool_usage(tool, "--reference: its file determines the names: leave out --names");
	if (options->sides[0] && !options->reference)
		tool_usage(tool, "--as names the two sides of --reference: expected that too");
	if (options->report && (options->form_chosen || options->names || options->errors || options->output))
		tool_usage(tool, "--report goes with --force, --reference, --as, --by, --kernel, --scale and --tee only");
	if (options->callgrind && (options->form_chosen || options->names || options->reference || options->errors || options->output ||
				   options->report || options->by_chosen))
		tool_usage(tool, "--callgrind goes with --kernel, --scale and --tee only");
	if (options->errors && (options->reference || options->names || options->kernel || options->tee || options->scale))
		tool_usage(tool, "--errors goes with --csv, --json and --output only");
	if (options->merge && (options->errors || options->tee))
		tool_usage(tool, "--merge goes with neither --errors nor --tee");
	if (options->merge && optind == tool->argc)
		tool_usage(tool, "--merge: expected the parts of a stream");
	if (options->errors && optind == tool->argc)
		tool_usage(tool, "--errors: expected files of rows that --reference --csv wrote, or - for standard input");
	if (options->by_chosen && (options->reference || options->errors))
		tool_usage(tool, "--by: the file of --reference decides it: hardware's counters are compared launch by launch, and those of gstats --csv as it has them: "
				 "leave it out");
	if (!options->by_chosen)
		options->by_name = options->findings || options->lines || (!options->form_chosen && !options->reference && !options->kernels);
	options->names = options->names ? options->names : "gtrace";
	/* A log of Accel-Sim has launches, which stand one behind the other. */
	if (!options->by_chosen && strcmp(options->names, "accelsim") == 0)
		options->by_name = false;
	if (!gt_report_form_find(options->names, options->form))
		tool_usage(tool, "--names '%s': expected gtrace, ncu, nvprof or accelsim", options->names);
}

static void set_by(const struct tool *tool, struct options *options, const char *what)
{
	options->by_chosen = true;
	options->by_name = strcmp(what, "kernel") == 0;
	if (!options->by_name && strcmp(what, "launch") != 0)
		tool_usage(tool, "--by '%s': expected kernel or launch", what);
}

static void set_form(const struct tool *tool, struct options *options, const char *form)
{
	if (options->form_chosen)
		tool_usage(tool, "--csv and --json: expected one of them, once");
	options->form_chosen = true;
	options->form = form;
}

/* "A,B", in place. */
static void set_sides(const struct tool *tool, struct options *options, char *names)
{
	char *comma = strchr(names, ',');

	if (!comma || comma == names || !comma[1] || strchr(comma + 1, ','))
		tool_usage(tool, "--as '%s': expected two names, such as before,after", names);
	*comma = '\0';
	options->sides[0] = names;
	options->sides[1] = comma + 1;
}

/* Before the stream, which may be long in coming. */
static void check_place(struct tool *tool, const struct options *options)
{
	if (options->force && !options->report)
		tool_usage(tool, "--force: expected --report, whose page it replaces");
	if (options->report)
		tool_must(tool, gt_page_check(options->report, options->force, &tool->error));
	if (options->output)
		tool_must(tool, gt_whole_file_check(options->output, "the report", &tool->error));
	if (options->callgrind)
		tool_must(tool, gt_whole_file_check(options->callgrind, "the counts", &tool->error));
}

static struct options parse(struct tool *tool)
{
	struct options options = {.form = "table"};

	for (int c; (c = tool_option(tool, option_rows)) != -1;) {
		switch (c) {
		case CSV: set_form(tool, &options, "csv"); break;
		case JSON: set_form(tool, &options, "json"); break;
		case BY: set_by(tool, &options, optarg); break;
		case CALLGRIND: options.callgrind = optarg; break;
		case NAMES: options.names = optarg; break;
		case KERNEL: options.kernel = optarg; break;
		case OUTPUT: options.output = optarg; break;
		case MERGE: options.merge = true; break;
		case TEE: options.tee = true; break;
		case SCALE: options.scale = true; break;
		case REFERENCE: options.reference = optarg; break;
		case AS: set_sides(tool, &options, optarg); break;
		case ERRORS: options.errors = true; break;
		case REPORT: options.report = optarg; break;
		case FINDINGS: options.findings = true; break;
		case LINES: options.lines = true; break;
		case ALL: options.all = true; break;
		case PROGRAM: options.program = optarg; break;
		case COLOR: options.color = optarg; break;
		case KERNELS: options.kernels = true; break;
		case FORCE: options.force = true; break;
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

/* What a file of --output gets once the report is whole: from memory, or, where that would not hold it, from a temporary file. */
struct saved {
	struct gt_memory_file memory;
	FILE *file;
};

/* Where the report is printed. */
static FILE *open_output(struct tool *tool, const struct options *options, bool is_long, struct saved *saved)
{
	saved->file = NULL;
	if (!options->output)
		return options->tee ? stderr : stdout;
	if (!is_long) {
		tool_must(tool, gt_memory_file_open(&saved->memory, &tool->error));
		return saved->memory.file;
	}
	const int descriptor = gt_temporary_file(gt_temporary_directory(), &tool->error);
	tool_must(tool, descriptor < 0 ? -1 : 0);
	saved->file = fdopen(descriptor, "w");
	tool_must(tool, saved->file ? 0 : gt_fail_memory(&tool->error, "the report"));
	return saved->file;
}

static void close_output(struct tool *tool, const struct options *options, struct saved *saved)
{
	if (!options->output)
		return;
	if (!saved->file) {
		tool_must(tool, gt_memory_file_save(&saved->memory, options->output, "the report", &tool->error));
		return;
	}
	if (fflush(saved->file) != 0 || ferror(saved->file))
		tool_must(tool, gt_fail_errno(&tool->error, "temporary file in %s: the report", gt_temporary_directory()));
	tool_must(tool, gt_whole_file_copy(options->output, fileno(saved->file), "the report", &tool->error));
	fclose(saved->file);
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

/* Hardware's counters and ours, with the errors. */
struct beside {
	struct gt_comparison comparison;
	struct gt_errors errors;
};

/* Whether there are launches of the reference, and none of them is in the report. */
static bool none_is_matched(const struct gt_comparison *comparison)
{
	size_t missing = 0;

	for (size_t i = 0; i < comparison->n; i++) {
		const enum gt_comparison_note note = comparison->rows[i].note;
		if (note != GT_NOT_IN_MODEL && note != GT_NOT_IN_REFERENCE)
			return false;
		missing += note == GT_NOT_IN_MODEL;
	}
	return missing > 0;
}

static void compare(struct tool *tool, struct beside *beside, const struct gt_report *report, const struct gt_reference *reference,
		    const struct options *options)
{
	*beside = (struct beside){.errors = {0}};
	if (reference->without)
		tool_warn(tool, "%s: values that are none (n/a): %" PRIu64 ", the first on line %" PRIu64, options->reference, reference->without,
			  reference->without_line);
	tool_must(tool, gt_compare(&beside->comparison, report, reference, &tool->error));
	if (none_is_matched(&beside->comparison))
		tool_warn(tool, "%s: none of its launches is in the stream, by name, grid, block and position: nothing is compared", options->reference);
	for (int side = 0; side < 2; side++)
		if (options->sides[side])
			beside->comparison.sides[side] = options->sides[side];
	tool_must(tool, gt_comparison_errors(&beside->comparison, &beside->errors, &tool->error));
}

static void beside_clear(struct beside *beside)
{
	gt_comparison_clear(&beside->comparison);
	gt_errors_clear(&beside->errors);
}

static void print_comparison(struct tool *tool, const struct gt_report *report, const struct gt_reference *reference,
			     const struct options *options, FILE *to)
{
	struct beside beside;

	compare(tool, &beside, report, reference, options);
	tool_must(tool, gt_comparison_write(&beside.comparison, &beside.errors, options->form, to, &tool->error));
	if (strcmp(options->form, "csv") == 0)
		warn_of_others(tool, &beside.comparison);
	beside_clear(&beside);
}

static void print_findings(struct tool *tool, const struct gt_report *report, const struct options *options, FILE *to)
{
	const struct gt_findings_style style = {options->program, tool_is_coloured(tool, options->color, to), options->all};
	struct gt_kernel_findings *findings;

	tool_must(tool, gt_findings_open(&findings, report, gt_reader_gpu(tool->in), &tool->error));
	if (strcmp(options->form, "json") == 0) {
		tool_must(tool, gt_findings_write_json(findings, report, &style, to, &tool->error));
	} else {
		tool_must(tool, gt_findings_write(findings, report, &style, to, &tool->error));
		if (options->all) {
			fputc('\n', to);
			tool_must(tool, gt_report_write(report, gt_report_form_find("gtrace", "table"), to, &tool->error));
		}
	}
	gt_findings_close(findings, report);
}

static void print(struct tool *tool, const struct gt_report *report, const struct gt_reference *reference,
		  const struct options *options)
{
	struct saved saved;
	FILE *to = open_output(tool, options, report->packed && gt_packed_in_file(report->packed), &saved);

	if (options->kernels)
		tool_must(tool, gt_report_write_kernels(report, strcmp(options->form, "csv") == 0, to, &tool->error));
	else if (options->lines)
		tool_must(tool, gt_report_write_lines(report, strcmp(options->form, "csv") == 0, tool_is_coloured(tool, options->color, to), to, &tool->error));
	else if (options->findings)
		print_findings(tool, report, options, to);
	else if (options->reference)
		print_comparison(tool, report, reference, options, to);
	else
		tool_must(tool, gt_report_write(report, gt_report_form_find(options->names, options->form), to, &tool->error));
	close_output(tool, options, &saved);
}

static void write_page(struct tool *tool, const struct gt_report *report, const struct gt_reference *reference,
		       const struct options *options)
{
	struct gt_page page = {.report = report, .program = options->program, .gpu = gt_reader_gpu(tool->in), .history = gt_reader_history(tool->in)};
	struct gt_memory_file memory;
	struct beside beside;
	char date[32];

	page.date = tool_date(tool, date);
	compare(tool, &beside, report, reference, options);
	if (options->reference) {
		page.comparison = &beside.comparison;
		page.errors = &beside.errors;
	}
	tool_must(tool, gt_memory_file_open(&memory, &tool->error));
	tool_must(tool, gt_page_write(&page, memory.file, &tool->error));
	beside_clear(&beside);
	tool_must(tool, gt_page_save(&memory, options->report, options->force, &tool->error));
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
	tool_must(tool, gt_memory_file_save(&memory, path, "the counts", &tool->error));
	if (!placed)
		tool_warn(tool, "the trace has no source lines: compile with nvcc -lineinfo");
}

/* --errors: reads rows, not a stream. */
static void print_errors(struct tool *tool, const struct options *options)
{
	struct gt_errors errors = {0};
	struct saved saved;

	for (int i = optind; i < tool->argc; i++)
		tool_must(tool, gt_errors_read(&errors, tool->argv[i], &tool->error));
	FILE *to = open_output(tool, options, false, &saved);
	tool_must(tool, gt_errors_write(&errors, options->form, to, &tool->error));
	if (strcmp(options->form, "json") == 0)
		putc('\n', to);
	close_output(tool, options, &saved);
	gt_errors_clear(&errors);
	tool_end(tool);
}

/* By name, launches are added as they come, unless they are to be scaled first. A report that is only written, kernel by kernel, needs none of them whole. */
static void prepare(struct tool *tool, struct gt_report *report, const struct options *options, const char *const *history)
{
	const bool adds = options->by_name && !options->scale && !gt_history_find(history, "gsample", NULL);

	if (adds)
		tool_must(tool, gt_report_add_by_name(report, &tool->error));
	if (!options->report && !options->callgrind && !options->findings && !options->lines && !options->kernels && !options->reference &&
	    (adds || !options->by_name))
		tool_must(tool, gt_report_pack(report, &tool->error));
}

/* Reads the stream to its end; with --tee passes it on. */
static void read_stream(struct tool *tool, struct gt_report *report, const struct options *options)
{
	enum gt_event event;

	tool_read(tool);
	prepare(tool, report, options, gt_reader_history(tool->in));
	if (options->tee)
		tool_write(tool);
	while (tool_next(tool, &event)) {
		take(tool, report, event);
		if (options->tee)
			tool_pass(tool);
	}
}

/* They stay open: reports have the GPU and the pipe of the part that was read last. */
static void read_parts(struct tool *tool, struct gt_report *report, const struct options *options, struct gt_parts **parts)
{
	uint64_t rows, bytes;
	enum gt_event event;

	tool->started = tool_now();
	*parts = gt_parts_open(tool->argv + optind, (size_t)(tool->argc - optind), &tool->error);
	tool_must(tool, *parts ? 0 : -1);
	prepare(tool, report, options, gt_reader_history(gt_parts_reader(*parts)));
	while ((event = gt_parts_next(*parts, &tool->error)) != GT_END) {
		tool_must(tool, event == GT_FAILED ? -1 : 0);
		tool->in = gt_parts_reader(*parts);
		take(tool, report, event);
		gt_parts_read(*parts, &rows, &bytes);
		tool_progress(tool, rows, bytes, false);
	}
	tool->in = gt_parts_reader(*parts);
	gt_parts_read(*parts, &rows, &bytes);
	tool_progress(tool, rows, bytes, true);
}

static void gather(struct tool *tool, struct gt_report *report, const struct options *options, struct gt_parts **parts)
{
	if (options->merge)
		read_parts(tool, report, options, parts);
	else
		read_stream(tool, report, options);
	if (options->scale)
		tool_must(tool, gt_report_scale(report, &tool->error));
	tool_must(tool, gt_report_finish(report, &tool->error));
	if (options->by_name)
		tool_must(tool, gt_report_by_name(report, &tool->error));
}

static const char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Our own counters are compared as the file has them, and the sides are called by their files' names. */
static void read_reference(struct tool *tool, struct gt_reference *reference, struct options *options)
{
	const char *stream = optind < tool->argc ? tool->argv[optind] : "-";

	tool_must(tool, gt_reference_read(reference, options->reference, &tool->error));
	if (!reference->is_saved)
		return;
	options->by_name = reference->saved.by_name;
	if (options->sides[0])
		return;
	options->sides[0] = name_of_file(options->reference);
	options->sides[1] = strcmp(stream, "-") == 0 ? NULL : name_of_file(stream);
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct gt_report report;
	struct gt_reference reference = {0};
	struct gt_parts *parts = NULL;

	tool_begin(&tool, "gstats", &about, argc, argv);
	struct options options = parse(&tool);
	tool.is_filter = options.tee;
	if (options.errors) {
		print_errors(&tool, &options);
		return 0;
	}
	if (gt_report_begin(&report, options.kernel, &tool.error) != 0)
		tool_usage_error(&tool, "--kernel");
	check_place(&tool, &options);
	if (options.reference)
		read_reference(&tool, &reference, &options);
	gather(&tool, &report, &options, &parts);
	if (options.report)
		write_page(&tool, &report, &reference, &options);
	else if (options.callgrind)
		write_callgrind(&tool, &report, options.callgrind);
	else if (!options.tee || options.output)
		print(&tool, &report, &reference, &options);
	if (parts) {
		tool.in = NULL;
		gt_parts_close(parts);
	}
	tool_end(&tool);
	if (options.tee && !options.report && !options.callgrind && !options.output)
		print(&tool, &report, &reference, &options);
	gt_reference_clear(&reference);
	gt_report_clear(&report);
	return 0;
}
