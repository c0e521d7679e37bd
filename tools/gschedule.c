/* SPDX-License-Identifier: MIT */
/* gschedule: assigns blocks to SMs, limits how many are resident, and orders the issue of their warps. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "schedule/schedule.h"
#include "stream/history.h"
#include "tool.h"

#define MEMORY "512M" /* by default */

static const struct tool_about about = {
	.usage = "usage: gschedule [--gpu NAME|FILE] [--sm N] [option ...] [stream]\n"
		 "Assigns an SM and a step (the time of issue) to every row of a stream, and sorts the rows by them.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gschedule --sm 4 --issue gto | gcache --l1 | gstats",
};

enum { GPU = 1, SM, MAX_BLOCKS, MAX_WARPS, REGISTERS, SHARED, SCHEDULERS, MAP, DISPATCH, SEED, BLOCK_STEPS, ISSUE, ONLY_SM, WAVES };

static const struct tool_row option_rows[] = {
	{"--gpu NAME|FILE", GPU, "a GPU description, which is written into the stream for later stages"},
	TOOL_HEADING("These override the description; an unknown value limits nothing:"),
	{"--sm N", SM, "streaming multiprocessors"},
	{"--max-blocks N|all", MAX_BLOCKS, "blocks an SM can hold; all: no limit, whatever their resources"},
	{"--max-warps N", MAX_WARPS, "warps an SM can hold"},
	{"--registers N", REGISTERS, "32-bit registers of an SM"},
	{"--shared SIZE", SHARED, "shared memory of an SM"},
	{"--schedulers N", SCHEDULERS, "warp schedulers of an SM (1)"},
	TOOL_HEADING("Schedule:"),
	{"--map MAPPING", MAP, "rr (default), part:BLOCKS, random:SEED, trace"},
	{"--dispatch POLICY", DISPATCH, "wave, first-done, any-done (as in the description, else wave)"},
	{"--seed N", SEED, "the seed of any-done (1)"},
	{"--block-steps FILE", BLOCK_STEPS, "lines \"kernel block steps\": durations of blocks, for first-done"},
	{"--issue POLICY", ISSUE, "rr (default), gto, latency"},
	{"--only-sm LIST", ONLY_SM, "model these SMs only, such as 0,3-5"},
	{"--waves N", WAVES, "model the first N waves of every SM"},
	TOOL_GENERAL,
	TOOL_JOBS,
	{"-S, --memory SIZE", 'S', "memory for rows that wait (" MEMORY "); the rest goes to a temporary file"},
	{"-T, --temporary DIR", 'T', "directory of that file ($TMPDIR, /tmp)"},
	TOOL_END,
};

/* Options that set a value of the description, by its key. */
static const char *const figures[] = {
	[SM] = "sms",		     [MAX_BLOCKS] = "max_blocks", [MAX_WARPS] = "max_warps",
	[REGISTERS] = "registers",   [SHARED] = "shared",	  [SCHEDULERS] = "schedulers",
	[WAVES] = NULL,
};

struct gschedule {
	struct tool tool;
	struct gt_schedule_config config;
	struct gt_gpu gpu;	 /* from --gpu or the stream, overridden by options */
	struct gt_gpu overrides; /* the options alone */
	const char *named;	 /* the argument of --gpu, or NULL */
	bool compared;		 /* with the GPU of an earlier gcoalesce */
	const char *block_steps; /* a file; NULL: none */
	const struct gt_dispatch *dispatch; /* by --dispatch; NULL: as the GPU has it */
	unsigned char only_sms[GT_SMS_MAX];
	unsigned last_sm; /* of only_sms */
	struct gt_kernel kernel;
	bool told_of_clusters;
	struct gt_schedule *schedule; /* of the kernel that is open */
};

static void set_figure(struct gschedule *self, int option, const char *value)
{
	struct gt_error *error = &self->tool.error;

	if (option == MAX_BLOCKS && strcmp(value, "all") == 0)
		self->config.limits.all = true;
	else if (gt_gpu_set(&self->overrides, figures[option], value, "assumed", "an option of gschedule", error) != 0)
		tool_usage_error(&self->tool, self->tool.option);
}

static void set_only(struct gschedule *self, const char *list)
{
	if (gt_parse_list(list, self->only_sms, GT_SMS_MAX, &self->tool.error) != 0)
		tool_usage_error(&self->tool, "--only-sm");
	for (unsigned sm = 0; sm < GT_SMS_MAX; sm++)
		if (self->only_sms[sm])
			self->last_sm = sm;
	self->config.only_sms = self->only_sms;
}

static void set_memory(struct gschedule *self, const char *size)
{
	uint64_t bytes;

	if (gt_parse_size(size, 0, SIZE_MAX / 2, &bytes, &self->tool.error) != 0)
		tool_usage_error(&self->tool, "-S");
	self->config.memory = (size_t)bytes;
}

