/* SPDX-License-Identifier: MIT */
/* gtrace: composes the other tools into the usual pipes, and shows them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compose/tasks.h"
#include "compose/usual.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/options.h"
#include "gpu/describe.h"
#include "gpu/gpu.h"
#include "report/compare/runs.h"
#include "report/page/page.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gtrace run [OPTION...] PROGRAM|TRACE|STREAM [ARGUMENT...]\n"
		 "       gtrace report [--output DIR] [--force] [OPTION...] PROGRAM|TRACE|STREAM [ARGUMENT...]\n"
		 "       gtrace lines [--callgrind FILE] [OPTION...] PROGRAM|TRACE|STREAM [ARGUMENT...]\n"
		 "       gtrace sizes [--csv] [OPTION...] PROGRAM|TRACE|STREAM [ARGUMENT...]\n"
		 "       gtrace kernels [--csv] [OPTION...] PROGRAM|TRACE|STREAM [ARGUMENT...]\n"
		 "       gtrace compare [--as A,B] [--csv | --json] [--all] [--page DIR] [OPTION...] A B [-- ARGUMENT...]\n"
		 "       gtrace compare --gpu GPU,GPU [OPTION...] A [-- ARGUMENT...]\n"
		 "       gtrace sweep FILE... [NAME=VALUE...]\n"
		 "       gtrace gpu new NAME [--from GPU]\n"
		 "       gtrace gpu from-accelsim CONFIG [--from GPU]\n"
		 "       gtrace help [TASK|FILTER]\n"
		 "       gtrace FILTER [ARGUMENT...]\n"
		 "Composes the filters of gtrace into a pipe, prints it on standard error, and runs it.\n"
		 "\n"
		 "  run                what costs a CUDA program most: findings, without a GPU; of a trace; or of a "
		 "stream, by the stages that it has not passed\n"
		 "  report             the same as a page, with all counters\n"
		 "  lines              the source with what each line accesses, hits and misses\n"
		 "  sizes              the hits with other sizes of L1 and L2\n"
		 "  kernels            the launches of a program, by name and shape; nothing is traced\n"
		 "  compare            what changed from A to B, programs, traces, streams, or what gstats --csv wrote; or of A from one GPU to another\n"
		 "  sweep              a table of many designs, which a file describes (gtrace help sweep)\n"
		 "  gpu new            a description of another GPU, a file NAME to fill in\n"
		 "  gpu from-accelsim  a description, on standard output, from Accel-Sim's gpgpusim.config\n"
		 "  help               tasks and filters; the commands of a task\n"
		 "  FILTER             runs that filter: gtrace cat is gtrace-cat, gtrace cache is gcache\n",
	.verbose = "progress of the first stage on standard error",
	.notes = "With --quiet the pipe is not printed either.\n",
	.example = "gtrace run examples/traces/gemm.rdgc.xz",
};

/* The commands that run a pipe, and others. */
enum { RUN = 1, REPORT = 2, SIZES = 4, LINES = 8, KERNELS = 16, COMPARE = 32, PIPES = 63, SWEEP = 64, NEW_GPU = 128 };
static const struct {
	const char *name;
	unsigned bit; /* 1, 2, 4, ... */
} commands[] = {{"run", RUN}, {"report", REPORT}, {"sizes", SIZES}, {"lines", LINES}, {"kernels", KERNELS}, {"compare", COMPARE}, {"sweep", SWEEP}, {"gpu", NEW_GPU}};
#define COMMANDS (sizeof commands / sizeof *commands)

