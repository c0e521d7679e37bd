/* SPDX-License-Identifier: MIT */
/* gsample: passes on one launch of each group of launches that are alike, with the number that it stands for; lib/sample decides. Whether a
 * launch is passed on is known at its end, so its records are held until then. */
#include "base/file.h"
#include "base/grown.h"
#include "base/options.h"
#include "base/spill.h"
#include "sample/sample.h"
#include "stream/records.h"
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct tool_about about = {
	.usage = "usage: gsample [-v] [--tolerance PERCENT] [-S SIZE] [-T DIR] [stream] > stream\n"
		 "Passes on one launch of each group of launches that are alike. gstats counts it as often as the group has launches.\n",
	.verbose = TOOL_PROGRESS ", and what was passed on",
	.notes = "It belongs behind gcoalesce, whose counters it compares.\n",
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce | gsample | gschedule --gpu a100 | gcache --l1 | gstats",
};

enum { TOLERANCE = 1 };
static const struct tool_row option_rows[] = {
	{"--tolerance PERCENT", TOLERANCE, "launches of a group differ by at most that, in each number (5)"},
	{"-S, --memory SIZE", 'S', "memory for a launch that is held; the rest goes to a temporary file (256M)"},
	{"-T, --temporary DIR", 'T', "directory of that file ($TMPDIR, /tmp)"},
	TOOL_END,
};

/* A record that is held. */
struct held {
	unsigned char *bytes;
	size_t n, rows;
	struct gt_segment *segment;
};

struct gsample {
	struct tool tool;
	struct gt_sampler sampler;
	double tolerance; /* percent */
	uint64_t memory;
	const char *directory;
	struct gt_store store;
	struct held *held; /* records of the launch, if it is held */
	size_t n, capacity;
	bool in_launch, holds;
};

/* ---- the records of a launch ---- */

static void hold_record(struct gsample *g)
{
	struct gt_raw_record record = gt_reader_record(g->tool.in);
	struct held *grown = gt_grown(g->held, g->n, &g->capacity, sizeof *grown);
	struct held held = {.n = record.n, .rows = record.rows};

	tool_must(&g->tool, grown ? 0 : gt_fail_memory(&g->tool.error, "the records of a launch"));
	g->held = grown;
	held.bytes = gt_store_take(&g->store, held.n, &held.segment, &g->tool.error);
	tool_must(&g->tool, held.bytes ? 0 : -1);
	memcpy(held.bytes, record.bytes, record.n);
	grown[g->n++] = held;
}

static void let_go(struct gsample *g, bool write)
{
	for (size_t i = 0; i < g->n; i++) {
		if (write)
			tool_must(&g->tool, gt_writer_put(g->tool.out, g->held[i].bytes, g->held[i].n, g->held[i].rows, &g->tool.error));
		gt_store_release(&g->store, g->held[i].segment);
	}
	g->n = 0;
}

static void end_launch(struct gsample *g)
{
	bool modelled;

	if (!g->in_launch)
		return;
	tool_must(&g->tool, gt_sampler_end(&g->sampler, &modelled, &g->tool.error));
	let_go(g, modelled);
	g->in_launch = false;
}

static void begin_launch(struct gsample *g)
{
	bool first;

	end_launch(g);
	tool_must(&g->tool, gt_sampler_begin(&g->sampler, gt_reader_kernel(g->tool.in), &first, &g->tool.error));
	g->in_launch = true;
	g->holds = !first;
}

static void take_rows(struct gsample *g)
{
	const struct gt_rows *rows = gt_reader_rows(g->tool.in);

	if (rows->kind != GT_REQUESTS)
		tool_must(&g->tool, gt_fail(&g->tool.error, "expected requests: put gsample behind gcoalesce"));
	gt_sampler_rows(&g->sampler, rows);
}

/* ---- the stream ---- */

/* What belongs to no launch passes at once. */
static bool is_of_launch(const struct gsample *g, enum gt_event event)
{
	return g->in_launch && event != GT_GPU && (event != GT_COUNT || gt_reader_count(g->tool.in)->kernel == g->sampler.id);
}

static void run(struct gsample *g)
{
	struct tool *tool = &g->tool;
	enum gt_event event;

	while (tool_next(tool, &event)) {
		if (event == GT_KERNEL)
			begin_launch(g);
		else if (event == GT_ROWS)
			take_rows(g);
		else if (event == GT_COUNT && is_of_launch(g, event))
			tool_must(tool, gt_sampler_count(&g->sampler, gt_reader_count(tool->in), &tool->error));
		if (g->holds && is_of_launch(g, event))
			hold_record(g);
		else
			tool_pass(tool);
	}
	end_launch(g);
}

static void write_groups(struct gsample *g)
{
	struct gt_count count;

	for (size_t i = 0; i < g->sampler.groups_n; i++) {
		tool_must(&g->tool, gt_sampler_write(&g->sampler, i, &count, &g->tool.error));
		tool_count(&g->tool, &count);
	}
	if (g->tool.verbose)
		tool_say(&g->tool, "%zu of %" PRIu64 " launches are passed on", g->sampler.groups_n, gt_sampler_launches(&g->sampler));
}

static void take_options(struct gsample *g, int argc, char **argv)
{
	struct gt_error *error = &g->tool.error;
	int result = 0;

	tool_begin(&g->tool, "gsample", &about, argc, argv);
	g->tool.is_filter = true;
	g->tolerance = 5;
	g->memory = UINT64_C(256) << 20;
	g->directory = gt_temporary_directory();
	for (int option; (option = tool_option(&g->tool, option_rows)) != -1;) {
		if (option == TOLERANCE)
			result = gt_parse_real(optarg, 0, 100, &g->tolerance, error);
		else if (option == 'S')
			result = gt_parse_size(optarg, 0, UINT64_MAX, &g->memory, error);
		else
			g->directory = tool_folder(&g->tool, optarg);
		if (result != 0)
			tool_usage_error(&g->tool, g->tool.option);
	}
}

int main(int argc, char **argv)
{
	static struct gsample g;

	take_options(&g, argc, argv);
	tool_must(&g.tool, gt_sampler_open(&g.sampler, (uint64_t)(g.tolerance * 1e4 + 0.5), &g.tool.error));
	gt_store_open(&g.store, (size_t)g.memory, g.directory);
	tool_read(&g.tool);
	tool_write(&g.tool);
	run(&g);
	write_groups(&g);
	tool_end(&g.tool);
	gt_store_close(&g.store);
	gt_sampler_close(&g.sampler);
	free(g.held);
	return 0;
}
