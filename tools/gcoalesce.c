/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "coalesce/degrees.h"
#include "coalesce/stage.h"
#include "stream/history.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gcoalesce [-v] [-j N] [--rule NAME | --gpu NAME|FILE] [--banks BANKS] [--by none|site]\n"
		 "                 [stream] > stream\n"
		 "       gcoalesce [-v] --degree [--graph] [stream]\n"
		 "Turns warp accesses into requests for lines and sectors, and counts the passes of shared memory.\n",
	.verbose = TOOL_PROGRESS,
	.notes = "NAME of --rule:\n"
		 "  default  Volta and later: a request for each distinct line of the warp\n"
		 "  pascal   the same by groups of 8 lanes (8-byte data: 4, 16-byte data: 2)\n"
		 "  fermi    a request for each distinct line, always the whole line\n"
		 "BANKS: 16x4 (Tesla), 32x4 (the default), 32x8:4 and 32x8 (Kepler's 4- and 8-byte modes)\n",
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce --rule fermi | gstats",
};

enum { RULE = 1, BANKS, GPU, BY, DEGREE, GRAPH };
static const struct tool_row option_rows[] = {
	{"--rule NAME", RULE, "how lanes are combined (default: from the stream's GPU description)"},
	{"--gpu NAME|FILE", GPU, "rule and banks of that GPU (gtrace-gpu(5))"},
	{"--banks BANKS", BANKS, "shared memory: banks x bytes per pass of a bank; if fewer consecutive bytes lie in one bank, a colon "
				 "and their number"},
	{"--by none|site", BY, "count by instruction and array, too, and the bytes that each kernel touches [none]"},
	{"--degree", DEGREE, "print the degree of coalescing of each instruction [003], and no stream"},
	{"--graph", GRAPH, "the same, with the lanes at each 4 bytes of the coalescing range"},
	TOOL_JOBS,
	TOOL_END,
};

struct gcoalesce {
	struct tool tool;
	const char *rule, *banks; /* NULL: from the GPU */
	bool chosen;		  /* the GPU is from --gpu, else from the stream */
	struct gt_gpu gpu;
	struct gt_coalesce_stage stage;

	bool by_site; /* count by site */
	bool degree, graph; /* print a table of degrees, with graphs */
	struct gt_degrees degrees;
};

static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	struct gcoalesce *g = context;
	struct tool *tool = &g->tool;
	const struct gt_gpu *gpu = g->chosen ? &g->gpu : gt_reader_gpu(tool->in);

	(void)kernel;
	tool_must(tool, gt_coalesce_stage_begin(&g->stage, gpu, g->rule, g->banks, &tool->error));
	return true;
}

static void end_kernel(void *context, uint64_t kernel)
{
	struct gcoalesce *g = context;
	struct tool *tool = &g->tool;

	tool_must(tool, gt_coalesce_stage_end(&g->stage, kernel, gt_writer_output(tool->out), &tool->error));
}

static bool take_rows(void *context, struct gt_rows *rows)
{
	struct gcoalesce *g = context;
	struct tool *tool = &g->tool;

	tool_must(tool, gt_coalesce_stage_rows(&g->stage, rows, gt_writer_sink(tool->out), &tool->error));
	return rows->kind == GT_REQUESTS;
}

static bool relays(void *context, enum gt_rows_kind kind)
{
	(void)context;
	return kind == GT_ACCESSES;
}

static bool take_count(void *context, const struct gt_count *count)
{
	struct gcoalesce *g = context;

	tool_must(&g->tool, gt_coalesce_stage_note(&g->stage, count, &g->tool.error));
	return true;
}

static bool begin_degrees(void *context, const struct gt_kernel *kernel)
{
	struct gcoalesce *g = context;

	tool_must(&g->tool, gt_degrees_begin(&g->degrees, kernel->name, &g->tool.error));
	return true;
}

