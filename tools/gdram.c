/* SPDX-License-Identifier: MIT */
/* gdram: device memory behind the last cache. It reads a stream, takes the requests out of it, and adds a count of sectors and row
 * hits for each kernel; lib/dram has the model. The file is as every filter's: what --help says, the table of options, what is done
 * at the begin of a kernel, with its rows and at its end, and main. */
#include "base/options.h"
#include "coalesce/stage.h"
#include "dram/dram.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gdram [-v] [--channels N] [--banks N] [--row SIZE] [--interleave SIZE] [--partial write|read]\n"
		 "             [stream] > stream\n"
		 "Models device memory: removes the requests from the stream and counts transfers and row hits.\n",
	.verbose = TOOL_PROGRESS,
	.notes = "Defaults are those of the stream's GPU description, else those in brackets.\n",
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce | gdram --channels 8 | gstats",
};

enum { CHANNELS = 1, BANKS, ROW, INTERLEAVE, PARTIAL };
static const struct tool_row option_rows[] = {
	{"--channels N", CHANNELS, "channels (1)"},
	{"--banks N", BANKS, "banks of a channel (16)"},
	{"--row SIZE", ROW, "bytes of a row of a bank (2K)"},
	{"--interleave SIZE", INTERLEAVE, "consecutive bytes in one channel (256)"},
	{"--partial write|read", PARTIAL, "whether a sector is read before a part of it is written (write: it is not)"},
	TOOL_END,
};

struct gdram {
	struct tool tool;
	struct gt_dram_config given; /* 0: not given */
	bool partial_given;
	struct gt_dram dram;
	struct gt_intake intake;
};

/* The command line overrides the GPU description. */
static int settle(struct gdram *g, const struct gt_gpu *gpu, struct gt_dram_config *config)
{
	const struct gt_dram_config *given = &g->given;

	if (gt_dram_configure(config, gpu, &g->tool.error) != 0)
		return -1;
	config->channels = given->channels ? given->channels : config->channels;
	config->banks = given->banks ? given->banks : config->banks;
	config->row = given->row ? given->row : config->row;
	config->interleave = given->interleave ? given->interleave : config->interleave;
	config->merges = g->partial_given ? given->merges : config->merges;
	return 0;
}

/* Names once what neither the description nor an option says. */
static void warn_absent(const struct gdram *g, const struct gt_gpu *gpu)
{
	const struct {
		const char *key;
		bool given;
	} keys[] = {{"dram.channels", g->given.channels}, {"dram.banks", g->given.banks}, {"dram.row", g->given.row},
		    {"dram.interleave", g->given.interleave}};
	static bool said;
	char names[96] = "";
	size_t used = 0;

	for (size_t i = 0; gpu && !said && i < sizeof keys / sizeof *keys; i++)
		if (!keys[i].given && !gt_gpu_get(gpu, keys[i].key))
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", keys[i].key);
	said = true;
	if (used > 0)
		tool_warn(&g->tool, "the GPU description has no %s: gdram's own defaults are taken", names);
}

static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	struct gdram *g = context;
	struct tool *tool = &g->tool;
	const struct gt_gpu *gpu = gt_reader_gpu(tool->in);
	struct gt_dram_config config;
	static uint32_t device;
	struct gt_error reason;

	tool_must(tool, gt_kernel_same_device(kernel, &device, &tool->error));
	tool_must(tool, settle(g, gpu, &config));
	if (gt_dram_open(&g->dram, &config, &reason) != 0)
		tool_must(tool, gt_fail(&tool->error, "gpu: dram: %s", reason.text));
	tool_must(tool, gt_intake_begin(&g->intake, gpu, &tool->error));
	warn_absent(g, gpu);
	return true;
}

static void end_kernel(void *context, uint64_t kernel)
{
	struct gdram *g = context;
	struct tool *tool = &g->tool;
	struct gt_count count;

	tool_must(tool, gt_intake_end(&g->intake, kernel, gt_writer_output(tool->out), &tool->error));
	gt_count_begin(&count, GT_DRAM_STAGE, kernel);
	tool_must(tool, gt_dram_count(&g->dram, &count, &tool->error));
	tool_count(tool, &count);
	gt_dram_close(&g->dram);
}

static int take_requests(void *context, const struct gt_rows *requests, struct gt_error *error)
{
	(void)error;
	gt_dram_take(context, requests);
	return 0;
}

static bool take_rows(void *context, struct gt_rows *rows)
{
	struct gdram *g = context;

	tool_must(&g->tool, gt_intake_rows(&g->intake, rows, &g->tool.error));
	return false;
}

static void take_options(struct gdram *g, int argc, char **argv)
{
	struct gt_error *error = &g->tool.error;
	int result;

	tool_begin(&g->tool, "gdram", &about, argc, argv);
	g->tool.is_filter = true;
	for (int option; (option = tool_option(&g->tool, option_rows)) != -1;) {
		if (option == CHANNELS)
			result = gt_parse_count(optarg, 1, GT_DRAM_CHANNELS_MAX, &g->given.channels, error);
		else if (option == BANKS)
			result = gt_parse_count(optarg, 1, GT_DRAM_BANKS_MAX, &g->given.banks, error);
		else if (option == ROW)
			result = gt_parse_size(optarg, GT_SECTOR, GT_DRAM_BYTES_MAX, &g->given.row, error);
		else if (option == INTERLEAVE)
			result = gt_parse_size(optarg, GT_SECTOR, GT_DRAM_BYTES_MAX, &g->given.interleave, error);
		else {
			result = gt_dram_partial(optarg, &g->given.merges, error);
			g->partial_given = true;
		}
		if (result != 0)
			tool_usage_error(&g->tool, g->tool.option);
	}
}

/* Invalid values are reported before anything is read. */
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
	const struct tool_filter filter = {.kernel = begin_kernel, .rows = take_rows, .end = end_kernel, .context = &g};

	take_options(&g, argc, argv);
	try_options(&g);
	tool_must(&g.tool, gt_intake_open(&g.intake, take_requests, &g.dram, &g.tool.error));
	tool_read(&g.tool);
	tool_write(&g.tool);
	tool_run(&g.tool, &filter);
	tool_end(&g.tool);
	gt_intake_close(&g.intake);
	return 0;
}
