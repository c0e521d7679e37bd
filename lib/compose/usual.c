/* SPDX-License-Identifier: MIT */
/* The usual pipe of a source. A name on the command line is a program, a trace or a stream (the origin), which decides the
 * first command; the stages follow in the order of a table, and a stream gets those that its history does not name. */
/* For realpath. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/installed.h"
#include "compose/usual.h"
#include "stream/history.h"

/* ---- what a pipe begins with ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), length = strlen(end);

	return n > length && strcmp(name + n - length, end) == 0;
}

/* What people give in place of a program. */
static int check_name(const char *name, struct gt_error *error)
{
	if (ends_with(name, ".cpp") || ends_with(name, ".cc") || ends_with(name, ".c"))
		return gt_fail(error, "%s: expected a program: make one of it with nvcc -g -lineinfo -cudart shared (-x cu: it has kernels)", name);
	if (ends_with(name, ".ptx"))
		return gt_fail(error, "%s: a kernel needs a launch: gtrace-ptx --launch 'KERNEL<<<GRID, BLOCK>>>(...)' %s >stream, "
				      "then give the stream", name, name);
	return 0;
}

static int fail_pipe(const char *name, struct gt_error *error)
{
	return gt_fail(error, "%s: expected a file: a pipe is read by the first filter of those that gtrace run -n FILE prints", name);
}

static int open_file(struct gt_origin *origin, const struct stat *status, struct gt_error *error)
{
	char head[8] = "";

	if (S_ISDIR(status->st_mode)) {
		origin->kind = GT_ORIGIN_TRACE;
		return 0;
	}
	if (!S_ISREG(status->st_mode))
		return fail_pipe(origin->path, error);
	origin->descriptor = open(origin->path, O_RDONLY | O_CLOEXEC);
	if (origin->descriptor < 0)
		return gt_fail_errno(error, "%s", origin->path);
	ssize_t n = pread(origin->descriptor, head, sizeof head, 0);
	if (n < 0)
		return gt_fail_errno(error, "%s", origin->path);
	if (n == 0)
		return gt_fail(error, "%s: empty: expected a program, a trace or a stream", origin->path);
	if (n > 0 && gt_is_stream(head, (size_t)n)) {
		origin->kind = GT_ORIGIN_STREAM;
		origin->reader = gt_reader_open(origin->descriptor, origin->path, NULL, 0, error);
		return origin->reader ? 0 : -1;
	}
	bool program = (n >= 4 && memcmp(head, "\x7f" "ELF", 4) == 0) || (n >= 2 && memcmp(head, "#!", 2) == 0);
	origin->kind = program ? GT_ORIGIN_PROGRAM : GT_ORIGIN_TRACE;
	if (program && access(origin->path, X_OK) != 0)
		return gt_fail_errno(error, "%s", origin->path);
	return 0;
}

int gt_origin_open(struct gt_origin *origin, const char *name, bool dry, void (*show)(const struct gt_pipe *pipe), struct gt_error *error)
{
	char path[4096];
	struct stat status;
	bool exists = stat(name, &status) == 0;

	*origin = (struct gt_origin){.descriptor = -1};
	if (exists && check_name(name, error) != 0)
		return -1;
	if ((size_t)snprintf(origin->path, sizeof origin->path, "%s%s", exists && *name == '-' ? "./" : "", name) >= sizeof origin->path)
		return gt_fail(error, "expected a shorter name");
	if (!exists && gt_child_find(name, path, sizeof path)) {
		origin->kind = GT_ORIGIN_PROGRAM;
		return 0;
	}
	if (!exists)
		return strcmp(name, "-") == 0 ? fail_pipe(name, error) : gt_fail_errno(error, "%s", name);
	if (S_ISREG(status.st_mode) && ends_with(name, ".cu"))
		return gt_origin_compile(origin, name, dry, show, error);
	if (open_file(origin, &status, error) != 0) {
		gt_origin_close(origin);
		return -1;
	}
	if (origin->kind == GT_ORIGIN_PROGRAM && !strchr(name, '/'))
		snprintf(origin->path, sizeof origin->path, "./%.*s", (int)sizeof origin->path - 3, name);
	return 0;
}

