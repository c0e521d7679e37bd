/* SPDX-License-Identifier: MIT */
/* gpchase: P-chase traces, the latencies of their accesses in a chain of levels, and the inference of a cache from
 * latencies. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "dissect/chase.h"
#include "dissect/infer.h"
#include "stream/op.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gpchase trace -N BYTES[..BYTES[:STEP]] [-s BYTES] [-k ROUNDS] [OPTION...] > stream\n"
		 "       gpchase latency [stream] > series\n"
		 "       gpchase infer [OPTION...] [series...] > description\n"
		 "\n"
		 "trace writes a P-chase: one thread, in which each load gives the address of the next.\n"
		 "latency reads a P-chase with latencies added by gcache, and prints N, offset and latency.\n"
		 "infer reads series of latencies of a GPU, or a P-chase with modelled latencies; prints the cache that they "
		 "reveal, how sure it is, which run would determine the rest, and which accesses contradict it.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gpchase trace -N 16K..20K:1K -s 128 | gcache --l1 --size 16K | gstats --csv",
};

enum { ORDER = 1, BASE, PAGE, TEXTURE, LEVEL, LINE };
static const struct tool_row option_rows[] = {
	TOOL_HEADING("trace:"),
	{"-N RANGE", 'N', "bytes of the array; a run for each size"},
	{"-s BYTES", 's', "stride (default 128)"},
	{"-k ROUNDS", 'k', "passes over the array (default 3)"},
	{"--order NAME", ORDER, "ring (default), random, retouch (tells LRU from FIFO) or patterns (all latency patterns at once)"},
	{"--page BYTES", PAGE, "of the order patterns (default 2M)"},
	{"--texture", TEXTURE, "loads of texture memory"},
	TOOL_HEADING("infer:"),
	{"--level NAME", LEVEL, "level in the printed keys (default l1)"},
	{"--line BYTES", LINE, "the line size, if it is known"},
	TOOL_HEADING("trace and infer:"),
	{"--base ADDRESS", BASE, "address of the array (trace: default 0x700000000000; infer: if it is not aligned to a power of two above N)"},
	TOOL_GENERAL,
	TOOL_END,
};

static struct tool tool;

/* The next option, which must be one of those of the command: values, and a 0. */
static int next_option(const int *values)
{
	int value = tool_option(&tool, option_rows);

	if (value == -1)
		return -1;
	while (*values && *values != value)
		values++;
	if (!*values)
		tool_usage(&tool, "%s: gpchase %s does not have this option", tool.option, tool.argv[1]);
	return value;
}

/* ---- trace ---- */

struct trace {
	struct gt_chase chase;
	uint64_t first, last, step; /* of N; step 0: the stride */
};

static uint64_t size_of(const char *option, const char *text, uint64_t least)
{
	uint64_t size;

	if (gt_parse_size(text, least, UINT64_C(1) << 46, &size, &tool.error) != 0)
		tool_usage_error(&tool, option);
	return size;
}

/* "16K", "16K..24K" or "16K..24K:256". */
static void set_range(struct trace *trace, const char *text)
{
	char copy[128];

	if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
		tool_usage(&tool, "-N: expected BYTES, BYTES..BYTES or BYTES..BYTES:STEP");
	char *dots = strstr(copy, ".."), *colon = dots ? strchr(dots, ':') : NULL;
	if (colon) {
		*colon = '\0';
		trace->step = size_of("-N", colon + 1, 1);
	}
	if (dots)
		*dots = '\0';
	trace->first = size_of("-N", copy, 1);
	trace->last = dots ? size_of("-N", dots + 2, trace->first) : trace->first;
}

static void set_address(const char *text, uint64_t *address)
{
	if (gt_parse_count(text, 0, UINT64_MAX, address, &tool.error) != 0)
		tool_usage_error(&tool, "--base");
}

static void trace_options(struct trace *trace)
{
	static const int values[] = {'N', 's', 'k', ORDER, BASE, PAGE, TEXTURE, 0};

	for (int option; (option = next_option(values)) != -1;) {
		switch (option) {
		case 'N': set_range(trace, optarg); break;
		case 's': trace->chase.stride = size_of("-s", optarg, GT_CHASE_ELEMENT); break;
		case 'k':
			if (gt_parse_count(optarg, 1, UINT32_MAX, &trace->chase.rounds, &tool.error) != 0)
				tool_usage_error(&tool, "-k");
			break;
		case ORDER:
			trace->chase.order = gt_chase_order_find(optarg, &tool.error);
			if (!trace->chase.order)
				tool_usage_error(&tool, "--order");
			break;
		case BASE: set_address(optarg, &trace->chase.base); break;
		case PAGE: trace->chase.page = size_of("--page", optarg, 4096); break;
		case TEXTURE: trace->chase.op = gt_op(GT_LOAD, GT_TEXTURE, GT_OPERATOR_NONE); break;
		}
	}
	if (optind < tool.argc || trace->first == 0)
		tool_usage(&tool, "trace: expected -N BYTES[..BYTES[:STEP]] and no file");
	trace->step = trace->step ? trace->step : trace->chase.stride;
	if ((trace->last - trace->first) / trace->step >= UINT32_MAX)
		tool_usage(&tool, "-N: expected fewer than 2^32 runs");
}

