/* SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "coalesce/coalesce.h"
#include "dram/dram.h"
#include "tool.h"

static const char help[] =
	"usage: gdram [-v] [--channels N] [--banks N] [--row SIZE] [--interleave SIZE] [stream] > stream\n"
	"Takes memory requests out of the stream and counts what device memory does for them.\n"
	"\n"
	"  --channels N       channels (1)\n"
	"  --banks N          banks of a channel (16)\n"
	"  --row SIZE         bytes of a row of a bank (2K)\n"
	"  --interleave SIZE  successive bytes in a channel before the next one's turn (256)\n"
	"                     without these: what the stream's GPU description says\n"
	"  -v, --verbose      progress on standard error\n"
	"  --help, --version\n";

struct gdram {
	struct tool tool;
	struct gt_dram_config given; /* 0: not given */
	struct gt_dram dram;
	struct gt_coalescer coalescer;
	struct gt_sink requests; /* of accesses that come uncoalesced */
	/* Of the kernel in hand. */
	bool in_kernel;
	bool accessed; /* it has accesses */
	uint64_t kernel;
};

/* What was given on the command line goes before what the GPU says. */
static int settle(struct gdram *g, const struct gt_gpu *gpu, struct gt_dram_config *config)
{
	const struct gt_dram_config *given = &g->given;

	if (gt_dram_configure(config, gpu, &g->tool.error) != 0)
		return -1;
	config->channels = given->channels ? given->channels : config->channels;
	config->banks = given->banks ? given->banks : config->banks;
	config->row = given->row ? given->row : config->row;
	config->interleave = given->interleave ? given->interleave : config->interleave;
	return 0;
}

static void begin_kernel(struct gdram *g)
{
	struct tool *tool = &g->tool;
	const struct gt_gpu *gpu = gt_reader_gpu(tool->in);
	struct gt_dram_config config;
	struct gt_error reason;

	tool_must(tool, settle(g, gpu, &config));
	if (gt_dram_open(&g->dram, &config, &reason) != 0)
		tool_must(tool, gt_fail(&tool->error, "gpu: dram: %s", reason.text));
	tool_must(tool, gt_coalescer_resolve(&g->coalescer, gpu, NULL, NULL, &tool->error));
	g->in_kernel = true;
	g->accessed = false;
	g->kernel = gt_reader_kernel(tool->in)->id;
}

static void write_count(struct gdram *g, struct gt_count *count)
{
	tool_must(&g->tool, gt_write_count(g->tool.out, count, &g->tool.error));
	gt_count_clear(count);
}

static void end_kernel(struct gdram *g)
{
	struct tool *tool = &g->tool;
	struct gt_count count;

	if (!g->in_kernel)
		return;
	if (g->accessed) {
		gt_count_begin(&count, GT_COALESCE_STAGE, g->kernel);
		tool_must(tool, gt_coalescer_count(&g->coalescer, &count, &tool->error));
		write_count(g, &count);
	}
	gt_count_begin(&count, GT_DRAM_STAGE, g->kernel);
	tool_must(tool, gt_dram_count(&g->dram, &count, &tool->error));
	write_count(g, &count);
	gt_dram_close(&g->dram);
}

/* The sink of coalescing. */
static int take_requests(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)error;
	gt_dram_take(context, rows);
	rows->n = rows->n_lanes = 0;
	return 0;
}

static void take_rows(struct gdram *g)
{
	struct gt_error *error = &g->tool.error;
	const struct gt_rows *rows = gt_reader_rows(g->tool.in);

	if (rows->kind == GT_REQUESTS) {
		gt_dram_take(&g->dram, rows);
		return;
	}
	g->accessed = true;
	tool_must(&g->tool, gt_coalesce(&g->coalescer, rows, &g->requests, error));
	tool_must(&g->tool, take_requests(&g->dram, g->requests.rows, error));
}

static void take_options(struct gdram *g, int argc, char **argv)
{
	enum { CHANNELS = 1, BANKS, ROW, INTERLEAVE };
	static const struct option options[] = {
		{"channels", required_argument, NULL, CHANNELS}, {"banks", required_argument, NULL, BANKS},
		{"row", required_argument, NULL, ROW}, {"interleave", required_argument, NULL, INTERLEAVE},
		TOOL_OPTIONS};
	struct gt_error *error = &g->tool.error;
	int result;

	tool_begin(&g->tool, "gdram", help, argc, argv);
	for (int option; (option = tool_option(&g->tool, "v", options)) != -1;) {
		if (option == CHANNELS)
			result = gt_parse_count(optarg, 1, GT_DRAM_CHANNELS_MAX, &g->given.channels, error);
		else if (option == BANKS)
			result = gt_parse_count(optarg, 1, GT_DRAM_BANKS_MAX, &g->given.banks, error);
		else if (option == ROW)
			result = gt_parse_size(optarg, GT_SECTOR, GT_DRAM_BYTES_MAX, &g->given.row, error);
		else
			result = gt_parse_size(optarg, GT_SECTOR, GT_DRAM_BYTES_MAX, &g->given.interleave, error);
		if (result != 0)
			tool_usage_error(&g->tool, options[option - 1].name);
	}
}

/* Bad values end it before anything is read. */
static void try_options(struct gdram *g)
{
	struct gt_dram_config config;

	if (settle(g, NULL, &config) != 0 || gt_dram_open(&g->dram, &config, &g->tool.error) != 0)
		tool_usage(&g->tool, "%s", g->tool.error.text);
	gt_dram_close(&g->dram);
}

int main(int argc, char **argv)
{
	static struct gdram g;
	enum gt_event event;

	take_options(&g, argc, argv);
	try_options(&g);
	g.requests = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, &g.tool.error), take_requests, &g.dram};
	tool_must(&g.tool, g.requests.rows ? 0 : -1);
	tool_read(&g.tool);
	tool_write(&g.tool);
	while (tool_next(&g.tool, &event)) {
		if (event == GT_ROWS) {
			take_rows(&g);
			continue;
		}
		if (event == GT_KERNEL) {
			end_kernel(&g);
			begin_kernel(&g);
		}
		tool_pass(&g.tool);
	}
	end_kernel(&g);
	tool_end(&g.tool);
	gt_rows_free(g.requests.rows);
	return 0;
}