void gt_origin_close(struct gt_origin *origin)
{
	gt_reader_close(origin->reader);
	if (origin->descriptor >= 0)
		close(origin->descriptor);
	*origin = (struct gt_origin){.descriptor = -1};
}

/* ---- its stages ---- */

static const struct {
	const char *words;  /* the command */
	const char *tool;   /* how a history names it */
	const char *option; /* which tells it from others of that tool, or NULL */
	bool takes_gpu;
	const char *sites[3]; /* the options with which it counts by instruction and array; NULL: none */
} stages[GT_USUAL_STAGES] = {
	[GT_USUAL_COALESCE] = {"gcoalesce", "gcoalesce", NULL, true, {"--by", "site", NULL}},
	[GT_USUAL_SCHEDULE] = {"gschedule", "gschedule", NULL, true, {NULL, NULL, NULL}},
	[GT_USUAL_L1] = {"gcache --l1", "gcache", "--l1", false, {"--by", "site", "--causes"}},
	[GT_USUAL_L2] = {"gcache --l2", "gcache", "--l2", false, {"--by", "site", "--causes"}},
	[GT_USUAL_DRAM] = {"gdram", "gdram", NULL, false, {NULL, NULL, NULL}},
};

enum gt_usual_stage gt_usual_next(const struct gt_origin *origin)
{
	enum gt_usual_stage stage = GT_USUAL_STAGES;

	if (origin->kind != GT_ORIGIN_STREAM)
		return GT_USUAL_COALESCE;
	while (stage > GT_USUAL_COALESCE &&
	       !gt_history_find(gt_reader_history(origin->reader), stages[stage - 1].tool, stages[stage - 1].option))
		stage--;
	return stage;
}

/* Whether the stream has a GPU description; gcoalesce takes one and does not write it. */
static bool has_gpu(const struct gt_origin *origin)
{
	static const char *const writers[] = {"gtrace-record", "gtrace-ptx", "gschedule"};

	for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
		if (gt_history_find(gt_reader_history(origin->reader), writers[i], "--gpu"))
			return true;
	return false;
}

/* The GPU that stages must be given, or NULL: then the stream has it. */
static const char *gpu_to_give(const struct gt_origin *origin, const struct gt_usual *usual)
{
	if (origin->kind == GT_ORIGIN_PROGRAM || (origin->kind == GT_ORIGIN_STREAM && !usual->gpu && has_gpu(origin)))
		return NULL;
	return usual->gpu ? usual->gpu : GT_USUAL_GPU;
}

int gt_usual_command(struct gt_pipe *pipe, const struct gt_usual *usual, const char *words, struct gt_error *error)
{
	if (gt_pipe_command(pipe, words, error) != 0)
		return -1;
	if (usual->verbose && pipe->commands == 1 && gt_pipe_word(pipe, "--verbose", error) != 0)
		return -1;
	return usual->quiet ? gt_pipe_word(pipe, "--quiet", error) : 0;
}

int gt_usual_stage_command(struct gt_pipe *pipe, const struct gt_usual *usual, enum gt_usual_stage stage, struct gt_error *error)
{
	if (gt_usual_command(pipe, usual, stages[stage].words, error) != 0)
		return -1;
	return usual->keep_l2 && stage == GT_USUAL_L2 ? gt_pipe_option(pipe, "--flush", "never", error) : 0;
}

/* A stream has its launches already. An L2 that keeps its lines is to see them all. */
static bool source_chooses(const struct gt_origin *origin, const struct gt_usual *usual)
{
	return origin->kind != GT_ORIGIN_STREAM && !usual->keep_l2;
}

const char *gt_usual_kernel(const struct gt_origin *origin, const struct gt_usual *usual)
{
	return source_chooses(origin, usual) ? NULL : usual->kernel;
}