enum { GPU = 1, KEEP_L2, KERNEL, STUB, SAMPLE, FORCE, ALL, JSON, CSV, COLOR, CALLGRIND, AS, FROM, PAGE };
static const struct {
	struct tool_row row;
	unsigned commands; /* that have the option */
} options[] = {
	{{"--gpu NAME|FILE", GPU, "the GPU that is modelled, and that the program sees (" GT_USUAL_GPU "; of a stream: its own; compare: one, or A,B)"}, PIPES},
	{{"--keep-l2", KEEP_L2, "L2 keeps its lines from launch to launch (else it is emptied, as profilers do)"}, PIPES & ~KERNELS},
	{{"--kernel RE", KERNEL, "only the launches of kernels whose names RE matches"}, PIPES},
	{{"--stub PLUGIN", STUB, "a program's calls of a library are done on the host: cublas, cufft, curand; once for each (gtrace-record)"}, PIPES},
	{{"--sample PERCENT", SAMPLE, "one launch stands for all whose numbers differ by at most that (gsample)"}, PIPES & ~(SIZES | KERNELS)},
	{{"-o, --output DIR", 'o', "the page is DIR/index.html (gtrace-report)"}, REPORT},
	{{"--force", FORCE, "replace an index.html that is no page of gtrace"}, REPORT | COMPARE},
	{{"--as A,B", AS, "the names of the two sides, such as before,after"}, COMPARE},
	{{"--page DIR", PAGE, "also write a page, DIR/index.html"}, COMPARE},
	{{"--all", ALL, "all kernels, findings of any gain; run: the counters of all stages, too"}, RUN | COMPARE},
	{{"--json", JSON, "JSON; gtrace-findings(7) has the schemas"}, RUN | COMPARE},
	{{"--color WHEN", COLOR, "auto (default: on a terminal, unless NO_COLOR is set), always or never"}, RUN | LINES | COMPARE},
	{{"--callgrind FILE", CALLGRIND, "write the counts by source line for cg_annotate, and print nothing"}, LINES},
	{{"--from GPU", FROM, "the description whose values it begins with (that of the nearest name), or that has what is in no configuration (titanv)"}, NEW_GPU},
	{{"--csv", CSV, "comma-separated values"}, PIPES & ~REPORT},
	{{"-j, --jobs N", 'j', "divide N processors among the stages (1; 0: all); the output is the same"}, PIPES},
	{{"-n, --dry-run", 'n', "print the pipe, and run nothing; of a sweep, how many points and runs it has"}, (PIPES & ~SIZES) | SWEEP},
};
#define OPTIONS (sizeof options / sizeof *options)

struct settings {
	struct tool tool;
	struct gt_usual usual;
	struct gt_origin origin;
	const char *command, *output, *color, *callgrind, *from, *page, *sides[2];
	bool csv, json, all, dry, force;
};

static bool quiet; /* for show, which the library calls */

static void show_as(const struct gt_pipe *pipe, const char *comment)
{
	if (quiet)
		return;
	fputs("gtrace: ", stderr);
	gt_pipe_write(pipe, stderr);
	fprintf(stderr, comment ? "  # %s\n" : "\n", comment);
}

static void show(const struct gt_pipe *pipe)
{
	show_as(pipe, NULL);
}

/* The filters beside this program are found first. */
static void set_path(struct tool *tool)
{
	const char *path = getenv("PATH");
	char self[GT_PROGRAM_FOLDER], both[32768];

	gt_program_folder(self);
	if (!*self)
		return;
	if ((size_t)snprintf(both, sizeof both, "%s:%s", self, path ? path : "/usr/bin:/bin") >= sizeof both)
		tool_must(tool, gt_fail(&tool->error, "PATH: expected at most %zu bytes", sizeof both - sizeof self));
	if (setenv("PATH", both, 1) != 0)
		tool_must(tool, gt_fail_memory(&tool->error, "the environment"));
}

/* ---- help ---- */

static void print_tasks(void)
{
	puts("gtrace run ./program     what costs a CUDA program most, without a GPU\n"
	     "gtrace report ./program  the same as a page\n"
	     "gtrace lines ./program   the source with what each line accesses and misses\n"
	     "gtrace sizes ./program   the hits with other sizes of L1 and L2\n"
	     "gtrace kernels ./program its launches, by name and shape\n"
	     "gtrace compare ./a ./b   what changed from one to the other\n"
	     "gtrace sweep FILE        a table of many designs\n"
	     "\nTasks (gtrace help TASK):");
	for (size_t i = 0; i < gt_tasks_n; i++)
		printf("  %-14s %s\n", gt_tasks[i].name, gt_tasks[i].question);
	puts("\nFilters (gtrace help FILTER):");
	for (size_t i = 0; i < gt_filters_n; i++)
		printf("  %-14s %s\n", gt_filters[i].name, gt_filters[i].summary);
}

static _Noreturn void run_filter(struct tool *tool, const char *filter, char **argv)
{
	argv[0] = (char *)filter;
	execvp(filter, argv);
	gt_fail_errno(&tool->error, "%s", filter);
	tool_fail(tool);
}

/* 0: it is no command. */
static unsigned bit_of(const char *word)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, word) == 0)
			return commands[i].bit;
	return 0;
}

/* A task is no command: it stands behind help, as all does there that help explains. */
static _Noreturn void fail_unknown(const struct tool *tool, const char *word, const char *expected, bool in_help)
{
	const char *near = gt_task_near(word);

	bool file = access(word, F_OK) == 0 && !in_help && !gt_task_find(word);

	if (near && !file && (in_help || (gt_task_find(near) && !bit_of(near))))
		tool_usage(tool, "'%s': expected %s: did you mean 'gtrace help %s'?", word, expected, near);
	if (file)
		tool_usage(tool, "'%s': expected %s: did you mean 'gtrace run %s'?", word, expected, word);
	if (near)
		tool_usage(tool, "'%s': expected %s: did you mean 'gtrace %s'?", word, expected, near);
	tool_usage(tool, "'%s': expected %s", word, expected);
}

