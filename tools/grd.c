/* SPDX-License-Identifier: MIT */
/* grd: reuse distances, beside the stream or in its place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/index.h"
#include "coalesce/coalesce.h"
#include "reuse/options.h"
#include "reuse/tables.h"
#include "tool.h"

static const char help[] =
	"usage: grd [--granularity line[:SIZE]|sector|address[:SIZE]] [--per sm|global|[sm,]set:N]\n"
	"           [--index FUNCTION] [--op loads|stores|atomics|all] [--by pc|op]\n"
	"           [--flush kernel|never] [--bound N] [--total]\n"
	"           [--name NAME | --profile | --csdd | --mru WAYS | --lines N,... | --distances]\n"
	"           [STREAM]\n"
	"Measures reuse distances: the distinct lines touched since the last touch of the same one.\n"
	"Passes the stream on, unchanged, and adds what it counted; or prints tab-separated text:\n"
	"\n"
	"  --profile        how often each distance occurred\n"
	"  --csdd           how many references have a smaller distance: hits by size of an LRU cache\n"
	"  --mru WAYS       hits by position in the LRU stack, and behind them all misses\n"
	"  --lines N,...    hits, compulsory and capacity misses of LRU caches of N lines\n"
	"  --distances      each reference and its distance\n"
	"  --total          one profile of all kernels, not one of each\n"
	"\n"
	"  --granularity G  line (default; 128 bytes or SIZE), sector (32 bytes), or address: that of\n"
	"                   each lane, in units of SIZE bytes (default 1)\n"
	"  --line SIZE      the same as --granularity line:SIZE\n"
	"  --per WHAT       a stack for each sm, for each of N sets (set:N), for each set of each SM\n"
	"                   (sm,set:N), or one (global); default: sm where rows are scheduled\n"
	"  --index FUNCTION which set a line is in, by a function of gcache (mod)\n"
	"  --op WHICH       only these are references: a list of loads, stores, atomics, all (default)\n"
	"  --by WHAT        a profile for each pc or op\n"
	"  --flush WHEN     forget all lines at the end of a kernel (default) or never\n"
	"  --bound N        count distances below N one by one, larger ones in bins that double (65536)\n"
	"  --name NAME      the stage's name in the counts (reuse)\n"
	"  -v, --verbose    progress on standard error\n"
	"  --help, --version\n";

struct grd {
	struct tool tool;
	struct gt_reuse_options options;
	const char *name; /* of the stage */
	const char *function; /* of --index */
	struct gt_index index;
	bool flush, total;
	struct gt_reuse_text text; /* the table, if one was asked for */
	bool distances;

	struct gt_reuse reuse;
	struct gt_coalescer coalescer;
	struct gt_rows *requests; /* of accesses, on their way to the stacks */
	bool in_kernel;
	uint64_t kernel;
};

static void end_kernel(struct grd *grd)
{
	struct tool *tool = &grd->tool;
	struct gt_count count;
	char kernel[24];

	if (grd->flush)
		gt_reuse_flush(&grd->reuse);
	if (!grd->in_kernel || grd->total)
		return;
	gt_profile_sort(&grd->reuse.profile);
	if (grd->text.table) {
		snprintf(kernel, sizeof kernel, "%" PRIu64, grd->kernel);
		tool_must(tool, gt_reuse_text_add(&grd->text, kernel, &grd->reuse.profile, &tool->error));
	} else if (tool->out) {
		gt_count_begin(&count, grd->name, grd->kernel);
		tool_must(tool, gt_reuse_count(&grd->reuse, &count, &tool->error));
		tool_must(tool, gt_write_count(tool->out, &count, &tool->error));
		gt_count_clear(&count);
	}
	gt_profile_clear(&grd->reuse.profile);
}

static void begin_kernel(struct grd *grd)
{
	struct tool *tool = &grd->tool;
	const char *rule = gt_gpu_get(gt_reader_gpu(tool->in), "coalesce");

	tool_must(tool, gt_coalescer_open(&grd->coalescer, rule, &tool->error));
	grd->kernel = gt_reader_kernel(tool->in)->id;
	grd->in_kernel = true;
}

static int take_requests(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct grd *grd = context;
	int failed = gt_reuse_rows(&grd->reuse, rows, error);

	rows->n = rows->n_lanes = 0;
	return failed;
}

static void take_rows(struct grd *grd, const struct gt_rows *rows)
{
	struct gt_sink sink = {.rows = grd->requests, .flush = take_requests, .context = grd};
	struct tool *tool = &grd->tool;
	struct gt_error reason;
	int failed;

	if (rows->kind == grd->options.unit.granularity->kind || rows->kind == GT_REQUESTS)
		failed = gt_reuse_rows(&grd->reuse, rows, &reason);
	else
		failed = gt_coalesce(&grd->coalescer, rows, &sink, &reason) != 0 ||
			 take_requests(grd, grd->requests, &reason) != 0;
	if (failed)
		tool_must(tool, gt_fail(&tool->error, "record %" PRIu64 ": %s", gt_reader_records(tool->in), reason.text));
}

static int print_distance(void *context, const struct gt_rows *rows, size_t i, uint64_t unit,
			  uint64_t distance, struct gt_error *error)
{
	const struct grd *grd = context;

	gt_reuse_distance_write(stdout, grd->kernel, rows, i, unit << grd->options.unit.shift, distance);
	return ferror(stdout) ? gt_fail_errno(error, "standard output") : 0;
}