static bool add_degrees(void *context, struct gt_rows *rows)
{
	struct gcoalesce *g = context;
	struct gt_error reason;

	if (gt_degrees_add(&g->degrees, rows, &reason) != 0)
		tool_must(&g->tool, gt_fail(&g->tool.error, "record %" PRIu64 ": %s", gt_reader_records(g->tool.in), reason.text));
	return true;
}

/* Nothing is printed before the whole stream is read and verified. */
static void print_degrees(struct gcoalesce *g)
{
	const struct tool_filter filter = {.kernel = begin_degrees, .rows = add_degrees, .context = g};

	tool_must(&g->tool, gt_degrees_open(&g->degrees, &g->tool.error));
	tool_run(&g->tool, &filter);
	gt_degrees_write(&g->degrees, g->graph, stdout);
	gt_degrees_close(&g->degrees);
}

static void take_by(struct gcoalesce *g)
{
	g->by_site = strcmp(optarg, "site") == 0;
	if (!g->by_site && strcmp(optarg, "none") != 0)
		tool_usage(&g->tool, "--by: '%.64s': expected none or site", optarg);
}

static void take_options(struct gcoalesce *g, int argc, char **argv)
{
	const char *gpu = NULL;
	struct gt_banks banks;

	tool_begin(&g->tool, "gcoalesce", &about, argc, argv);
	g->tool.is_filter = true;
	for (int option; (option = tool_option(&g->tool, option_rows)) != -1;) {
		if (option == RULE)
			g->rule = optarg;
		else if (option == BANKS)
			g->banks = optarg;
		else if (option == GPU)
			gpu = optarg;
		else if (option == BY)
			take_by(g);
		else
			*(option == DEGREE ? &g->degree : &g->graph) = true;
		g->tool.is_filter = !g->degree;
	}
	if (g->graph && !g->degree)
		tool_usage(&g->tool, "--graph: expected --degree too");
	if (g->degree && g->tool.jobs > 1)
		tool_usage(&g->tool, "--jobs: --degree runs in one thread");
	if (g->degree && (g->rule || g->banks || gpu))
		tool_usage(&g->tool, "--degree: expected no --rule, --gpu or --banks: the degree does not depend on the GPU");
	if (g->degree && g->by_site)
		tool_usage(&g->tool, "--by: --degree counts by instruction, and writes no counters");
	if (g->rule && gpu)
		tool_usage(&g->tool, "--gpu: expected --rule or --gpu, not both");
	if (g->rule && gt_coalescer_open(&g->stage.coalescer, g->rule, &g->tool.error) != 0)
		tool_usage_error(&g->tool, "--rule");
	if (g->banks && gt_banks_parse(g->banks, &banks, &g->tool.error) != 0)
		tool_usage_error(&g->tool, "--banks");
	g->chosen = gpu != NULL;
	if (gpu && (gt_gpu_load(&g->gpu, gpu, &g->tool.error) != 0 ||
		    gt_coalescer_resolve(&g->stage.coalescer, &g->gpu, NULL, g->banks, &g->tool.error) != 0))
		tool_usage_error(&g->tool, "--gpu");
}

int main(int argc, char **argv)
{
	static struct gcoalesce g;
	const struct gt_relay_stage threads = gt_coalesce_stage_relay(&g.stage);
	struct tool_filter filter = {.kernel = begin_kernel, .rows = take_rows, .count = take_count, .end = end_kernel,
				     .relay = &threads, .relays = relays, .context = &g};

	take_options(&g, argc, argv);
	if (g.by_site)
		filter.relay = NULL; /* sites are numbered in the order of the rows */
	tool_read(&g.tool);
	if (g.degree) {
		print_degrees(&g);
	} else {
		tool_must(&g.tool, gt_coalesce_stage_open(&g.stage, g.by_site, &g.tool.error));
		g.stage.turns = !gt_history_find(gt_reader_history(g.tool.in), "gschedule", NULL);
		tool_write(&g.tool);
		tool_run(&g.tool, &filter);
		gt_coalesce_stage_close(&g.stage);
	}
	tool_end(&g.tool);
	gt_gpu_clear(&g.gpu);
	return 0;
}