static int help(struct tool *tool, const char *word)
{
	const struct gt_task *task = word ? gt_task_find(word) : NULL;
	const char *filter = word && !task ? gt_filter_find(word) : NULL;

	if (filter || (word && !task && (bit_of(word) || strcmp(word, "help") == 0)))
		run_filter(tool, filter ? filter : "gtrace", (char *[]){NULL, "--help", NULL});
	if (word && !task)
		fail_unknown(tool, word, "a task or a filter (gtrace help lists them)", true);
	if (task) {
		puts(task->question);
		tool_print(task->text);
	} else {
		print_tasks();
	}
	tool_end(tool);
	return 0;
}

/* ---- options ---- */

static bool is(const struct settings *settings, unsigned command)
{
	return (bit_of(settings->command) & command) != 0;
}

/* Names commands, with `last` before the last of several. Returns how many. */
static size_t name_commands(unsigned bits, const char *last, char *names, size_t size)
{
	size_t length = 0, n = 0;

	names[0] = '\0';
	for (size_t i = 0; i < COMMANDS; i++)
		if (bits & commands[i].bit) {
			const char *between = n++ == 0 ? "" : bits >> i == 1 ? last : ", ";
			length += (size_t)snprintf(names + length, size - length, "%s%s", between, commands[i].name);
		}
	return n;
}

/* The options as --help shows them: which commands have them, or which that run a pipe do not, whichever are fewer. */
static const struct tool_row *option_rows(void)
{
	static struct tool_row rows[OPTIONS + 1];
	static char texts[OPTIONS][256];
	char with[64], without[64];

	for (size_t i = 0; i < OPTIONS; i++) {
		const char *text = options[i].row.text;
		size_t n = name_commands(options[i].commands, ", ", with, sizeof with);
		size_t lack = name_commands(PIPES & ~options[i].commands, ", ", without, sizeof without);

		if (lack == 0)
			snprintf(texts[i], sizeof texts[i], "%s", text);
		else if (n > lack)
			snprintf(texts[i], sizeof texts[i], "%s; not with %s", text, without);
		else
			snprintf(texts[i], sizeof texts[i], "%s: %s", with, text);
		rows[i] = (struct tool_row){options[i].row.option, options[i].row.value, texts[i]};
	}
	rows[OPTIONS] = (struct tool_row)TOOL_END;
	return rows;
}

static void check_option(const struct settings *settings, int option)
{
	char expected[64];

	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].row.value == option && !(options[i].commands & bit_of(settings->command))) {
			const char *name = strstr(options[i].row.option, "--");
			name_commands(options[i].commands, " or ", expected, sizeof expected);
			tool_usage(&settings->tool, "%.*s: expected %s", (int)strcspn(name, " "), name, expected);
		}
}

#define FROM_ACCELSIM "from-accelsim"

static void check_new(const struct settings *settings)
{
	const struct tool *tool = &settings->tool;
	const char *word = optind < tool->argc ? tool->argv[optind] : NULL;

	if (!word || (strcmp(word, "new") != 0 && strcmp(word, FROM_ACCELSIM) != 0))
		tool_usage(tool, "'%s': expected gtrace gpu new NAME or gtrace gpu " FROM_ACCELSIM " CONFIG: did you mean 'gtrace help gpu'?", word ? word : "gpu");
	if (optind + 2 != tool->argc)
		tool_usage(tool, strcmp(word, "new") == 0 ? "gpu new: expected one name" : "gpu " FROM_ACCELSIM ": expected one file, gpgpusim.config");
}

static void check(struct settings *settings)
{
	struct tool *tool = &settings->tool;

	if (settings->csv && (settings->all || settings->json || settings->color))
		tool_usage(tool, "--csv: expected it without --all, --json and --color");
	if (settings->usual.sample && (gt_parse_real(settings->usual.sample, 0, 100, &(double){0}, &tool->error) != 0))
		tool_usage_error(tool, "--sample");
	if (settings->usual.sample && settings->usual.keep_l2)
		tool_usage(tool, "--keep-l2: expected it without --sample: L2 would keep nothing of the launches that are left out");
	if (settings->json && settings->color)
		tool_usage(tool, "--color: expected it without --json");
	if (settings->force && is(settings, COMPARE) && !settings->page)
		tool_usage(tool, "--force: expected --page, too");
	if (settings->callgrind && (settings->csv || settings->color))
		tool_usage(tool, "--callgrind: expected it without --csv and --color: it writes a file");
	tool_is_coloured(tool, settings->color, stdout);
	if (optind == tool->argc)
		tool_usage(tool, is(settings, SWEEP) ? "expected a sweep file (gtrace help sweep)" : "expected a program, a trace or a stream");
}

