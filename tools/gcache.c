/* SPDX-License-Identifier: MIT */
/* gcache: one cache level, functional, or timed if an option requires it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cache/config.h"
#include "cache/stage/stage.h"
#include "coalesce/stage.h"
#include "stream/records.h"
#include "stream/history.h"
#include "stream/parts.h"
#include "tool.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

/* Values of the options: parameters, then roles, then the rest. */
enum { PARAMETER = 0x2000, ROLE = 0x2100, PRIVATE = 0x2200, SHARED, CAUSES };

static const struct tool_about about = {
	.usage = "usage: gcache LEVEL [OPTION...] [FILE]\n"
		 "Reads requests (or accesses, which it coalesces), writes the requests that one cache level "
		 "sends on, and counts hits and misses by kernel.\n",
	.verbose = TOOL_PROGRESS,
	.notes = "In brackets: the default if neither an option nor the stream's GPU description gives a value; see "
		 "gcache(1).\n",
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gschedule --gpu titanv | gcache --l1 --size 32K --ways 4 | gstats",
};

static struct tool tool;
static struct gt_level_settings settings;

static struct gt_cache_stage stage = {.settings = &settings};
static struct gt_intake intake;
static struct gt_intake_batch alone; /* a batch that goes through no other thread */

static bool shared_by_blocks; /* the level is private, or two L2 partitions, and the kernel has several blocks */
static bool partitioned;      /* it is two L2 partitions: --spread far:N */

/* Without a schedule all blocks run on one SM, and share its cache. */
static void warn_unscheduled(const struct gt_rows *requests)
{
	static bool said;

	if (said || requests->scheduled || !shared_by_blocks)
		return;
	said = true;
	tool_warn(&tool, "%s is %s, but no gschedule has assigned SMs: all blocks share one", settings.name,
		  partitioned ? "two halves, each of half of the SMs" : "private to an SM");
}

/* What a batch has of its own on its way: its requests, and what lanes have of them. */
struct own {
	struct gt_intake_batch batch;
	struct gt_division division;
};

static int begin_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	struct own *own = item->own;

	if (gt_intake_batch_find(&own->batch, &intake, item->rows, error) != 0)
		return -1;
	return gt_cache_stage_split(context, own->batch.requests, &own->division, error);
}

static int serve_batch(void *context, struct gt_relay_item *item, unsigned lane, struct gt_error *error)
{
	struct own *own = item->own;

	return gt_cache_stage_serve(context, own->batch.requests, &own->division, lane, &item->sink, error);
}

static int gather_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	struct own *own = item->own;

	return gt_cache_stage_gather(context, own->batch.requests, &own->division, &item->sink, error);
}

static int count_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	const struct own *own = item->own;

	(void)error;
	warn_unscheduled(own->batch.requests);
	gt_cache_stage_served(context, own->batch.requests);
	gt_intake_batch_count(&intake, &own->batch);
	return 0;
}

static void close_own(void *of)
{
	struct own *own = of;

	gt_intake_batch_close(&own->batch);
	gt_division_close(&own->division);
}

static bool relays(void *context, enum gt_rows_kind kind)
{
	(void)kind;
	return gt_cache_stage_relays(context, gt_reader_record_hints(tool.in));
}

/* A batch that goes no further than this thread. */
static bool take_rows(void *context, struct gt_rows *rows)
{
	tool_must(&tool, gt_intake_batch_find(&alone, &intake, rows, &tool.error));
	warn_unscheduled(alone.requests);
	tool_must(&tool, gt_cache_stage_take(context, alone.requests, gt_writer_sink(tool.out), &tool.error));
	gt_intake_batch_count(&intake, &alone);
	return false;
}

static void end_kernel(void *context, uint64_t kernel)
{
	struct gt_output *output = gt_writer_output(tool.out);
	struct gt_count count;

	tool_must(&tool, gt_cache_stage_finish(context, &output->rows, &tool.error));
	tool_must(&tool, gt_intake_end(&intake, kernel, output, &tool.error));
	tool_must(&tool, gt_cache_stage_count(context, &count, &tool.error));
	tool_count(&tool, &count);
}

/* Options that do not go with what the GPU or the kernel says are wrong usage, as those that do not go together. */
static void check(const struct gt_level_config *config, uint64_t known)
{
	if (gt_level_check(config, known, &tool.error) != 0)
		tool_usage_error(&tool, settings.name);
}

/* What a launch finds of others is not there if they were left out, or are in another part. */
static void check_others(const struct gt_level_config *config)
{
	static bool said;
	struct gt_part part;

	if (config->flush == GT_FLUSH_NEVER && gt_part_of(gt_reader_history(tool.in), &part))
		tool_must(&tool, gt_fail(&tool.error, "%s keeps its lines from launch to launch (--flush never), and the stream is part %zu of %zu: model the whole stream instead",
					 settings.name, part.part, part.parts));
	if (said || config->flush != GT_FLUSH_NEVER || !gt_history_find(gt_reader_history(tool.in), "gsample", NULL))
		return;
	said = true;
	tool_warn(&tool, "%s keeps its lines from launch to launch, but gsample has left out launches", settings.name);
}