static void take_option(struct gschedule *self, int option)
{
	struct tool *tool = &self->tool;
	struct gt_schedule_config *config = &self->config;
	struct gt_error *error = &tool->error;

	switch (option) {
	case GPU:
		gt_gpu_clear(&self->gpu);
		if (gt_gpu_load(&self->gpu, optarg, error) != 0)
			tool_usage_error(tool, "--gpu");
		self->named = optarg;
		break;
	case MAP:
		if (gt_mapping_parse(&config->mapping, optarg, error) != 0)
			tool_usage_error(tool, "--map");
		break;
	case DISPATCH:
		if (!(self->dispatch = gt_dispatch_find(optarg, error)))
			tool_usage_error(tool, "--dispatch");
		break;
	case SEED:
		if (gt_parse_count(optarg, 0, UINT64_MAX, &config->seed, error) != 0)
			tool_usage_error(tool, "--seed");
		break;
	case BLOCK_STEPS:
		self->block_steps = optarg;
		break;
	case ISSUE:
		if (!(config->issue = gt_issue_find(optarg, error)))
			tool_usage_error(tool, "--issue");
		break;
	case ONLY_SM:
		set_only(self, optarg);
		break;
	case WAVES:
		if (gt_parse_count(optarg, 1, UINT64_MAX, &config->waves, error) != 0)
			tool_usage_error(tool, "--waves");
		break;
	case 'S':
		set_memory(self, optarg);
		break;
	case 'T':
		config->directory = tool_folder(tool, optarg);
		break;
	default:
		set_figure(self, option, optarg);
	}
}

/* Makes the configuration from the GPU description. Returns 0, or -1 with the error set. */
static int configure(struct gschedule *self)
{
	struct gt_error *error = &self->tool.error;

	if (gt_gpu_join(&self->gpu, &self->overrides, error) != 0)
		return -1;
	self->config.dispatch = self->dispatch;
	if (gt_schedule_configure(&self->config, &self->gpu, error) != 0)
		return -1;
	if (self->config.sms > 0 && self->config.only_sms && self->last_sm >= self->config.sms)
		return gt_fail(error, "--only-sm: SM %u: expected SMs below %u", self->last_sm, self->config.sms);
	return 0;
}

static void end_kernel(void *context, uint64_t kernel)
{
	struct gschedule *self = context;
	struct tool *tool = &self->tool;
	struct gt_count count;

	gt_count_begin(&count, "schedule", kernel);
	tool_must(tool, gt_schedule_finish(self->schedule, &count, &tool->error));
	tool_count(tool, &count);
	gt_schedule_close(self->schedule);
	self->schedule = NULL;
}

/* The rule of coalescing of a GPU. */
static const char *rule_of(const struct gt_gpu *gpu)
{
	const char *rule = gt_gpu_get(gpu, "coalesce");

	return rule ? rule : "default";
}

/* A stream of requests does not change with the GPU that is named after gcoalesce; one that gcoalesce was given is compared with the
 * history. */
static void warn_of_other_gpu(const struct gschedule *self)
{
	const struct tool *tool = &self->tool;
	const char *entry = gt_history_find(gt_reader_history(tool->in), "gcoalesce", NULL);
	const char *rule = rule_of(gt_reader_gpu(tool->in));
	char name[256];

	if (!entry || gt_history_argument(entry, "--rule", name, sizeof name) || gt_history_argument(entry, "--gpu", name, sizeof name))
		return;
	if (strcmp(rule, rule_of(&self->gpu)) != 0)
		tool_warn(tool, "gcoalesce made the requests by the rule '%s', but %s has '%s': give gcoalesce --gpu %s too", rule,
			  self->named, rule_of(&self->gpu), self->named);
}

/* The keys that a description lacks: first what the schedule needs, then what a whole GPU has. Returns how many. */
static size_t list_absent(const struct gt_gpu *gpu, char *names, size_t bytes)
{
	static const char *const keys[] = {"sms", "max_warps", "max_blocks", "registers", "shared", "l1.size", "l2.size"};
	size_t n = 0, used = 0;

	names[0] = '\0';
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!gt_gpu_get(gpu, keys[i]) && used < bytes)
			used += (size_t)snprintf(names + used, bytes - used, "%s%s", n++ ? ", " : "", keys[i]);
	return n;
}

/* Without SMs there is no schedule; without the rest, limits that do not apply and caches of gcache's own size. */
static void check_keys(const struct gschedule *self)
{
	const struct tool *tool = &self->tool;
	char names[256];

	if (!self->named || list_absent(&self->gpu, names, sizeof names) == 0)
		return;
	if (self->config.sms == 0)
		tool_usage(tool, "--gpu: %s has no %s: expected at least the key sms, or --sm N too", self->named, names);
	tool_warn(tool, "%s has no %s: what it lacks limits no SM, and caches have gcache's own size", self->named, names);
}