/* Before several stages say what is wrong with it. */
static void check_gpu(struct settings *settings)
{
	struct gt_gpu gpu;
	struct stat status;

	if (!settings->usual.gpu)
		return;
	if (stat(settings->usual.gpu, &status) == 0 && S_ISFIFO(status.st_mode))
		tool_usage(&settings->tool, "--gpu: %s: expected a file, which several stages read, found a pipe", settings->usual.gpu);
	if (gt_gpu_load(&gpu, settings->usual.gpu, &settings->tool.error) != 0)
		tool_usage_error(&settings->tool, "--gpu");
	gt_gpu_clear(&gpu);
}

/* "A,B", in place. */
static void set_sides(struct settings *settings, char *names)
{
	char *comma = strchr(names, ',');

	if (!comma || comma == names || !comma[1] || strchr(comma + 1, ','))
		tool_usage(&settings->tool, "--as '%s': expected two names, such as before,after", names);
	*comma = '\0';
	settings->sides[0] = names;
	settings->sides[1] = comma + 1;
	for (int side = 0; side < 2; side++)
		if (strlen(settings->sides[side]) > GT_RUN_NAME)
			tool_usage(&settings->tool, "--as: '%s': expected a name of at most %d bytes", settings->sides[side], GT_RUN_NAME);
}

static void add_stub(struct settings *settings, const char *name)
{
	size_t n = 0;

	while (settings->usual.stubs[n])
		n++;
	if (n == GT_USUAL_STUBS)
		tool_usage(&settings->tool, "--stub: expected at most %d plug-ins", GT_USUAL_STUBS);
	settings->usual.stubs[n] = name;
}

static void parse(struct settings *settings)
{
	const struct tool_row *rows = option_rows();
	struct tool *tool = &settings->tool;

	tool->takes_program = !is(settings, NEW_GPU);
	tool->jobs = 0; /* none are given */
	for (int c; (c = tool_option(tool, rows)) != -1;) {
		check_option(settings, c);
		switch (c) {
		case GPU: settings->usual.gpu = optarg; break;
		case FROM: settings->from = optarg; break;
		case KEEP_L2: settings->usual.keep_l2 = true; break;
		case KERNEL: settings->usual.kernel = optarg; break;
		case STUB: add_stub(settings, optarg); break;
		case SAMPLE: settings->usual.sample = optarg; break;
		case AS: set_sides(settings, optarg); break;
		case PAGE: settings->page = optarg; break;
		case ALL: settings->all = true; break;
		case JSON: settings->json = true; break;
		case COLOR: settings->color = optarg; break;
		case CALLGRIND: settings->callgrind = optarg; break;
		case CSV: settings->csv = true; break;
		case FORCE: settings->force = true; break;
		case 'o': settings->output = optarg; break;
		case 'n': settings->dry = true; break;
		}
	}
	if (tool->jobs > 0)
		check_option(settings, 'j');
	if (is(settings, NEW_GPU)) {
		check_new(settings);
		return;
	}
	check(settings);
	if (!is(settings, COMPARE))
		check_gpu(settings);
	settings->usual.verbose = tool->verbose;
	settings->usual.quiet = quiet = tool->quiet;
	settings->usual.jobs = tool->jobs;
	settings->usual.operands = tool->argv + optind;
	settings->usual.sites = is(settings, REPORT | LINES | COMPARE) || (is(settings, RUN) && !settings->csv);
	settings->usual.launches_only = is(settings, KERNELS);
}

/* Options that stand behind the operand. Of a program's, gtrace-record warns of those that it has itself. */
static void check_behind(struct settings *settings)
{
	struct tool_row rows[OPTIONS + 1];
	char *const *operands = settings->usual.operands;
	size_t n = 0;

	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].row.value != GPU && options[i].row.value != KERNEL && options[i].row.value != STUB && options[i].row.value != 'j')
			rows[n++] = options[i].row;
	rows[n] = (struct tool_row)TOOL_END;
	if (settings->origin.kind == GT_ORIGIN_PROGRAM)
		tool_warn_behind(&settings->tool, rows, operands);
	for (operands++; settings->origin.kind == GT_ORIGIN_TRACE && *operands; operands++)
		if ((*operands)[0] == '-' && (*operands)[1])
			tool_usage(&settings->tool, "'%s': expected options before the trace", *operands);
}