int gt_usual_origin(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual, struct gt_error *error)
{
	bool program = origin->kind == GT_ORIGIN_PROGRAM;

	if (origin->kind == GT_ORIGIN_STREAM)
		return 0;
	if (gt_usual_command(pipe, usual, program ? "gtrace-record" : "gtrace-order", error) != 0 ||
	    (program && gt_pipe_option(pipe, "--gpu", usual->gpu ? usual->gpu : GT_USUAL_GPU, error) != 0) ||
	    gt_pipe_option(pipe, "--space", program && usual->launches_only ? "none" : NULL, error) != 0 ||
	    (source_chooses(origin, usual) && gt_pipe_option(pipe, "--kernel", usual->kernel, error) != 0) ||
	    (program && usual->sites && gt_pipe_option(pipe, "--space", "global,local,shared,constant", error) != 0))
		return -1;
	for (const char *const *stub = usual->stubs; *stub; stub++)
		if (gt_pipe_option(pipe, "--stub", *stub, error) != 0)
			return -1;
	if (gt_pipe_word(pipe, origin->path, error) != 0)
		return -1;
	for (char *const *operand = usual->operands + 1; *operand; operand++)
		if (gt_pipe_word(pipe, *operand, error) != 0)
			return -1;
	return 0;
}

int gt_usual_stages(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual,
		    enum gt_usual_stage first, enum gt_usual_stage end, struct gt_error *error)
{
	for (enum gt_usual_stage stage = first; stage < end; stage++) {
		if (gt_usual_stage_command(pipe, usual, stage, error) != 0 ||
		    (stages[stage].takes_gpu && gt_pipe_option(pipe, "--gpu", gpu_to_give(origin, usual), error) != 0))
			return -1;
		for (size_t i = 0; i < 3 && usual->sites && stages[stage].sites[i]; i++)
			if (gt_pipe_word(pipe, stages[stage].sites[i], error) != 0)
				return -1;
		if (stage == GT_USUAL_COALESCE && usual->sample &&
		    (gt_usual_command(pipe, usual, "gsample", error) != 0 || gt_pipe_option(pipe, "--tolerance", usual->sample, error) != 0))
			return -1;
	}
	return 0;
}

/* ---- processors ---- */

/* What a command costs: percent of the processor time of the usual pipe of a program, median of six programs (docs/speed.md). A trace costs
 * more than a program where nothing counts by site. Commands that are not here cost next to nothing. */
static const struct cost {
	const char *tool, *option; /* the option tells it from others of that tool; NULL: all are alike */
	unsigned plain, sites;	   /* where it counts alone, and where the stages count by site and find causes */
	bool threads, site_threads; /* whether it takes -j, and the threads have something to do */
} costs[] = {
	{"gtrace-record", NULL, 33, 17, true, true}, {"gtrace-order", NULL, 62, 17, true, true},
	{"gcoalesce", NULL, 10, 10, true, false}, {"gschedule", NULL, 11, 6, false, false},
	{"gcache", "--l1", 18, 32, true, false}, {"gcache", "--l2", 26, 35, true, false},
};