/* Behind gschedule --issue latency steps are cycles. */
static bool steps_are_cycles(void)
{
	const char *entry = gt_history_find(gt_reader_history(tool.in), "gschedule", "--issue");
	char issue[16];

	return entry && gt_history_argument(entry, "--issue", issue, sizeof issue) && strcmp(issue, "latency") == 0;
}

static bool is_shaped; /* the level has the shape that the GPU and the last launch ask for */

/* The level for a launch: to read what the GPU and the launch say takes longer than to serve a small one. */
static void shape_level(struct gt_cache_stage *level, struct gt_level_config *config, const struct gt_kernel *kernel)
{
	if (is_shaped && gt_level_suits(config, kernel))
		return;
	settings.cycles = steps_are_cycles();
	tool_must(&tool, gt_level_resolve(&settings, gt_reader_gpu(tool.in), kernel, config, &tool.error));
	check(config, ~UINT64_C(0));
	check_others(config);
	tool_must(&tool, gt_cache_stage_shape(level, config, gt_reader_gpu(tool.in), kernel, &tool.error));
	is_shaped = true;
}

static bool take_gpu(void *context, const struct gt_gpu *gpu)
{
	(void)context, (void)gpu;
	is_shaped = false;
	return true;
}

static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	static struct gt_level_config config;
	static uint32_t device;

	tool_must(&tool, gt_kernel_same_device(kernel, &device, &tool.error));
	shape_level(context, &config, kernel);
	partitioned = config.l2_partitions;
	shared_by_blocks = (partitioned || !config.shared) && gt_kernel_blocks(kernel) > 1;
	tool_must(&tool, gt_cache_stage_begin(context, kernel, &tool.error));
	tool_must(&tool, gt_intake_begin(&intake, gt_reader_gpu(tool.in), &tool.error));
	return true;
}

/* The counts of a level of the same name come from a stage before this one. */
static void warn_twice(const struct gt_count *count)
{
	static bool said;

	if (said || strcmp(count->stage, settings.name) != 0 || !gt_count_find(count, "read_hits"))
		return;
	said = true;
	tool_warn(&tool, "the requests have passed a level %s already, whose counts have this name: leave one of them out, or give one another --name",
		  settings.name);
}

static bool take_count(void *context, const struct gt_count *count)
{
	warn_twice(count);
	tool_must(&tool, gt_cache_stage_note(context, count, &tool.error));
	return true;
}

/* A table of all options, which the caller frees with their texts. */
struct table {
	struct tool_row *rows;
	struct {
		char option[GT_OPTION_HELP], text[GT_LEVEL_HELP];
	} *helps; /* of roles and parameters */
	size_t n, n_helps;
};

static void add_roles(struct table *table)
{
	for (size_t i = 0; i < gt_roles_n; i++) {
		char *option = table->helps[table->n_helps++].option;
		gt_role_help(&gt_roles[i], option);
		table->rows[table->n++] = (struct tool_row){option, ROLE + (int)i, gt_roles[i].help};
	}
}

static void add_group(struct table *table, enum gt_parameter_group group)
{
	table->rows[table->n++] = (struct tool_row)TOOL_HEADING(gt_parameter_groups[group]);
	for (int id = 0; id < GT_PARAMETERS; id++) {
		if (gt_parameters[id].group != group)
			continue;
		char *option = table->helps[table->n_helps].option, *text = table->helps[table->n_helps++].text;
		gt_parameter_help((enum gt_parameter_id)id, option, text);
		table->rows[table->n++] = (struct tool_row){option, PARAMETER + id, text};
	}
}

static void add_rows(struct table *table, const struct tool_row *rows, size_t n)
{
	memcpy(table->rows + table->n, rows, n * sizeof *rows);
	table->n += n;
}

static struct table all_options(void)
{
	static const struct tool_row first[] = {TOOL_HEADING("LEVEL, one of:")};
	static const struct tool_row scopes[] = {{"--private", PRIVATE, "the same as --scope private"},
						 {"--shared", SHARED, "the same as --scope shared"}};
	static const struct tool_row causes[] = {{"--causes", CAUSES, "count load misses by their cause, and reuse distances, of the level and of each site"}};
	static const struct tool_row rest[] = {
		TOOL_GENERAL,
		{"-S, --memory SIZE", 'S', "with opt: memory for requests that wait (2G); the rest goes to a file"},
		{"-T, --temporary DIR", 'T', "directory of that file ($TMPDIR, /tmp)"},
		TOOL_JOBS,
		TOOL_END,
	};
	size_t n = gt_roles_n + GT_PARAMETERS;
	struct table table = {.rows = calloc(n + GT_PARAMETER_GROUPS + LENGTH(first) + LENGTH(scopes) + LENGTH(causes) + LENGTH(rest),
				     sizeof *table.rows),
			      .helps = calloc(n, sizeof *table.helps)};