static void open_origin(struct settings *settings)
{
	char *const *operands = settings->usual.operands;
	struct tool *tool = &settings->tool;

	tool_must(tool, gt_origin_open(&settings->origin, operands[0], settings->dry, show, &tool->error));
	check_behind(settings);
	if (settings->usual.stubs[0] && settings->origin.kind != GT_ORIGIN_PROGRAM)
		tool_usage(tool, "--stub: expected a program: %s was traced already", operands[0]);
	if (settings->origin.kind != GT_ORIGIN_STREAM)
		return;
	if (operands[1])
		tool_usage(tool, "'%s': expected one stream", operands[1]);
	if (is(settings, KERNELS))
		return;
	if (settings->usual.gpu && gt_usual_next(&settings->origin) > GT_USUAL_SCHEDULE)
		tool_usage(tool, "--gpu: %s has a schedule for its own GPU: leave it out", operands[0]);
	if (settings->usual.keep_l2 && gt_usual_next(&settings->origin) > GT_USUAL_L2)
		tool_usage(tool, "--keep-l2: %s has passed L2", operands[0]);
	if (settings->usual.sample && gt_usual_next(&settings->origin) > GT_USUAL_COALESCE)
		tool_usage(tool, "--sample: %s has passed gcoalesce, behind which launches are chosen", operands[0]);
	if (is(settings, SIZES) && gt_usual_next(&settings->origin) > GT_USUAL_L1)
		tool_usage(tool, "%s has passed a cache: expected a stream from before L1", operands[0]);
}

/* ---- run, report, sizes ---- */

static const char *report_of(const struct settings *settings)
{
	if (is(settings, REPORT) || settings->callgrind)
		return "gstats";
	if (is(settings, LINES))
		return settings->csv ? "gstats --lines --csv" : "gstats --lines";
	return settings->csv ? "gstats --csv" : settings->json && settings->all ? "gstats --findings --json --all" : settings->json ? "gstats --findings --json" :
	       settings->all ? "gstats --findings --all" : "gstats --findings";
}

/* Tells the report what stands behind the command: the options that model, and the program, as a shell takes them. */
static void add_program(struct settings *settings, struct gt_pipe *pipe)
{
	struct gt_pipe program = {0};
	struct tool *tool = &settings->tool;
	char *text;

	tool_must(tool, gt_pipe_command(&program, "", &tool->error));
	tool_must(tool, gt_pipe_option(&program, "--gpu", settings->usual.gpu, &tool->error));
	tool_must(tool, settings->usual.keep_l2 ? gt_pipe_word(&program, "--keep-l2", &tool->error) : 0);
	for (const char *const *stub = settings->usual.stubs; *stub; stub++)
		tool_must(tool, gt_pipe_option(&program, "--stub", *stub, &tool->error));
	tool_must(tool, gt_pipe_word(&program, settings->origin.compiled ? settings->usual.operands[0] : settings->origin.path, &tool->error));
	for (char *const *operand = settings->usual.operands + 1; *operand; operand++)
		tool_must(tool, gt_pipe_word(&program, *operand, &tool->error));
	text = gt_pipe_text(&program, &tool->error);
	tool_must(tool, text ? gt_pipe_option(pipe, "--program", text, &tool->error) : -1);
	free(text);
	gt_pipe_clear(&program);
}

static void make_pipe(struct settings *settings, struct gt_pipe *pipe)
{
	const struct gt_origin *origin = &settings->origin;
	struct gt_error *error = &settings->tool.error;
	struct tool *tool = &settings->tool;

	if (origin->kind == GT_ORIGIN_STREAM)
		pipe->from = origin->path;
	tool_must(tool, gt_usual_origin(pipe, origin, &settings->usual, error));
	tool_must(tool, gt_usual_stages(pipe, origin, &settings->usual, gt_usual_next(origin), GT_USUAL_STAGES, error));
	tool_must(tool, gt_usual_command(pipe, &settings->usual, report_of(settings), error));
	if (is(settings, RUN | REPORT) && settings->usual.sites)
		add_program(settings, pipe);
	tool_must(tool, gt_pipe_option(pipe, "--callgrind", settings->callgrind, error));
	tool_must(tool, gt_pipe_option(pipe, "--color", settings->color, error));
	if (is(settings, REPORT))
		tool_must(tool, gt_pipe_option(pipe, "--report", settings->output ? settings->output : "gtrace-report", error));
	if (settings->force)
		tool_must(tool, gt_pipe_word(pipe, "--force", error));
	tool_must(tool, gt_pipe_option(pipe, "--kernel", gt_usual_kernel(origin, &settings->usual), error));
}

