/* SPDX-License-Identifier: MIT */
/* gcache: one level of a cache, functional, or timed where an option asks for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cache/config.h"
#include "cache/level.h"
#include "cache/timed/timed.h"
#include "cache/warm.h"
#include "coalesce/intake.h"
#include "tool.h"

static const char usage[] =
	"usage: gcache --l1|--l2|--texture|--readonly|--tlb NAME|--window|--name NAME [OPTION...] [FILE]\n"
	"\n"
	"Reads requests (or accesses, which it coalesces), writes the requests that one cache level\n"
	"sends on, and counts hits and misses by kernel.\n"
	"\n";
static const char other_options[] =
	"  -S, --memory SIZE        under opt: memory for requests that wait (2G); more go to a file\n"
	"  -T, --temporary DIR      where that file is made ($TMPDIR, /tmp)\n"
	"  -v, --verbose            progress on stderr\n"
	"      --help, --version\n"
	"\n"
	"In brackets: what holds if neither the option is given nor the GPU description in the stream says\n"
	"it; see gcache(1).\n"
	"\n"
	"example: gtrace-order examples/traces/gemm.rdgc.xz | gschedule --gpu titanv | gcache --l1 --size 32K --ways 4 | gstats\n";

/* Values of the options: parameters, then roles, then the rest. */
enum { PARAMETER = 0x2000, ROLE = 0x2100, PRIVATE = 0x2200, SHARED };

