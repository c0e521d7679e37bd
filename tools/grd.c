/* SPDX-License-Identifier: MIT */
/* grd: reuse distances, as counts in the stream or as a table instead of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/index/index.h"
#include "coalesce/stage.h"
#include "grd.h"
#include "reuse/tables.h"

struct grd {
	struct tool tool;
	struct gt_reuse_options options;
	const char *name; /* of the stage; NULL: the default */
	const char *function; /* of --index */
	bool flush, total, count;
	struct gt_reuse_text text; /* the table, if one was asked for */
	bool distances;

	struct gt_plan plan;
	struct gt_index indexes[GT_PLAN_MAX];
	struct gt_measures measures;
	struct gt_pair pair; /* of the first two, if the table is of a pair */
	struct gt_launch launch;
	struct gt_intake intake;
	uint64_t kernel; /* the last */
};

/* Writes the measurements of a kernel to the table or the stream. */
static void tell(struct grd *grd, const char *kernel)
{
	struct tool *tool = &grd->tool;

	tool_must(tool, gt_measures_finish(&grd->measures, &tool->error));
	if (grd->tool.out)
		tool_must(tool, gt_counts_give(&grd->measures, &grd->text, grd->name, grd->kernel, gt_writer_output(tool->out),
					       &tool->error));
	else if (grd->text.table)
		tool_must(tool, gt_reuse_text_add(&grd->text, kernel, &grd->measures, &tool->error));
}

static void end_kernel(void *context, uint64_t id)
{
	struct grd *grd = context;
	char kernel[24];

	tool_must(&grd->tool, gt_measures_end_kernel(&grd->measures, grd->flush, &grd->tool.error));
	if (grd->total)
		return;
	snprintf(kernel, sizeof kernel, "%" PRIu64, id);
	tell(grd, kernel);
	gt_measures_clear(&grd->measures);
}

static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	struct grd *grd = context;
	struct tool *tool = &grd->tool;
	static uint32_t device;

	tool_must(tool, gt_kernel_same_device(kernel, &device, &tool->error));
	tool_must(tool, gt_intake_begin(&grd->intake, gt_reader_gpu(tool->in), &tool->error));
	tool_must(tool, gt_launch_begin(&grd->launch, kernel->name, &tool->error));
	grd->kernel = kernel->id;
	return true;
}

static int take_requests(void *context, const struct gt_rows *requests, struct gt_error *error)
{
	return gt_measures_rows(context, requests, error);
}

static bool take_rows(void *context, struct gt_rows *rows)
{
	struct grd *grd = context;
	struct tool *tool = &grd->tool;
	struct gt_error reason;

	if ((rows->kind == grd->options.unit.granularity->kind ? gt_measures_rows(&grd->measures, rows, &reason)
							       : gt_intake_rows(&grd->intake, rows, &reason)) != 0)
		tool_must(tool, gt_fail(&tool->error, "record %" PRIu64 ": %s", gt_reader_records(tool->in), reason.text));
	return true;
}

/* Takes the arrays and source lines that the trace names. */
static bool take_count(void *context, const struct gt_count *count)
{
	struct grd *grd = context;

	tool_must(&grd->tool, gt_launch_count(&grd->launch, count, &grd->tool.error));
	return true;
}

static int print_distance(void *context, const struct gt_rows *rows, size_t i, uint64_t unit,
			  uint64_t distance, struct gt_error *error)
{
	const struct grd *grd = context;

	gt_reuse_distance_write(stdout, grd->kernel, rows, i, unit << grd->options.unit.shift, distance);
	return ferror(stdout) ? gt_fail_errno(error, "standard output") : 0;
}

static void set_output(struct grd *grd, const char *output, const char *argument)
{
	struct tool *tool = &grd->tool;

	if (grd->text.table || grd->distances)
		tool_usage(tool, "--%s: expected a single table", output);
	grd->distances = strcmp(output, "distances") == 0;
	if (!grd->distances && gt_reuse_text_choose(&grd->text, output, argument, &tool->error) != 0)
		tool_usage(tool, "--%s: %s", output, tool->error.text);
}

static uint32_t set_of(const void *index, uint64_t line)
{
	return gt_index_set(index, line);
}

/* Gives the sets of a measure their function. */
static void open_index(struct grd *grd, struct gt_reuse_options *options, struct gt_index *index)
{
	const struct gt_index_function *function;
	struct tool *tool = &grd->tool;
	struct gt_index_argument argument;

	if (options->sets == 1)
		return;
	if (gt_index_parse(grd->function, &function, &argument, &tool->error) != 0 ||
	    gt_index_open(index, function, &argument, (uint32_t)options->sets, UINT64_C(1) << options->unit.shift,
			  &tool->error) != 0)
		tool_usage_error(tool, "--index");
	options->set_of = set_of;
	options->set_context = index;
}