/* The launches alone. */
static void make_kernels(struct settings *settings, struct gt_pipe *pipe)
{
	const struct gt_origin *origin = &settings->origin;
	struct gt_error *error = &settings->tool.error;
	struct tool *tool = &settings->tool;

	if (settings->usual.gpu && origin->kind != GT_ORIGIN_PROGRAM)
		tool_usage(tool, "--gpu: expected a program: %s has its launches already", origin->path);
	if (origin->kind == GT_ORIGIN_STREAM)
		pipe->from = origin->path;
	tool_must(tool, gt_usual_origin(pipe, origin, &settings->usual, error));
	tool_must(tool, gt_usual_command(pipe, &settings->usual, settings->csv ? "gstats --kernels --csv" : "gstats --kernels", error));
	tool_must(tool, gt_pipe_option(pipe, "--kernel", gt_usual_kernel(origin, &settings->usual), error));
}

/* A page that gstats makes of a stream has a date only if it is told one; this page is of a run today. */
static void set_date(struct tool *tool)
{
	char now[32];

	snprintf(now, sizeof now, "%lld", (long long)time(NULL));
	if (setenv("SOURCE_DATE_EPOCH", now, 0) != 0)
		tool_must(tool, gt_fail_memory(&tool->error, "the environment"));
}

/* Of a pipe whose last command was ended by a signal. */
static void say_killed(const struct tool *tool, int status)
{
	if (status != 0 && tool->error.text[0])
		tool_say(tool, "%s", tool->error.text);
}

static int run_pipe(struct settings *settings)
{
	struct tool *tool = &settings->tool;
	struct gt_pipe pipe = {0};
	int input = STDIN_FILENO, status = 0;

	(is(settings, KERNELS) ? make_kernels : make_pipe)(settings, &pipe);
	tool_must(tool, gt_usual_divide(&pipe, &settings->usual, &tool->error));
	show(&pipe);
	if (is(settings, REPORT))
		set_date(&settings->tool);
	if (settings->origin.kind == GT_ORIGIN_STREAM) {
		input = settings->origin.descriptor;
		if (lseek(input, 0, SEEK_SET) != 0)
			tool_must(tool, gt_fail_errno(&tool->error, "%s", settings->origin.path));
	}
	if (!settings->dry)
		tool_must(tool, gt_pipe_run(&pipe, input, STDOUT_FILENO, &status, &tool->error));
	say_killed(tool, status);
	gt_pipe_clear(&pipe);
	if (status == 0 && !settings->dry && is(settings, REPORT) && !quiet)
		tool_say(tool, "the page is %s/index.html", settings->output ? settings->output : "gtrace-report");
	return status;
}

static int run_sweep(struct settings *settings)
{
	struct tool *tool = &settings->tool;
	struct gt_pipe pipe = {0};
	int status = 0;

	if (gt_sweep_pipe(&pipe, settings->usual.operands, &tool->error) != 0)
		tool_usage(tool, "%s", tool->error.text);
	show(&pipe);
	if (settings->dry)
		tool_must(tool, gt_pipe_word(&pipe, "sweep-size", &tool->error));
	tool_must(tool, gt_pipe_run(&pipe, STDIN_FILENO, STDOUT_FILENO, &status, &tool->error));
	say_killed(tool, status);
	gt_pipe_clear(&pipe);
	return status;
}

static int run_sizes(struct settings *settings)
{
	const struct gt_sizes sizes = {&settings->origin, &settings->usual, settings->csv, show_as};
	struct tool *tool = &settings->tool;
	int status;

	tool_must(tool, gt_sizes_write(&sizes, stdout, &status, &tool->error));
	say_killed(tool, status);
	if (status == 0)
		tool_end(tool);
	return status;
}

/* ---- compare ---- */

/* Two sides: what is said of both, and each with its own operand and GPU. */
struct sides {
	struct settings side[GT_RUN_SIDES];
	struct gt_run run[GT_RUN_SIDES];
};

/* One GPU for both, or one for each. */
static void set_gpus(struct sides *sides)
{
	struct settings *one = sides->side;
	char *comma = one->usual.gpu && access(one->usual.gpu, R_OK) != 0 ? strchr(one->usual.gpu, ',') : NULL;

	if (comma) {
		*comma = '\0';
		one[GT_RUN_B].usual.gpu = comma + 1;
	}
	check_gpu(&one[GT_RUN_A]);
	check_gpu(&one[GT_RUN_B]);
}

/* "A B", or "A" for two GPUs, and the arguments of programs behind "--". */
static void set_operands(struct sides *sides)
{
	struct settings *one = sides->side;
	struct tool *tool = &one->tool;
	char *const *operands = one->usual.operands;
	bool two_gpus = one[GT_RUN_A].usual.gpu != one[GT_RUN_B].usual.gpu, second = operands[1] && operands[1][0] != '-';
	char *const *rest = operands + 1 + second;

	if (!second && !two_gpus && (!*rest || strcmp(*rest, "--") == 0))
		tool_usage(tool, "compare: expected a second operand, or --gpu with two names, such as a100,h100");
	if (*rest && strcmp(*rest, "--") != 0)
		tool_usage(tool, **rest == '-' ? "'%s': expected options before the operands, and arguments of programs behind --" :
			   "'%s': expected two operands, and arguments of programs behind --", *rest);
	rest += *rest != NULL;
	for (int side = 0; side < GT_RUN_SIDES; side++)
		tool_must(tool, gt_usual_words(operands[second ? side : 0], rest, &one[side].usual.operands, &tool->error));
}