static void set_output(struct grd *grd, const char *output, const char *lines)
{
	struct tool *tool = &grd->tool;

	if (grd->text.table || grd->distances)
		tool_usage(tool, "--%s: expected one of --profile, --csdd, --mru, --lines and --distances", output);
	grd->distances = strcmp(output, "distances") == 0;
	if (!grd->distances && gt_reuse_text_choose(&grd->text, output, lines, &tool->error) != 0)
		tool_usage(tool, "--%s: %s", output, tool->error.text);
}

/* In the order of the table. */
enum { PROFILE = 1, CSDD, MRU, LINES, DISTANCES, TOTAL, FLUSH, NAME, INDEX, MEASURE };
static const struct option long_options[] = {
	{"profile", no_argument, NULL, PROFILE},
	{"csdd", no_argument, NULL, CSDD},
	{"mru", required_argument, NULL, MRU},
	{"lines", required_argument, NULL, LINES},
	{"distances", no_argument, NULL, DISTANCES},
	{"total", no_argument, NULL, TOTAL},
	{"flush", required_argument, NULL, FLUSH},
	{"name", required_argument, NULL, NAME},
	{"index", required_argument, NULL, INDEX},
	{"granularity", required_argument, NULL, MEASURE},
	{"line", required_argument, NULL, MEASURE + 1},
	{"per", required_argument, NULL, MEASURE + 2},
	{"op", required_argument, NULL, MEASURE + 3},
	{"by", required_argument, NULL, MEASURE + 4},
	{"bound", required_argument, NULL, MEASURE + 5},
	TOOL_OPTIONS,
};

static uint32_t set_of(const void *index, uint64_t line)
{
	return gt_index_set(index, line);
}

static void open_index(struct grd *grd)
{
	struct gt_reuse_options *options = &grd->options;
	const struct gt_index_function *function;
	struct tool *tool = &grd->tool;
	unsigned argument;

	if (options->sets == 1)
		tool_usage(tool, "--index: expected --per set:N or --per sm,set:N beside it");
	if (gt_index_parse(grd->function, &function, &argument, &tool->error) != 0 ||
	    gt_index_open(&grd->index, function, argument, (uint32_t)options->sets,
			  UINT64_C(1) << options->unit.shift, &tool->error) != 0)
		tool_usage_error(tool, "--index");
	options->set_of = set_of;
	options->set_context = &grd->index;
}

static void take_options(struct grd *grd, int argc, char **argv)
{
	struct tool *tool = &grd->tool;

	tool_begin(tool, "grd", help, argc, argv);
	for (int option; (option = tool_option(tool, "v", long_options)) != -1;) {
		switch (option) {
		case PROFILE:
		case CSDD:
		case MRU:
		case LINES:
		case DISTANCES:
			set_output(grd, long_options[option - PROFILE].name, optarg);
			break;
		case TOTAL:
			grd->total = true;
			break;
		case FLUSH:
			if (strcmp(optarg, "kernel") != 0 && strcmp(optarg, "never") != 0)
				tool_usage(tool, "--flush: '%s': expected kernel or never", optarg);
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
		default:
			if (gt_reuse_set(&grd->options, long_options[option - PROFILE].name, optarg, &tool->error) != 0)
				tool_usage(tool, "--%s: %s", long_options[option - PROFILE].name, tool->error.text);
		}
	}
	if (grd->total && !grd->text.table)
		tool_usage(tool, "--total: expected --profile, --csdd, --mru or --lines beside it");
	if (grd->function)
		open_index(grd);
	grd->options.bound = gt_reuse_text_bound(&grd->text, grd->options.bound);
}

static void open_all(struct grd *grd)
{
	struct tool *tool = &grd->tool;

	tool_read(tool);
	if (grd->distances) {
		grd->options.watch = print_distance;
		grd->options.watch_context = grd;
		fputs(GT_REUSE_DISTANCE_COLUMNS, stdout);
	} else if (grd->text.table) {
		tool_must(tool, gt_reuse_text_begin(&grd->text, grd->options.split, &tool->error));
	} else {
		tool_write(tool);
	}
	tool_must(tool, gt_reuse_open(&grd->reuse, &grd->options, &tool->error));
	grd->requests = gt_rows_new(GT_ROWS_BATCH, &tool->error);
	if (!grd->requests)
		tool_fail(tool);
}

/* The table, now that all of the stream was read and its checksum is right. */
static void print_table(struct grd *grd)
{
	struct tool *tool = &grd->tool;

	gt_profile_sort(&grd->reuse.profile);
	if (grd->total)
		tool_must(tool, gt_reuse_text_add(&grd->text, "total", &grd->reuse.profile, &tool->error));
	tool_must(tool, gt_reuse_text_end(&grd->text, &tool->error));
	fwrite(grd->text.bytes, 1, grd->text.n, stdout);
}

int main(int argc, char **argv)
{
	static struct grd grd = {.name = "reuse", .flush = true};
	enum gt_event event;

	grd.options = gt_reuse_usual;
	take_options(&grd, argc, argv);
	open_all(&grd);
	while (tool_next(&grd.tool, &event)) {
		if (event == GT_KERNEL) {
			end_kernel(&grd);
			begin_kernel(&grd);
		} else if (event == GT_ROWS) {
			take_rows(&grd, gt_reader_rows(grd.tool.in));
		}
		if (grd.tool.out)
			tool_pass(&grd.tool);
	}
	end_kernel(&grd);
	if (grd.text.table)
		print_table(&grd);
	gt_rows_free(grd.requests);
	gt_reuse_close(&grd.reuse);
	gt_index_close(&grd.index);
	gt_reuse_text_close(&grd.text);
	tool_end(&grd.tool);
	return 0;
}