static void take_option(struct grd *grd, int option)
{
	struct tool *tool = &grd->tool;
	const char *name = tool->option + strlen("--");

	switch (option) {
	case TOTAL:
		grd->total = true;
		break;
	case COUNT:
		grd->count = true;
		break;
	case FLUSH:
		if (strcmp(optarg, "kernel") != 0 && strcmp(optarg, "never") != 0)
			tool_usage(tool, "--flush '%s': expected kernel or never", optarg);
		grd->flush = strcmp(optarg, "kernel") == 0;
		break;
	case NAME:
		if (optarg[0] == '\0' || strlen(optarg) >= GT_COUNT_NAME)
			tool_usage(tool, "--name: expected 1 to %d bytes", GT_COUNT_NAME - 1);
		grd->name = optarg;
		break;
	case INDEX:
		grd->function = optarg;
		break;
	case PRINTS:
	case DISTANCES:
		set_output(grd, name, optarg);
		break;
	default:
		if (gt_reuse_set(&grd->options, name, optarg, &tool->error) != 0)
			tool_usage_error(tool, tool->option);
	}
}

static void check_options(struct grd *grd)
{
	struct tool *tool = &grd->tool;

	if (grd->total && (!grd->text.table || grd->count))
		tool_usage(tool, "--total: expected a table, and neither --distances nor --count");
	if (grd->count && !grd->text.table)
		tool_usage(tool, "--count: expected a table other than --distances");
	if (grd->count && grd->name && strlen(grd->name) >= GT_COUNT_NAME - GT_COUNTS_SUFFIX)
		tool_usage(tool, "--name: expected at most %d bytes with --count", GT_COUNT_NAME - GT_COUNTS_SUFFIX - 1);
	if (!grd->name)
		grd->name = grd->text.table && grd->text.table->figures ? grd->text.table->name : "reuse";
}

/* A cache of one set has no use for an index function. */
static bool has_sets(const struct gt_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->measures[i].sets > 1)
			return true;
	return false;
}

static void take_options(struct grd *grd, int argc, char **argv)
{
	struct tool *tool = &grd->tool;

	tool_begin(tool, "grd", &about, argc, argv);
	for (int option; (option = tool_option(tool, option_rows)) != -1;)
		take_option(grd, option);
	check_options(grd);
	grd->options.jobs = tool->jobs;
	if (gt_plan_make(&grd->plan, &grd->options, &grd->text, &grd->pair, &tool->error) != 0)
		tool_usage(tool, "%s", tool->error.text);
	if (grd->function && !has_sets(&grd->plan))
		tool_usage(tool, "--index: expected more than one set too: --per set:N, --per sm,set:N or --curve-sets");
	for (size_t i = 0; i < grd->plan.n && tool->jobs > 1; i++)
		if (grd->distances || !gt_reuse_may_gather(&grd->plan.measures[i]))
			tool_usage(tool, "--jobs: --by, --sample, --sample-lines, --classes, --sharing and --distances run in one thread");
	for (size_t i = 0; i < grd->plan.n && grd->function; i++)
		open_index(grd, &grd->plan.measures[i], &grd->indexes[i]);
}

static void open_all(struct grd *grd)
{
	struct tool *tool = &grd->tool;

	tool_read(tool);
	tool_must(tool, gt_launch_open(&grd->launch, &tool->error));
	if (grd->distances || (grd->text.table && !grd->count))
		tool_check_order(tool);
	if (grd->distances) {
		grd->plan.measures[0].watch = print_distance;
		grd->plan.measures[0].watch_context = grd;
		fputs(GT_REUSE_DISTANCE_COLUMNS, stdout);
	} else if (grd->text.table && !grd->count) {
		tool_must(tool, gt_reuse_text_begin(&grd->text, grd->options.split, &tool->error));
	} else {
		tool_write(tool);
	}
	tool_must(tool, gt_measures_open(&grd->measures, &grd->plan, &grd->pair, &tool->error));
	tool_must(tool, gt_intake_open(&grd->intake, take_requests, &grd->measures, &tool->error));
}

/* All references are in one class if the stream names nothing. */
static void warn_nameless(const struct grd *grd)
{
	const char *split = grd->options.split ? grd->options.split->name : "";

	if (strcmp(split, "line") == 0 && grd->launch.places.n == 1)
		tool_warn(&grd->tool, "--by line: the stream names no source lines: compile with nvcc -lineinfo");
	if (strcmp(split, "array") == 0 && grd->launch.arrays.names.n == 1)
		tool_warn(&grd->tool, "--by array: the stream names no arrays: gtrace-record and gtrace-ptx do");
}

static void close_all(struct grd *grd)
{
	gt_intake_close(&grd->intake);
	gt_measures_close(&grd->measures);
	for (size_t i = 0; i < grd->plan.n; i++)
		gt_index_close(&grd->indexes[i]);
	gt_pair_close(&grd->pair);
	gt_launch_close(&grd->launch);
	gt_reuse_text_close(&grd->text);
	tool_end(&grd->tool);
}

int main(int argc, char **argv)
{
	static struct grd grd = {.flush = true};
	const struct tool_filter filter = {
		.kernel = begin_kernel, .rows = take_rows, .count = take_count, .end = end_kernel, .context = &grd};

	grd.options = gt_reuse_usual;
	grd.options.launch = &grd.launch;
	take_options(&grd, argc, argv);
	open_all(&grd);
	tool_run(&grd.tool, &filter);
	if (grd.text.memory.file) { /* the whole stream was read and its checksum is right */
		if (grd.total)
			tell(&grd, "total");
		tool_must(&grd.tool, gt_reuse_text_end(&grd.text, &grd.tool.error));
		fwrite(grd.text.bytes, 1, grd.text.n, stdout);
	}
	warn_nameless(&grd);
	close_all(&grd);
	return 0;
}