/* "what it does [32K; l2 2M, texture 12K]": the default, and those of the roles that have another. */
static void print_parameter(FILE *to, int id)
{
	const struct gt_parameter *parameter = &gt_parameters[id];
	char option[64], text[512];
	const char *separator = "; ";

	snprintf(option, sizeof option, "--%s %s", parameter->name, parameter->type.form);
	size_t used = (size_t)snprintf(text, sizeof text, "%s [%s", parameter->help, parameter->otherwise);
	for (size_t i = 0; i < gt_roles_n && used < sizeof text; i++) {
		const char *value = gt_roles[i].values[id];
		if (!value || strcmp(value, parameter->otherwise) == 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", separator, gt_roles[i].option, value);
		separator = ", ";
	}
	if (used < sizeof text)
		snprintf(text + used, sizeof text - used, "]");
	gt_help_option(to, option, text);
}

static const char *help(void)
{
	static char text[16384];
	FILE *to = fmemopen(text, sizeof text, "w");

	if (!to)
		return usage;
	fputs(usage, to);
	for (size_t i = 0; i < gt_roles_n; i++) {
		char option[32];
		snprintf(option, sizeof option, "--%s%s", gt_roles[i].option, gt_roles[i].name ? "" : " NAME");
		gt_help_option(to, option, gt_roles[i].help);
	}
	gt_help_option(to, "--private, --shared", "the same as --scope private, --scope shared");
	for (int timed = 0; timed < 2; timed++) {
		if (timed)
			fputs("  Any of these makes the level timed:\n", to);
		for (int id = 0; id < GT_PARAMETERS; id++)
			if (gt_parameters[id].timed == (timed != 0))
				print_parameter(to, id);
	}
	fputs(other_options, to);
	fclose(to);
	return text;
}

static struct tool tool;
static struct gt_level_settings settings;

struct run {
	char *said;		/* what `level` was made of: gt_level_said */
	struct gt_level *level; /* NULL before the first kernel, and if it is timed */
	struct gt_timed *timed; /* the same, if it is not */
	struct gt_intake intake;
	struct gt_warming warming;
};

static int take_requests(void *context, const struct gt_rows *requests, struct gt_error *error)
{
	const struct run *run = context;
	struct gt_sink *sent = gt_writer_sink(tool.out);

	return run->timed ? gt_timed_take(run->timed, requests, sent, error)
			  : gt_level_take(run->level, requests, sent, error);
}

static bool take_rows(void *context, struct gt_rows *rows)
{
	struct run *run = context;

	tool_must(&tool, gt_intake_rows(&run->intake, rows, &tool.error));
	return false;
}

static void end_kernel(void *context, uint64_t kernel)
{
	const struct run *run = context;
	struct gt_output *output = gt_writer_output(tool.out);
	struct gt_count count;

	tool_must(&tool, run->timed ? gt_timed_finish(run->timed, &output->rows, &tool.error)
				    : gt_level_finish(run->level, &output->rows, &tool.error));
	tool_must(&tool, gt_intake_end(&run->intake, kernel, output, &tool.error));
	tool_must(&tool, run->timed ? gt_timed_count(run->timed, settings.name, kernel, &count, &tool.error)
				    : gt_level_count(run->level, settings.name, kernel, &count, &tool.error));
	tool_count(&tool, &count);
}

static void close_level(struct run *run)
{
	gt_level_close(run->level);
	gt_timed_close(run->timed);
	run->level = NULL;
	run->timed = NULL;
}

static void open_level(struct run *run, const struct gt_level_config *config)
{
	close_level(run);
	if (gt_level_timed(&settings))
		run->timed = gt_timed_open(config, &tool.error);
	else
		run->level = gt_level_open(config, &tool.error);
	tool_must(&tool, run->level || run->timed ? 0 : -1);
}

/* What is to be in the level when the kernel begins may stand before or behind it. */
static void warm(struct run *run)
{
	if (run->level)
		tool_must(&tool, gt_warming_apply(&run->warming, run->level, gt_reader_kernel(tool.in)->id, &tool.error));
}

/* The level as options, the kernel and the GPU make it; the one there is, if nothing changed. */
static bool begin_kernel(void *context, const struct gt_kernel *kernel)
{
	struct run *run = context;
	static struct gt_level_config config;

	tool_must(&tool, gt_level_resolve(&settings, gt_reader_gpu(tool.in), kernel, &config, &tool.error));
	if (gt_level_check(&config, ~UINT64_C(0), &tool.error) != 0 ||
	    (gt_level_timed(&settings) && gt_timed_check(&config, ~UINT64_C(0), &tool.error) != 0))
		tool_usage_error(&tool, settings.name);
	char *said = gt_level_said(&settings, gt_reader_gpu(tool.in), gt_reader_kernel(tool.in), &tool.error);
	tool_must(&tool, said ? 0 : -1);
	if (!run->said || strcmp(said, run->said) != 0)
		open_level(run, &config);
	free(run->said);
	run->said = said;
	if (run->timed) {
		tool_must(&tool, gt_timed_window(run->timed, &kernel->prefers.window, &tool.error));
		gt_timed_begin(run->timed);
	} else {
		gt_level_begin(run->level);
		gt_level_window(run->level, &kernel->prefers.window);
	}
	tool_must(&tool, gt_intake_begin(&run->intake, gt_reader_gpu(tool.in), &tool.error));
	warm(run);
	return true;
}

static bool take_count(void *context, const struct gt_count *count)
{
	struct run *run = context;

	tool_must(&tool, gt_warming_note(&run->warming, count, &tool.error));
	warm(run);
	return true;
}

/* A table of all options, from those of parameters and roles. */
static const struct option *all_options(void)
{
	static const struct option rest[] = {
		{"private", no_argument, NULL, PRIVATE},
		{"shared", no_argument, NULL, SHARED},
		{"memory", required_argument, NULL, 'S'},
		{"temporary", required_argument, NULL, 'T'},
		TOOL_OPTIONS,
	};
	static struct option options[GT_PARAMETERS + 16];
	size_t n = 0;

	for (int id = 0; id < GT_PARAMETERS; id++)
		options[n++] = (struct option){gt_parameters[id].name, required_argument, NULL, PARAMETER + id};
	for (size_t i = 0; i < gt_roles_n; i++)
		options[n++] = (struct option){gt_roles[i].option, gt_roles[i].name ? no_argument : required_argument,
					       NULL, ROLE + (int)i};
	memcpy(options + n, rest, sizeof rest);
	return options;
}

static void set(enum gt_parameter_id id, const char *text)
{
	char option[32];

	snprintf(option, sizeof option, "--%s", gt_parameters[id].name);
	if (gt_level_set(&settings, id, text, &tool.error) != 0)
		tool_usage_error(&tool, option);
}

/* What descriptions call the L1 and L2 TLB. */
static const char *tlb_name(const char *name)
{
	return strcmp(name, "l1") == 0 ? "l1tlb" : strcmp(name, "l2") == 0 ? "l2tlb" : name;
}

/* The role --name chooses a level's name, and is what it is if no other role is given. */
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

/* Returns what the level holds when a kernel begins. */
static enum gt_warm read_options(void)
{
	const struct option *options = all_options();
	uint64_t given = 0;
	int option;

	settings.directory = getenv("TMPDIR");
	if (settings.directory && !*settings.directory)
		settings.directory = NULL;
	while ((option = tool_option(&tool, "vS:T:", options)) != -1) {
		if (option == PRIVATE || option == SHARED)
			set(GT_LEVEL_SCOPE, option == PRIVATE ? "private" : "shared");
		else if (option == 'S')
			set_memory(optarg);
		else if (option == 'T')
			settings.directory = optarg;
		else if (option >= ROLE)
			set_role(&gt_roles[option - ROLE]);
		else
			set((enum gt_parameter_id)(option - PARAMETER), optarg);
	}
	if (!settings.role)
		tool_usage(&tool, "expected a level: --l1, --l2, --texture, --readonly, --tlb NAME, --window or --name NAME");
	if (settings.name[0] == '\0')
		snprintf(settings.name, sizeof settings.name, "%s", settings.role->name);
	for (int id = 0; id < GT_PARAMETERS; id++)
		given |= settings.option[id] ? UINT64_C(1) << id : 0;
	if (settings.option[GT_LEVEL_SETS] && (settings.option[GT_LEVEL_SIZE] || settings.option[GT_LEVEL_WAYS]))
		tool_usage(&tool, "--sets says the ways of each set: leave out --size and --ways");
	static struct gt_level_config config;
	if (gt_level_resolve(&settings, NULL, NULL, &config, &tool.error) != 0 ||
	    gt_level_check(&config, given, &tool.error) != 0 ||
	    (gt_level_timed(&settings) && gt_timed_check(&config, given, &tool.error) != 0))
		tool_usage_error(&tool, settings.name);
	return config.warm;
}

int main(int argc, char **argv)
{
	static struct run run;
	const struct tool_filter filter = {
		.kernel = begin_kernel, .rows = take_rows, .count = take_count, .end = end_kernel, .context = &run};

	tool_begin(&tool, "gcache", help(), argc, argv);
	run.warming.from = read_options();
	tool_must(&tool, gt_intake_open(&run.intake, take_requests, &run, &tool.error));
	tool_read(&tool);
	tool_write(&tool);
	tool_run(&tool, &filter);
	tool_end(&tool);
	close_level(&run);
	free(run.said);
	gt_warming_clear(&run.warming);
	gt_intake_close(&run.intake);
	return 0;
}