/* Whether a command, which a NULL ends, has that word. */
static bool has_word(char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/* NULL: it costs next to nothing. */
static const struct cost *cost_of(char *const *words)
{
	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
		if (strcmp(costs[i].tool, *words) == 0 && (!costs[i].option || has_word(words, costs[i].option)))
			return &costs[i];
	return NULL;
}

/* Where the command after this one begins. */
static char **next_command(char **words)
{
	while (*words)
		words++;
	return words + 1;
}

static unsigned cost_in(const struct gt_usual *usual, char *const *words)
{
	const struct cost *cost = cost_of(words);

	return !cost ? 0 : usual->sites ? cost->sites : cost->plain;
}

/* The share of a command in all processors, rounded up: threads that have nothing to do take none. */
static unsigned jobs_of(const struct gt_usual *usual, char *const *words, unsigned sum)
{
	const struct cost *cost = cost_of(words);

	if (!cost || !(usual->sites ? cost->site_threads : cost->threads))
		return 1;
	return (cost_in(usual, words) * usual->jobs + sum - 1) / sum;
}

/* Appends a copy of a command, with -j behind its name if it is to run in several threads. */
static int copy_command(struct gt_pipe *to, char *const *words, unsigned jobs, struct gt_error *error)
{
	char number[16];

	snprintf(number, sizeof number, "%u", jobs);
	if (gt_pipe_command(to, *words, error) != 0 || gt_pipe_option(to, "-j", jobs > 1 ? number : NULL, error) != 0)
		return -1;
	while (*++words)
		if (gt_pipe_word(to, *words, error) != 0)
			return -1;
	return 0;
}

int gt_usual_divide(struct gt_pipe *pipe, const struct gt_usual *usual, struct gt_error *error)
{
	struct gt_pipe divided = {.from = pipe->from, .into = pipe->into, .apart = pipe->apart};
	unsigned sum = 0;
	int result = 0;

	if (usual->jobs <= 1 || pipe->n == 0)
		return 0;
	char **end = pipe->words + pipe->n;
	for (char **words = pipe->words; words < end; words = next_command(words))
		sum += cost_in(usual, words);
	for (char **words = pipe->words; words < end && result == 0; words = next_command(words))
		result = copy_command(&divided, words, jobs_of(usual, words, sum), error);
	if (result != 0) {
		gt_pipe_clear(&divided);
		return -1;
	}
	gt_pipe_clear(pipe);
	*pipe = divided;
	return 0;
}

/* ---- a sweep ---- */

/* The makefile: in the clone of this program, in the folder it is installed in, or where it was to be installed. */
static char *find_sweep(struct gt_error *error)
{
	static const char *const places[] = {"../pipelines/sweep.mk", "../share/gtrace/pipelines/sweep.mk"};
	char self[GT_PROGRAM_FOLDER], path[2 * GT_PROGRAM_FOLDER];
	char *found = NULL;

	gt_program_folder(self);
	for (size_t i = 0; *self && !found && i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/%s", self, places[i]);
		found = realpath(path, NULL);
	}
	snprintf(path, sizeof path, "%s/pipelines/sweep.mk", gt_datadir);
	if (!found && !(found = realpath(path, NULL)))
		gt_fail_errno(error, "%s", path);
	return found;
}

static bool is_variable(const char *word)
{
	static const char *const names[] = {"JOBS", "ENGINE", "HOSTS", "SSH", "SBATCH", "RESULTS", "CSV"};
	size_t length = strcspn(word, "=");
	bool known = false;

	for (size_t i = 0; word[length] && i < sizeof names / sizeof *names; i++)
		known |= strlen(names[i]) == length && strncmp(word, names[i], length) == 0;
	return known;
}

/* Appends a file to the list that make reads, in which blanks separate. */
static int add_sweep_file(char *list, size_t room, const char *file, struct gt_error *error)
{
	size_t used = strlen(list);
	struct stat status;

	if (stat(file, &status) != 0 || !S_ISREG(status.st_mode))
		return gt_fail(error, "'%s': expected a sweep file, or JOBS=, ENGINE=, HOSTS=, SSH=, SBATCH=, RESULTS= or CSV=", file);
	if (file[strcspn(file, " \t\n$#'\"\\")])
		return gt_fail(error, "'%s': make cannot read a file of that name: expected letters, digits and signs without blanks", file);
	if ((size_t)snprintf(list + used, room - used, used > 6 ? " %s" : "%s", file) >= room - used)
		return gt_fail(error, "expected fewer sweep files");
	return 0;
}

int gt_sweep_pipe(struct gt_pipe *pipe, char *const *operands, struct gt_error *error)
{
	char list[8192] = "SWEEP=";
	char *makefile = find_sweep(error);

	if (!makefile)
		return -1;
	int result = gt_pipe_command(pipe, "make -s -f", error) != 0 || gt_pipe_word(pipe, makefile, error) != 0 ? -1 : 0;
	for (char *const *operand = operands; *operand && result == 0; operand++)
		result = is_variable(*operand) ? gt_pipe_word(pipe, *operand, error) : add_sweep_file(list, sizeof list, *operand, error);
	if (result == 0 && !list[6])
		result = gt_fail(error, "expected a sweep file");
	if (result == 0)
		result = gt_pipe_word(pipe, list, error);
	free(makefile);
	return result;
}
