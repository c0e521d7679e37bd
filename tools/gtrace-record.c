/* SPDX-License-Identifier: MIT */
/* gtrace-record: runs a CUDA program with gtrace's CUDA runtime, and traces its kernels. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/input.h"
#include "base/installed.h"
#include "base/options.h"
#include "cuda/ptx/record/record.h"
#include "tool.h"
#include "tracing.h"

#define STREAM_DESCRIPTOR 100 /* or above: outside of the descriptors that programs usually open */
#define CANNOT_RUN 127

static const struct tool_about about = {
	.usage = "usage: gtrace-record [OPTION...] PROGRAM [ARGUMENT...]\n"
		 "Runs a CUDA program without a GPU and writes a stream of the accesses of its kernels.\n",
	.verbose = "launches on standard error: the first of a kernel, the second, the fourth and so on",
	.example = "gtrace-record --gpu titanv ./program | gcoalesce | gschedule --gpu titanv | gcache --l1 | gstats",
};

static pid_t child;

/* A terminal sends its signals to the program, too. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill(child, signal_number);
}

/* ---- options ---- */

static void set(struct tool *tool, struct gt_recording *record, const struct gt_tracing_option *option)
{
	if (gt_record_set(record, option, optarg, &tool->error) != 0)
		tool_usage_error(tool, tool->option);
}

static void set_jobs(struct tool *tool, struct gt_recording *record)
{
	char jobs[16];

	snprintf(jobs, sizeof jobs, "%u", tool->jobs);
	tool_must(tool, gt_record_set(record, tracing_option('j'), jobs, &tool->error));
}

static void parse_options(struct tool *tool, struct gt_recording *record, const char **output)
{
	enum { STDOUT = 1 };
	static const struct tool_row last[] = {
		{"--stdout FILE", STDOUT, "where the program's standard output goes (standard error)"}, TOOL_END};
	struct tool_row rows[TRACING_OPTIONS_MAX + sizeof last / sizeof *last];
	int option;

	memcpy(rows + tracing_rows(GT_TRACING_RECORD, rows), last, sizeof last);
	tool->takes_program = true;
	while ((option = tool_option(tool, rows)) != -1) {
		if (option == STDOUT)
			*output = optarg;
		else
			set(tool, record, tracing_option(option));
	}
	if (optind == tool->argc)
		tool_usage(tool, "expected a program to run");
	tool_warn_behind(tool, rows, tool->argv + optind);
	set_jobs(tool, record);
	if (gt_record_check(record, &tool->error) != 0)
		tool_usage(tool, "%s", tool->error.text);
	if (record->tracing.gpu.n == 0 && gt_record_default_gpu(record, &tool->error) != 0)
		tool_usage_error(tool, "--gpu");
	record->verbose = tool->verbose;
	record->quiet = tool->quiet;
	for (int i = 0; i + 1 < tool->argc && i < GT_RECORD_ARGUMENTS; i++)
		record->arguments[i] = tool->argv[i + 1];
}

/* ---- the program's environment ---- */

