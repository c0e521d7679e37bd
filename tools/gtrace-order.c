/* SPDX-License-Identifier: MIT */
/* gtrace-order: converts any trace to warp accesses in logical order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "base/options.h"
#include "base/regex.h"
#include "import/formats.h"
#include "order/write.h"
#include "tool.h"

static struct tool_about about = {
	.usage = "usage: gtrace-order [-v] [--format NAME | --format-regex RE] [--kernel RE] [--by block|an] [--work] "
		 "[--registers N] [--shared SIZE] [--source FILE] [-j N] [-S SIZE] [-T DIR] [FILE...]\n"
		 "Converts traces to a stream of warp accesses in logical order.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gtrace-order --by an examples/traces/gemm.rdgc.xz | gtrace-cat | head",
};

enum { FORMAT = 1, FORMAT_REGEX, KERNEL, BY, WORK, REGISTERS, SHARED, SOURCE };
static const struct tool_row option_rows[] = {
	{"--format NAME", FORMAT, "the trace has this format (see below); nothing is detected"},
	{"--format-regex RE", FORMAT_REGEX, "each line that RE matches is an access; its named groups are the fields: block, thread or "
					    "warp, an, op, address or hexaddress, size, pc"},
	{"--kernel RE", KERNEL, "keep the launches of kernels whose names RE matches"},
	{"--by block|an", BY, "order by block, access number, warp (block), or by access number, block, warp"},
	{"--work", WORK, "note what each warp did before an access, for models of time (Accel-Sim)"},
	{"--registers N", REGISTERS, "registers a thread of each launch, in place of the trace's (0: unknown)"},
	{"--shared SIZE", SHARED, "shared memory of a block of each launch, in place of the trace's"},
	{"--source FILE", SOURCE, "the source file of the trace's line numbers (Accel-Sim); else ???"},
	TOOL_JOBS,
	{"-S, --memory SIZE", 'S', "memory to sort in (1G); at least 64K"},
	{"-T, --temporary DIR", 'T', "directory for the rest ($TMPDIR, /tmp)"},
	TOOL_END,
};

struct settings {
	struct watch *watch;
	const struct gt_importer *importer;
	struct gt_pattern *pattern;
	struct gt_order_options order;
};

/* The help ends with the table of formats. */
static const struct tool_about *with_formats(void)
{
	static char text[8192];
	size_t at = (size_t)snprintf(text, sizeof text, "Formats, detected from the first lines, compressed or not:\n"
							"  stream      a gtrace stream\n");

	for (size_t i = 0; i < gt_importers_n && at < sizeof text; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "  %-11s %s\n", gt_importers[i]->name,
				       gt_importers[i]->summary);
	about.notes = text;
	return &about;
}

/* The state of the progress line. */
struct watch {
	struct tool *tool;
	const struct gt_input *input; /* NULL: several files at once */
};

static void show_progress(void *context, uint64_t accesses)
{
	const struct watch *watch = context;

	tool_progress(watch->tool, accesses, watch->input ? gt_input_taken(watch->input) : 0, false);
}

/* A count of a launch stays with it: gcache reads what precedes the launch's rows. Those of an earlier gtrace-order are made anew. */
static void read_count(struct tool *tool, struct gt_ordering *order)
{
	const struct gt_count *count = gt_reader_count(tool->in);
	int kept = strcmp(count->stage, "order") == 0 ? 1 : gt_order_keep_count(order, count, &tool->error);

	if (kept < 0)
		tool_fail(tool);
	if (kept == 0)
		tool_pass(tool);
}

/* Reads a stream: rows are sorted again; everything else passes. */
static void read_stream(struct tool *tool, struct gt_input *input, struct gt_ordering *order)
{
	struct gt_trace *to = gt_order_trace(order);
	struct gt_error inner;
	enum gt_event event;
	const char *head;
	size_t bytes;
	int descriptor = gt_input_hand_over(input, &head, &bytes);

	gt_reader_close(tool->in);
	tool->in = gt_reader_open(descriptor, gt_input_name(input), head, bytes, &tool->error);
	if (!tool->in)
		tool_fail(tool);
	if (!tool->out)
		tool_write(tool);
	while ((event = gt_read(tool->in, &tool->error)) != GT_END) {
		if (event == GT_FAILED)
			tool_fail(tool);
		if (event == GT_KERNEL) {
			tool_must(tool, to->kernel(to->context, gt_reader_kernel(tool->in), &tool->error));
			to->whole(to->context);
		} else if (event == GT_ROWS) {
			const struct gt_rows *rows = gt_reader_rows(tool->in);
			int taken = gt_order_rows(order, rows, &inner);
			if (taken < 0 || (taken == 0 && gt_trace_rows(to, rows, &inner) != 0))
				tool_must(tool, gt_fail(&tool->error, "%s: record %" PRIu64 ": %s",
							gt_input_name(input), gt_reader_records(tool->in),
							inner.text));
		} else if (event == GT_COUNT) {
			read_count(tool, order);
		} else {
			tool_pass(tool);
		}
	}
}