static void do_trace(void)
{
	struct trace trace = {.chase = {.order = &gt_chase_orders[0], .stride = 128, .rounds = 3,
					.base = UINT64_C(0x700000000000), .page = UINT64_C(2) << 20}};
	struct gt_kernel kernel;
	uint64_t id = 0;

	trace_options(&trace);
	for (int writing = 0; writing < 2; writing++) { /* first check all of them */
		for (trace.chase.bytes = trace.first; trace.chase.bytes <= trace.last; trace.chase.bytes += trace.step) {
			if (!writing && gt_chase_check(&trace.chase, &tool.error) != 0)
				tool_usage_error(&tool, "trace");
			if (!writing)
				continue;
			gt_chase_kernel(&trace.chase, ++id, &kernel);
			tool_must(&tool, gt_write_kernel(tool.out, &kernel, &tool.error));
			tool_must(&tool, gt_chase_write(&trace.chase, gt_writer_sink(tool.out), &tool.error));
		}
		if (!writing)
			tool_write(&tool);
	}
	tool_end(&tool);
}

/* ---- latency ---- */

struct printed {
	struct gt_memory_file memory;
	uint64_t bytes; /* N of the last access */
};

/* A run with the N of the previous one begins with another line of column names, so that it is not read as its
 * continuation. */
static int print_access(void *context, const struct gt_observation *access, struct gt_error *error)
{
	struct printed *printed = context;
	FILE *to = printed->memory.file;

	(void)error;
	if (printed->bytes == 0 || (access->number == 0 && printed->bytes == access->bytes))
		fprintf(to, "N\toffset\tlatency\n");
	printed->bytes = access->bytes;
	fprintf(to, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\n", access->bytes, access->offset, access->latency);
	return 0;
}

static void do_latency(void)
{
	static const int values[] = {0};
	struct printed printed = {0};
	size_t bytes;

	while (next_option(values) != -1)
		;
	if (optind + 1 < tool.argc)
		tool_usage(&tool, "latency: expected one stream");
	struct gt_input *input = gt_input_open(optind < tool.argc ? tool.argv[optind] : "-", &tool.error);
	tool_must(&tool, input ? 0 : -1);
	tool_must(&tool, gt_memory_file_open(&printed.memory, &tool.error));
	tool_must(&tool, gt_observed_read(input, print_access, &printed, &tool.error));
	tool_must(&tool, gt_input_close(input, &tool.error));
	/* Text has no end record: none is printed before the stream is known to be whole. */
	char *text = gt_memory_file_take(&printed.memory, &bytes, "the latencies", &tool.error);
	tool_must(&tool, text ? 0 : -1);
	fwrite(text, 1, bytes, stdout);
	free(text);
	tool_end(&tool);
}

/* ---- infer ---- */

static int add_access(void *context, const struct gt_observation *access, struct gt_error *error)
{
	struct gt_chase_series *series = context;

	series->separate |= access->number == 0;
	return gt_series_add(series, access->bytes, access->offset, access->latency, error);
}

/* Reads a series as text, or a chase that has passed a chain of levels. */
static void read_series(struct gt_chase_series *series, const char *path)
{
	struct gt_input *input = gt_input_open(path, &tool.error);
	int stream = input ? gt_observed_is_stream(input, &tool.error) : -1;

	if (stream == 1)
		stream = gt_observed_read(input, add_access, series, &tool.error);
	else if (stream == 0)
		stream = gt_series_read(series, input, &tool.error);
	tool_must(&tool, stream);
	tool_must(&tool, gt_input_close(input, &tool.error));
}

static void do_infer(void)
{
	static const int values[] = {LEVEL, BASE, LINE, 0};
	static struct gt_inference inference;
	struct gt_chase_series series = {0};
	const char *level = "l1";
	uint64_t base = 0, line = 0;
	char key[64];

	for (int option; (option = next_option(values)) != -1;) {
		switch (option) {
		case LEVEL: level = optarg; break;
		case BASE: set_address(optarg, &base); break;
		case LINE: line = size_of("--line", optarg, 1); break;
		}
	}
	if ((size_t)snprintf(key, sizeof key, "%s.size", level) >= sizeof key || !gt_gpu_known(key))
		tool_usage(&tool, "--level '%s': expected l1, l2, texture, readonly, l1tlb or l2tlb", level);
	do
		read_series(&series, optind < tool.argc ? tool.argv[optind] : "-");
	while (++optind < tool.argc);
	tool_must(&tool, gt_infer(&series, base, line, &inference, &tool.error));
	gt_inference_print(&inference, &series, level, stdout);
	gt_inference_clear(&inference);
	gt_series_clear(&series);
	tool_end(&tool);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} commands[] = {{"trace", do_trace}, {"latency", do_latency}, {"infer", do_infer}};
	const char *command = argc > 1 ? argv[1] : "";

	tool_begin(&tool, "gpchase", &about, argc, argv);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(command, commands[i].name) == 0) {
			optind = 2;
			commands[i].run();
			return 0;
		}
	while (tool_option(&tool, option_rows) != -1)
		;
	tool_usage(&tool, "%s%s%sexpected trace, latency or infer before all options", argc > 1 ? "'" : "", argc > 1 ? argv[1] : "",
		   argc > 1 ? "': " : "");
}