static void name_sides(struct sides *sides)
{
	struct settings *one = sides->side;
	bool two_gpus = one[GT_RUN_A].usual.gpu != one[GT_RUN_B].usual.gpu;
	const char *gpus[GT_RUN_SIDES] = {one[GT_RUN_A].usual.gpu, one[GT_RUN_B].usual.gpu};

	for (int side = 0; side < GT_RUN_SIDES; side++)
		tool_must(&one->tool, gt_usual_text(one[side].usual.operands, sides->run[side].text, sizeof sides->run[side].text, &one->tool.error));
	gt_run_names(sides->run, one->sides[0] ? one->sides : two_gpus ? gpus : NULL);
}

/* What needs no run is said of both sides before either runs. */
static void open_side(struct settings *settings, struct gt_run *run)
{
	struct tool *tool = &settings->tool;
	const char *operand = settings->usual.operands[0], *option = settings->usual.gpu ? "--gpu" : settings->usual.keep_l2 ? "--keep-l2" : settings->usual.stubs[0] ? "--stub" : NULL;

	run->saved = gt_run_is_saved(operand, &tool->error);
	if (!run->saved && tool->error.text[0])
		tool_fail(tool);
	if (!run->saved)
		open_origin(settings);
	else if (option)
		tool_usage(tool, "%s: %s has counts, which stay as they are", option, operand);
	else if (settings->usual.operands[1])
		tool_usage(tool, "'%s': expected a program, since %s has counts", settings->usual.operands[1], operand);
	if (gt_report_begin(&run->report, run->saved ? settings->usual.kernel : gt_usual_kernel(&settings->origin, &settings->usual), &tool->error) != 0)
		tool_usage_error(tool, "--kernel");
}

/* Fills a side. Returns the status of its pipe. */
static int gather(struct settings *settings, struct gt_run *run)
{
	struct tool *tool = &settings->tool;
	int status = 0;

	if (run->saved)
		tool_must(tool, gt_run_read(run, settings->usual.operands[0], &tool->error));
	else
		tool_must(tool, gt_usual_gather(&settings->origin, &settings->usual, settings->dry, show, &run->report, &run->gpu, &status, &tool->error));
	say_killed(tool, status);
	return status;
}

static void write_page(struct settings *settings, const struct gt_runs *runs)
{
	struct tool *tool = &settings->tool;
	struct gt_memory_file text;
	char date[32];

	tool_must(tool, gt_memory_file_open(&text, &tool->error));
	tool_must(tool, gt_page_write_runs(runs, tool_date(tool, date), text.file, &tool->error));
	tool_must(tool, gt_page_save(&text, settings->page, settings->force, &tool->error));
	if (!quiet)
		tool_say(tool, "the page is %s/index.html", settings->page);
}

static void print_runs(struct settings *settings, struct gt_run runs[GT_RUN_SIDES])
{
	struct tool *tool = &settings->tool;
	const struct gt_findings_style style = {NULL, tool_is_coloured(tool, settings->color, stdout), settings->all};
	struct gt_runs both;

	tool_must(tool, gt_runs_compare(&both, &runs[GT_RUN_A], &runs[GT_RUN_B], &tool->error));
	if (settings->csv)
		gt_runs_write_csv(&both, stdout);
	else if (settings->json)
		gt_runs_write_json(&both, &style, stdout);
	else
		gt_runs_write(&both, &style, stdout);
	if (settings->page)
		write_page(settings, &both);
	gt_runs_clear(&both);
	tool_end(tool);
}

static int compare(const struct settings *settings)
{
	static struct sides sides;
	int status = 0;

	for (int side = 0; side < GT_RUN_SIDES; side++)
		sides.side[side] = *settings;
	if (settings->page)
		tool_must(&sides.side->tool, gt_page_check(settings->page, settings->force, &sides.side->tool.error));
	set_gpus(&sides);
	set_operands(&sides);
	name_sides(&sides);
	for (int side = 0; side < GT_RUN_SIDES; side++)
		open_side(&sides.side[side], &sides.run[side]);
	for (int side = 0; side < GT_RUN_SIDES && status == 0; side++)
		status = gather(&sides.side[side], &sides.run[side]);
	if (status == 0 && !settings->dry)
		print_runs(&sides.side[GT_RUN_A], sides.run);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		gt_origin_close(&sides.side[side].origin);
		gt_run_clear(&sides.run[side]);
		gt_usual_words_free(sides.side[side].usual.operands);
	}
	return status;
}