static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	struct gschedule *self = context;
	struct tool *tool = &self->tool;

	tool_must(tool, gt_kernel_copy(&self->kernel, kernel, &tool->error));
	if (self->named && !self->compared)
		warn_of_other_gpu(self);
	self->compared = true;
	if (self->config.sms == 0) {
		gt_fail(&tool->error, "the stream%s: expected --gpu NAME or --sm N",
			self->gpu.n > 0 ? "'s GPU description has no sms" : " has no GPU description");
		tool_fail(tool);
	}
	if (kernel->cluster[0] && (uint64_t)kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2] > 1 && !self->told_of_clusters) {
		tool_warn(tool, "kernel %.100s runs in clusters of (%u,%u,%u) blocks: their blocks are placed one by one", kernel->name,
			  kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
		self->told_of_clusters = true;
	}
	self->schedule = gt_schedule_open(&self->config, &self->kernel, gt_writer_sink(tool->out), &tool->error);
	if (!self->schedule)
		tool_fail(tool);
	self->kernel.order = GT_ORDER_NONE;
	self->kernel.l1_bytes = gt_schedule_occupancy(self->schedule)->l1_bytes;
	tool_must(tool, gt_write_kernel(tool->out, &self->kernel, &tool->error));
	return false;
}

static bool take_rows(void *context, struct gt_rows *rows)
{
	struct gschedule *self = context;

	tool_must(&self->tool, gt_schedule_put(self->schedule, rows, &self->tool.error));
	return false;
}

static bool take_count(void *context, const struct gt_count *count)
{
	struct gschedule *self = context;

	if (self->schedule)
		tool_must(&self->tool, gt_schedule_take(self->schedule, count, &self->tool.error));
	return true;
}

/* Takes the description in the stream, unless --gpu names another. */
static bool take_gpu(void *context, const struct gt_gpu *gpu)
{
	struct gschedule *self = context;
	struct tool *tool = &self->tool;

	if (self->schedule) {
		gt_fail(&tool->error, "a GPU description inside a kernel: expected it before the first");
		tool_fail(tool);
	}
	if (self->named)
		return false;
	gt_gpu_clear(&self->gpu);
	for (size_t i = 0; i < gpu->n; i++) {
		const struct gt_gpu_figure *figure = &gpu->figures[i];
		tool_must(tool, gt_gpu_set(&self->gpu, figure->key, figure->value, "", "", &tool->error));
	}
	tool_must(tool, configure(self));
	tool_must(tool, gt_write_gpu(tool->out, &self->gpu, &tool->error));
	return false;
}

int main(int argc, char **argv)
{
	static struct gschedule self;
	struct tool *tool = &self.tool;
	const struct tool_filter filter = {
		.kernel = begin_kernel, .rows = take_rows, .count = take_count, .gpu = take_gpu, .end = end_kernel, .context = &self};
	int option;

	tool_begin(tool, "gschedule", &about, argc, argv);
	tool->is_filter = true;
	set_memory(&self, MEMORY);
	self.config.directory = gt_temporary_directory();
	self.config.issue = gt_issue_find("rr", &tool->error);
	self.config.seed = 1;
	tool_must(tool, gt_mapping_parse(&self.config.mapping, "rr", &tool->error));
	while ((option = tool_option(tool, option_rows)) != -1)
		take_option(&self, option);
	if (configure(&self) != 0)
		tool_usage(tool, "%s", tool->error.text);
	if (self.block_steps && !gt_dispatch_refills(self.config.dispatch))
		tool_usage(tool, "--block-steps: expected --dispatch first-done too");
	if (tool->jobs > 1 && !gt_issue_is_timed(self.config.issue))
		tool_usage(tool, "--jobs: --issue rr and gto run in one thread");
	self.config.jobs = tool->jobs;
	check_keys(&self);
	if (self.block_steps)
		tool_must(tool, gt_durations_read(&self.config.durations, self.block_steps, &tool->error));
	tool_read(tool);
	gt_reader_keep_spans(tool->in);
	self.config.spans = true;
	if (!gt_issue_is_timed(self.config.issue)) /* that knows accesses to shared memory as instructions, by the column work */
		gt_reader_keep_turns(tool->in);
	tool_write(tool);
	if (self.named)
		tool_must(tool, gt_write_gpu(tool->out, &self.gpu, &tool->error));
	tool_run(tool, &filter);
	gt_kernel_clear(&self.kernel);
	gt_gpu_clear(&self.gpu);
	gt_gpu_clear(&self.overrides);
	gt_durations_close(&self.config.durations);
	tool_end(tool);
	return 0;
}