	if (!table.rows || !table.helps)
		tool_must(&tool, gt_fail_memory(&tool.error, "options"));
	add_rows(&table, first, LENGTH(first));
	add_roles(&table);
	add_group(&table, GT_ABOUT_SHAPE);
	add_rows(&table, scopes, LENGTH(scopes));
	for (int group = GT_ABOUT_SHAPE + 1; group < GT_PARAMETER_GROUPS; group++) {
		add_group(&table, (enum gt_parameter_group)group);
		if (group == GT_ABOUT_RESULTS)
			add_rows(&table, causes, LENGTH(causes));
	}
	add_rows(&table, rest, LENGTH(rest));
	return table;
}

static void set(enum gt_parameter_id id, const char *text)
{
	if (gt_level_set(&settings, id, text, &tool.error) != 0)
		tool_usage_error(&tool, tool.option);
}

/* The names of the L1 and L2 TLB in descriptions. */
static const char *tlb_name(const char *name)
{
	return strcmp(name, "l1") == 0 ? "l1tlb" : strcmp(name, "l2") == 0 ? "l2tlb" : name;
}

/* --name gives a level another name; without another role it makes a level of no particular kind. */
static void set_role(const struct gt_role *role)
{
	static const struct gt_role *chosen;
	bool names_only = strcmp(role->option, "name") == 0;

	if (!names_only && chosen)
		tool_usage(&tool, "--%s: this level is a --%s already", role->option, chosen->option);
	if (!names_only)
		chosen = role;
	if (!names_only || !chosen)
		settings.role = role;
	if (!role->name && gt_level_name(&settings, names_only ? optarg : tlb_name(optarg), &tool.error) != 0)
		tool_usage_error(&tool, names_only ? "--name" : "--tlb");
}

static void set_memory(const char *text)
{
	uint64_t bytes;

	if (gt_parse_size(text, 1, SIZE_MAX / 2, &bytes, &tool.error) != 0)
		tool_usage_error(&tool, "-S");
	settings.memory = (size_t)bytes;
}

static void read_options(void)
{
	struct table table = all_options();
	uint64_t given = 0;
	int option;

	settings.directory = getenv("TMPDIR");
	if (settings.directory && !*settings.directory)
		settings.directory = NULL;
	while ((option = tool_option(&tool, table.rows)) != -1) {
		if (option == PRIVATE || option == SHARED)
			set(GT_LEVEL_SCOPE, option == PRIVATE ? "private" : "shared");
		else if (option == CAUSES)
			settings.causes = true;
		else if (option == 'S')
			set_memory(optarg);
		else if (option == 'T')
			settings.directory = tool_folder(&tool, optarg);
		else if (option >= ROLE)
			set_role(&gt_roles[option - ROLE]);
		else
			set((enum gt_parameter_id)(option - PARAMETER), optarg);
	}
	free(table.rows);
	free(table.helps);
	if (!settings.role)
		tool_usage(&tool, "expected a level: --l1, --l2, --texture, --readonly, --tlb NAME, --window or --name NAME");
	if (settings.name[0] == '\0')
		snprintf(settings.name, sizeof settings.name, "%s", settings.role->name);
	for (int id = 0; id < GT_PARAMETERS; id++)
		given |= settings.option[id] ? UINT64_C(1) << id : 0;
	if (settings.option[GT_LEVEL_SETS] && (settings.option[GT_LEVEL_SIZE] || settings.option[GT_LEVEL_WAYS]))
		tool_usage(&tool, "--sets gives the ways of each set: leave out --size and --ways");
	static struct gt_level_config config;
	if (gt_level_resolve(&settings, NULL, NULL, &config, &tool.error) != 0)
		tool_usage_error(&tool, settings.name);
	check(&config, given);
}

int main(int argc, char **argv)
{
	tool_begin(&tool, "gcache", &about, argc, argv);
	tool.is_filter = true;
	read_options();
	stage.lanes = tool.jobs;
	const struct gt_relay_stage threads = {
		.own_bytes = sizeof(struct own), .close_own = close_own, .take = begin_batch, .lanes = tool.jobs,
		.serve = serve_batch, .gather = gather_batch, .count = count_batch, .context = &stage};
	const struct tool_filter filter = {.kernel = begin_kernel, .rows = take_rows, .count = take_count, .gpu = take_gpu, .end = end_kernel,
					   .relay = &threads, .relays = relays, .context = &stage};
	tool_read(&tool);
	gt_reader_keep_spans(tool.in);
	tool_write(&tool);
	tool_run(&tool, &filter);
	tool_end(&tool);
	gt_cache_stage_close(&stage);
	gt_intake_batch_close(&alone);
	return 0;
}