/* ---- gpu new ---- */

/* The new description must be none that exists, here or among those that are found by name. */
static void check_name(struct tool *tool, const char *name)
{
	const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
	struct gt_error unknown;
	char path[4096];

	if (!*file || *file == '.' || *file == '-' || strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != strlen(file))
		tool_usage(tool, "gpu new: '%s': expected a name of letters, digits and _ . -", name);
	if (access(name, F_OK) == 0)
		tool_must(tool, gt_fail(&tool->error, "%s: is there already, and is not replaced", name));
	if (gt_gpu_path(file, path, sizeof path, &unknown) == 0)
		tool_must(tool, gt_fail(&tool->error, "%s: there is a description of that name, %s: expected another", file, path));
}

static int make_gpu(struct settings *settings)
{
	struct tool *tool = &settings->tool;
	const char *name = tool->argv[optind + 1], *slash = strrchr(name, '/'), *from = settings->from;
	struct gt_memory_file memory;
	char nearest[64];
	struct gt_gpu gpu;

	check_name(tool, name);
	if (!from)
		tool_must(tool, gt_gpu_nearest(slash ? slash + 1 : name, nearest, sizeof nearest, &tool->error));
	if (!from)
		from = nearest[0] ? nearest : GT_USUAL_GPU;
	if (gt_gpu_load(&gpu, from, &tool->error) != 0)
		tool_usage_error(tool, "--from");
	tool_must(tool, gt_memory_file_open(&memory, &tool->error));
	gt_describe_new_gpu(&gpu, from, slash ? slash + 1 : name, memory.file);
	tool_must(tool, gt_memory_file_save(&memory, name, "the description", &tool->error));
	if (!tool->quiet)
		tool_say(tool, "%s: %zu values of %s, all still to be replaced or confirmed: gtrace-gpu(5) says where each is found; then --gpu %s%s",
			 name, gpu.n, from, slash ? "" : "./", name);
	gt_gpu_clear(&gpu);
	return 0;
}

/* ---- gpu from-accelsim ---- */

static int take_config(struct settings *settings)
{
	struct tool *tool = &settings->tool;
	const char *path = tool->argv[optind + 1], *from = settings->from ? settings->from : "titanv";
	struct gt_memory_file memory;
	size_t counts[2] = {0, 0}, bytes;
	struct gt_gpu gpu;

	if (gt_gpu_load(&gpu, from, &tool->error) != 0)
		tool_usage_error(tool, "--from");
	tool_must(tool, gt_memory_file_open(&memory, &tool->error));
	tool_must(tool, gt_describe_gpgpusim(path, &gpu, from, memory.file, counts, &tool->error));
	char *text = gt_memory_file_take(&memory, &bytes, "the description", &tool->error);
	tool_must(tool, text ? 0 : -1);
	fwrite(text, 1, bytes, stdout);
	free(text);
	if (!tool->quiet)
		tool_say(tool, "%s: %zu options have a counterpart, %zu have none and are comments of the description", path, counts[0], counts[1]);
	gt_gpu_clear(&gpu);
	tool_end(tool);
	return 0;
}

int main(int argc, char **argv)
{
	static struct settings settings;
	struct tool *tool = &settings.tool;
	const char *command = argc > 1 ? argv[1] : NULL, *filter = command ? gt_filter_find(command) : NULL;

	tool_begin(tool, "gtrace", &about, argc, argv);
	set_path(tool);
	if (filter)
		run_filter(tool, filter, argv + 1);
	if (!command)
		tool_usage(tool, "expected a command: gtrace help lists tasks");
	if (command[0] == '-') { /* --help, --version, or an error */
		settings.command = "run";
		parse(&settings);
		tool_usage(tool, "expected a command before the options (gtrace help)");
	}
	if (strcmp(command, "help") == 0)
		return help(tool, argc > 2 ? argv[2] : NULL);
	if (!bit_of(command))
		fail_unknown(tool, command, "a command or a filter (gtrace help)", false);
	settings.command = command;
	optind = 2;
	parse(&settings);
	if (is(&settings, NEW_GPU))
		return strcmp(argv[optind], "new") == 0 ? make_gpu(&settings) : take_config(&settings);
	if (is(&settings, COMPARE))
		return compare(&settings);
	if (is(&settings, SWEEP))
		return run_sweep(&settings);
	open_origin(&settings);
	int status = is(&settings, SIZES) ? run_sizes(&settings) : run_pipe(&settings);
	gt_origin_close(&settings.origin);
	return status;
}