/* Whether a line begins a table of a profiler, or of gstats --csv. */
static bool is_of_counters(const char *line)
{
	static const char *const marks[] = {"==PROF==", "\"Kernel Name\"", "kernel,metric,", "kernel,stage,counter,"};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strstr(line, marks[i]))
			return true;
	return false;
}

static void read_text(struct tool *tool, const struct settings *settings, struct gt_input *input,
		      const char *head, size_t bytes, struct gt_trace *to)
{
	const struct gt_importer *importer = settings->importer;

	if (!tool->out)
		tool_write(tool);
	if (settings->pattern) {
		tool_must(tool, gt_pattern_read(settings->pattern, input, to, &tool->error));
		return;
	}
	if (!importer)
		importer = gt_importer_detect(head, bytes);
	if (!importer && bytes == 0)
		tool_must(tool, gt_fail(&tool->error, "%s: empty: expected a trace", gt_input_name(input)));
	const char *found = importer ? NULL : gt_input_nature(head, bytes);
	if (found)
		tool_must(tool, gt_fail(&tool->error, "%s: expected a trace, found %s", gt_input_name(input), found));
	if (!importer || !importer->read) {
		char line[81] = "";
		gt_head_line(&head, &bytes, line, sizeof line);
		if (is_of_counters(line))
			gt_fail(&tool->error, "%s: expected a trace, found a table of counters (gstats --reference reads it)", gt_input_name(input));
		else
			gt_fail(&tool->error, "%s: %s; its first line is '%s' (gtrace-order --help lists the formats, --format-regex describes others)",
				gt_input_name(input), importer ? "this format is read from a folder" : "no known format", line);
		tool_fail(tool);
	}
	tool_must(tool, importer->read(input, to, &tool->error));
}

/* POSIX's format of archives (pax): the first member's name and fields, some of which end with a 0 byte, then a magic. */
static bool is_tar(const char *head, size_t bytes)
{
	static const char magic[] = "ustar";
	const size_t at = 257;

	return bytes >= at + strlen(magic) && memcmp(head + at, magic, strlen(magic)) == 0 && memchr(head, '\0', at);
}

static void read_operand(struct tool *tool, const struct settings *settings, const char *path, struct gt_ordering *order)
{
	struct gt_input *input = gt_input_open(path, &tool->error);
	const char *head;
	size_t bytes;

	if (!input)
		tool_fail(tool);
	tool->input_bytes = gt_input_size(input);
	settings->watch->input = input;
	tool_must(tool, gt_input_peek(input, &head, &bytes, &tool->error));
	if (is_tar(head, bytes)) {
		gt_fail(&tool->error, "%s: a tar archive: unpack it (tar -xf), and name what was in it", gt_input_name(input));
		tool_fail(tool);
	}
	if (!settings->importer && !settings->pattern && gt_is_stream(head, bytes))
		read_stream(tool, input, order);
	else
		read_text(tool, settings, input, head, bytes, gt_order_trace(order));
	settings->watch->input = NULL;
	tool_must(tool, gt_input_close(input, &tool->error));
}

/* Reads what a folder stands for; false if the path is to be read itself. */
static bool read_folder(struct tool *tool, const struct settings *settings, const char *path, struct gt_ordering *order)
{
	struct gt_import_folder folder;

	tool_must(tool, gt_import_folder_open(&folder, path, settings->importer, &tool->error));
	bool found = folder.n > 0;
	if (folder.is_one && !found) {
		gt_fail(&tool->error, "%s: Is a directory, without a kernelslist.g or files whose names are those of traces (.traceg, "
			"kernel_K_block_B.mem)", path);
		tool_fail(tool);
	}
	if (found && folder.lacks)
		tool_warn(tool, "%s: has no %s, so its %zu traces are read by their numbers, without what was copied before them", path,
			  folder.lacks, folder.n);
	for (size_t i = 0; i < folder.n; i++)
		read_operand(tool, settings, folder.paths[i], order);
	gt_import_folder_close(&folder);
	return found;
}

static void read_operands(struct tool *tool, const struct settings *settings, struct gt_ordering *order)
{
	static char dash[] = "-";
	char *standard_input[] = {dash};
	bool none = optind == tool->argc;
	char **paths = none ? standard_input : tool->argv + optind;
	size_t n = none ? 1 : (size_t)(tool->argc - optind);
	const struct gt_importer *owner = NULL;

	if (isatty(STDIN_FILENO) && strcmp(paths[0], "-") == 0) {
		gt_fail(&tool->error, "expected a trace, not a terminal (gtrace-order --help)");
		tool_fail(tool);
	}
	if (!none && !settings->pattern)
		owner = gt_importer_of_paths(settings->importer, paths, n);
	if (owner) {
		tool_write(tool);
		tool_must(tool, owner->read_paths(paths, n, gt_order_trace(order), &tool->error));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		gt_order_next_file(order);
		if (none || !read_folder(tool, settings, paths[i], order))
			read_operand(tool, settings, paths[i], order);
	}
}