/* The stream has a descriptor of its own; the program's standard output is redirected. */
static void open_descriptors(struct tool *tool, struct gt_recording *record, int *ours, const char *output)
{
	int ends[2];

	if (isatty(STDOUT_FILENO))
		tool_must(tool, gt_fail(&tool->error, "a stream is binary and is not written to a terminal (gtrace-cat shows it)"));
	record->stream = fcntl(STDOUT_FILENO, F_DUPFD, STREAM_DESCRIPTOR);
	tool->is_filter = false; /* standard output is the program's from here on */
	int to = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666) : dup(STDERR_FILENO);
	if (to < 0 || dup2(to, STDOUT_FILENO) < 0)
		tool_must(tool, gt_fail_errno(&tool->error, "%s", output ? output : "standard error"));
	close(to);
	if (record->stream < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
	record->token = fcntl(ends[1], F_DUPFD, STREAM_DESCRIPTOR);
	*ours = ends[0];
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(record->token, F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	close(ends[1]);
	if (record->token < 0 || write(ends[0], "t", 1) != 1)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
}

/* ---- the program ---- */

/* Why a program cannot be run: a file that is none, or one that needs its folder before it, or what the system says. */
static void say_why(const struct tool *tool, const char *name)
{
	int reason = errno;
	char head[4096];
	FILE *file = reason == ENOENT || reason == EACCES ? fopen(name, "r") : NULL;
	size_t bytes = file ? fread(head, 1, sizeof head, file) : 0;
	bool program = bytes >= 4 && memcmp(head, "\x7f" "ELF", 4) == 0;
	const char *found = program ? NULL : gt_input_nature(head, bytes);

	if (bytes == 0)
		tool_say(tool, "%s: %s", name, strerror(reason));
	else if (access(name, X_OK) == 0)
		tool_say(tool, "%s: expected a program; one in this folder is called ./%s", name, name);
	else
		tool_say(tool, "%s: expected a program, found %s", name, found ? found : "a file that may not be run (chmod +x)");
	if (file)
		fclose(file);
}

static void run(struct tool *tool, char **program)
{
	static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	const pid_t self = getpid();

	sigset_t blocked, before;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaddset(&blocked, passed[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before); /* until there is a program to pass them on to */
	child = fork();
	if (child < 0)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot start a process"));
	if (child == 0) {
		signal(SIGUSR1, SIG_DFL);
		gt_child_tie(self);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(program[0], program);
		say_why(tool, program[0]);
		_exit(CANNOT_RUN);
	}
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaction(passed[i], &action, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* `by`: the signal that ended it, or 0. */
static int wait_for_status(int *by)
{
	int status;

	*by = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFSIGNALED(status))
		*by = WTERMSIG(status);
	return *by ? 128 + *by : WEXITSTATUS(status);
}

/* Tells the next stage of a pipe that there is no stream, so that it does not report this as a second failure. */
static void fail_stream(struct tool *tool, const struct gt_recording *record, const char *text)
{
	struct stat status;
	struct gt_error error;

	if (fstat(record->stream, &status) != 0 || !S_ISFIFO(status.st_mode))
		return;
	struct gt_writer *writer = gt_writer_open(record->stream, NULL, tool->name, gt_version, tool->argv + 1, &error);
	if (writer)
		(void)gt_writer_fail(writer, tool->name, text, &error);
	gt_writer_close(writer);
}

/* A system that runs out of memory kills the process that has most, which cannot say anything itself. A program that looks at no error
 * crashes with what a library did not give it. */
static void say_signal(const struct tool *tool, const struct gt_recording *record, const char *program, int by, bool begun)
{
	const char *what = begun ? "the stream has no end" : "it began no stream";
	char library[GT_TRACING_PATH] = "";
	struct rusage usage;

	if (!record->tracing.stubs && (by == SIGSEGV || by == SIGBUS || by == SIGABRT || by == SIGFPE))
		gt_record_explain_missing(program, library, sizeof library);
	if (by == SIGKILL && getrusage(RUSAGE_CHILDREN, &usage) == 0)
		tool_say(tool, "%s was ended by a signal (%s), having used up to %.1f GB of this machine's %.1f GB of memory: %s", program,
			 strsignal(by), (double)usage.ru_maxrss * 1024 / 1e9,
			 (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9, what);
	else
		tool_say(tool, "%s was ended by a signal (%s): %s%s%s", program, strsignal(by), what, library[0] ? "; " : "", library);
}

/* Reports problems of the stream that the program itself does not notice. */
static int judge(struct tool *tool, const struct gt_recording *record, int ours, const char *program, int status, int by)
{
	char byte, reason[GT_TRACING_PATH];

	/* The program takes the token when it begins the stream. */
	bool begun = read(record->token, &byte, 1) != 1;
	if (!begun)
		fail_stream(tool, record, "the program began no stream");
	if (status == CANNOT_RUN) {
		reason[0] = '\0';
		if (!begun && !record->tracing.stubs)
			gt_record_explain_missing(program, reason, sizeof reason);
		if (reason[0])
			tool_say(tool, "%s did not start: %s", program, reason);
		return status;
	}
	if (by && by != SIGPIPE) {
		say_signal(tool, record, program, by, begun);
		return status;
	}
	if (!begun) {
		gt_record_explain(program, reason, sizeof reason);
		tool_say(tool, "%s brought no device code to the CUDA runtime: %s", program, reason);
		return status ? status : 1;
	}
	if (status != 0)
		return status;
	if (read(ours, &byte, 1) != 1)
		tool_say(tool, "%s ended without its exit handlers: the stream has no end", program);
	else if (byte == GT_RECORD_WHOLE)
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct gt_recording record;
	const char *output = NULL;
	int ours;

	tool_begin(&tool, "gtrace-record", &about, argc, argv);
	tool.is_filter = true;
	gt_record_begin(&record);
	if (gt_record_environment(&record, &tool.error) != 0)
		tool_usage(&tool, "%s", tool.error.text);
	parse_options(&tool, &record, &output);
	open_descriptors(&tool, &record, &ours, output);
	tool_must(&tool, gt_record_export(&record, &tool.error));
	run(&tool, argv + optind);
	int by, ended = wait_for_status(&by), status = judge(&tool, &record, ours, argv[optind], ended, by);
	close(record.stream);
	gt_record_clear(&record);
	return status;
}