static void write_ordered(struct tool *tool, struct gt_ordering *order)
{
	uint64_t number;
	const char *what, *remark;
	char text[512];
	int said;

	tool_must(tool, gt_order_write(order, tool->out, &tool->error));
	for (size_t i = 0; (what = gt_order_passed_over(order, i, &number, &remark)) != NULL; i++)
		tool_warn(tool, "passed over: %s, %" PRIu64 "%s%s%s", what, number, remark ? " (" : "", remark ? remark : "",
			  remark ? ")" : "");
	for (size_t i = 0; (said = gt_order_remark(order, i, text, sizeof text)) >= 0; i++)
		if (said > 0)
			tool_warn(tool, "%s", text);
	tool_progress(tool, gt_order_accesses(order), tool->input_bytes, true);
}

static void set_format(struct tool *tool, struct settings *settings, const char *name)
{
	char names[512] = "";
	size_t used = 0;

	settings->importer = gt_importer_find(name);
	for (size_t i = 0; i < gt_importers_n && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", gt_importers[i]->name);
	if (!settings->importer)
		tool_usage(tool, "--format '%s': expected one of %s", name, names);
}

static void set_pattern(struct tool *tool, struct settings *settings, const char *regex)
{
	gt_pattern_close(settings->pattern);
	settings->pattern = gt_pattern_open(regex, &tool->error);
	if (!settings->pattern)
		tool_usage_error(tool, "--format-regex");
}

static void set_kernel(struct tool *tool, struct settings *settings, const char *regex)
{
	gt_regex_close(settings->order.kernel);
	settings->order.kernel = gt_regex_open(regex, &tool->error);
	if (!settings->order.kernel)
		tool_usage_error(tool, "--kernel");
}

static void set_order(struct tool *tool, struct settings *settings, const char *by)
{
	settings->order.by_an = strcmp(by, "an") == 0;
	if (!settings->order.by_an && strcmp(by, "block") != 0)
		tool_usage(tool, "--by '%s': expected block or an", by);
}

static void set_memory(struct tool *tool, struct settings *settings, const char *size)
{
	if (gt_parse_size(size, GT_ORDER_MEMORY_MIN, UINT64_C(1) << 50, &settings->order.memory,
			  &tool->error) != 0)
		tool_usage_error(tool, "-S");
}

static void set_resource(struct tool *tool, struct settings *settings, bool registers, const char *text)
{
	uint64_t value;

	if (registers) {
		if (gt_parse_count(text, 0, GT_THREAD_REGISTERS_MAX, &value, &tool->error) != 0)
			tool_usage_error(tool, "--registers");
		settings->order.sets_registers = true;
		settings->order.registers = (uint32_t)value;
	} else {
		if (gt_parse_size(text, 0, GT_BLOCK_SHARED_MAX, &value, &tool->error) != 0)
			tool_usage_error(tool, "--shared");
		settings->order.sets_shared = true;
		settings->order.shared_bytes = (uint32_t)value;
	}
}

/* Names are in a list with commas between (stream/program.h). */
static void set_source(struct tool *tool, struct settings *settings, const char *file)
{
	if (!*file || strchr(file, ','))
		tool_usage(tool, "--source '%s': expected the name of a file, without a comma", file);
	settings->order.source = file;
}

static void parse_options(struct tool *tool, struct settings *settings)
{
	int option;

	while ((option = tool_option(tool, option_rows)) != -1) {
		switch (option) {
		case FORMAT: set_format(tool, settings, optarg); break;
		case FORMAT_REGEX: set_pattern(tool, settings, optarg); break;
		case KERNEL: set_kernel(tool, settings, optarg); break;
		case BY: set_order(tool, settings, optarg); break;
		case WORK: settings->order.work = true; break;
		case REGISTERS:
		case SHARED: set_resource(tool, settings, option == REGISTERS, optarg); break;
		case SOURCE: set_source(tool, settings, optarg); break;
		case 'S': set_memory(tool, settings, optarg); break;
		case 'T': settings->order.directory = tool_folder(tool, optarg); break;
		}
	}
	if (settings->importer && settings->pattern)
		tool_usage(tool, "--format and --format-regex exclude one another");
	if (!settings->order.directory || !*settings->order.directory)
		settings->order.directory = "/tmp";
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct watch watch = {.tool = &tool};
	struct settings settings = {
		.order = {.memory = UINT64_C(1) << 30, .directory = getenv("TMPDIR"), .progress = show_progress},
	};

	settings.watch = settings.order.context = &watch;
	tool_begin(&tool, "gtrace-order", with_formats(), argc, argv);
	tool.is_filter = true;
	parse_options(&tool, &settings);
	settings.order.jobs = tool.jobs;
	struct gt_ordering *order = gt_order_open(&settings.order, &tool.error);
	if (!order)
		tool_fail(&tool);
	read_operands(&tool, &settings, order);
	write_ordered(&tool, order);
	tool_end(&tool);
	gt_order_close(order);
	gt_pattern_close(settings.pattern);
	gt_regex_close(settings.order.kernel);
	return 0;
}
