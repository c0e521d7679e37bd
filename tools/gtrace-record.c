/* SPDX-License-Identifier: MIT */
/* gtrace-record: runs a CUDA program with gtrace's CUDA runtime, and traces its kernels. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

static pid_t child; /* the program; when it has ended, the process that is recorded, or 0 */

/* A terminal sends its signals to the program, too. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
	(void)context;
	if (child <= 0) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	} else if (info->si_code <= 0) {
		kill(child, signal_number);
	}
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
	int token[2], words[2];

	if (isatty(STDOUT_FILENO))
		tool_must(tool, gt_fail(&tool->error, "a stream is binary and is not written to a terminal (gtrace-cat shows it)"));
	record->stream = fcntl(STDOUT_FILENO, F_DUPFD, STREAM_DESCRIPTOR);
	tool->is_filter = false; /* standard output is the program's from here on */
	int to = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666) : dup(STDERR_FILENO);
	if (to < 0 || dup2(to, STDOUT_FILENO) < 0)
		tool_must(tool, gt_fail_errno(&tool->error, "%s", output ? output : "standard error"));
	close(to);
	if (record->stream < 0 || pipe(token) != 0 || pipe(words) != 0)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
	record->token = fcntl(token[0], F_DUPFD, STREAM_DESCRIPTOR);
	record->words = fcntl(words[1], F_DUPFD, STREAM_DESCRIPTOR);
	record->process = getpid();
	*ours = words[0];
	fcntl(words[0], F_SETFD, FD_CLOEXEC);
	fcntl(words[0], F_SETFL, O_NONBLOCK);
	fcntl(token[0], F_SETFL, O_NONBLOCK);
	if (record->token < 0 || record->words < 0 || write(token[1], "t", 1) != 1)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
	close(token[0]);
	close(token[1]);
	close(words[1]);
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

#define WAITS 5 /* seconds until a user is told what is waited for */

/* The last word about the stream, after the program has ended. A process that it has left may write the stream, or begin it: its word is
 * waited for. */
static struct gt_record_word last_word(struct tool *tool, int ours, const char *program)
{
	struct gt_record_word last = {0}, word;
	size_t part = 0; /* bytes of a word that has not come whole */
	struct pollfd there = {.fd = ours, .events = POLLIN};
	unsigned waited = 0, gone = 0; /* tenths of a second */

	for (;;) {
		const bool is_gone = last.event != GT_RECORD_LEFT && (last.process == 0 || (kill(last.process, 0) != 0 && errno == ESRCH));
		const ssize_t n = read(ours, (char *)&word + part, sizeof word - part);
		part = n > 0 ? (part + (size_t)n) % sizeof word : part;
		if (n > 0 && part == 0)
			last = word;
		gone = n < 0 && is_gone ? gone + 1 : 0; /* what it left may just go on with the stream */
		if (n == 0 || (gone > 0 && last.event == 0) || gone > 1 || last.event == GT_RECORD_WHOLE || last.event == GT_RECORD_CUT)
			return last;
		if (n > 0)
			continue;
		child = last.event == GT_RECORD_LEFT ? 0 : last.process;
		if (waited++ == 10 * WAITS && !tool->quiet)
			tool_say(tool, "%s has ended; a process that it left goes on and is waited for", program);
		poll(&there, 1, 100);
	}
}

/* The stream of a program that launched nothing, none of whose processes has begun one. */
static int write_empty(const struct gt_recording *record, char *const argv[], struct gt_error *error)
{
	struct gt_writer *writer = gt_writer_open(record->stream, NULL, "gtrace-record", gt_version, argv, error);
	int result = writer ? 0 : -1;

	if (writer && record->tracing.gpu.n > 0)
		result = gt_write_gpu(writer, &record->tracing.gpu, error);
	if (result == 0)
		result = gt_writer_finish(writer, error);
	gt_writer_close(writer);
	return result;
}

/* Gives the next stage of a pipe a reason in the place of the stream's end, so that it does not report this as a second failure. A stream that
 * was begun has its header, which goes nowhere here, and then whole records, if the system wrote them whole. */
static void fail_stream(const struct tool *tool, const struct gt_recording *record, bool begun, const char *reason)
{
	struct stat status;
	struct gt_error error;

	if (fstat(record->stream, &status) != 0 || !S_ISFIFO(status.st_mode))
		return;
	signal(SIGPIPE, SIG_IGN); /* the next stage may have ended */
	int to = begun ? open("/dev/null", O_WRONLY) : record->stream;
	struct gt_writer *writer = gt_writer_open(to, NULL, tool->name, gt_version, tool->argv + 1, &error);
	if (writer && (!begun || (gt_writer_flush(writer, &error) == 0 && dup2(record->stream, to) == to)))
		(void)gt_writer_fail(writer, tool->name, reason, &error);
	gt_writer_close(writer);
}

/* A system that runs out of memory kills the process that has most, which cannot say anything itself. A program that looks at no error
 * crashes with what a library did not give it. */
static void describe_signal(struct tool *tool, const struct gt_recording *record, const char *program, int by, int event)
{
	const char *what = event == GT_RECORD_WHOLE ? "the stream has its end" : event == 0 ? "it began no stream" : "the stream has no end";
	char library[GT_TRACING_PATH] = "";
	struct rusage usage;

	if (!record->tracing.stubs && (by == SIGSEGV || by == SIGBUS || by == SIGABRT || by == SIGFPE))
		gt_record_explain_missing(program, library, sizeof library);
	if (by == SIGKILL && getrusage(RUSAGE_CHILDREN, &usage) == 0)
		gt_fail(&tool->error, "%s was ended by a signal (%s), having used up to %.1f GB of this machine's %.1f GB of memory: %s", program,
			strsignal(by), (double)usage.ru_maxrss * 1024 / 1e9,
			(double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9, what);
	else
		gt_fail(&tool->error, "%s was ended by a signal (%s): %s%s%s", program, strsignal(by), what, library[0] ? "; " : "", library);
}

/* Why a program brought no device code, or could not be run; "": that was said. */
static void describe_unregistered(struct tool *tool, const struct gt_recording *record, const char *program, int status)
{
	char reason[GT_TRACING_PATH] = "";

	tool->error.text[0] = '\0';
	if (status != CANNOT_RUN) {
		gt_record_explain(program, reason, sizeof reason);
		gt_fail(&tool->error, "%s brought no device code to the CUDA runtime: %s", program, reason);
	} else if (!record->tracing.stubs) {
		gt_record_explain_missing(program, reason, sizeof reason);
		if (reason[0])
			gt_fail(&tool->error, "%s did not start: %s", program, reason);
	}
}

/* Why a stream has no end that a process of the program has not ended; "": that was said. */
static void describe_end(struct tool *tool, const struct gt_record_word *word, const char *program, pid_t direct, int status)
{
	tool->error.text[0] = '\0';
	if (word->event == GT_RECORD_LEFT)
		gt_fail(&tool->error, "%s and the processes that it forked asked the CUDA runtime for no launch: the stream has no end (--ignore-unsupported "
			"gives it one)", program);
	else if (word->event == GT_RECORD_BEGUN && word->process != direct)
		gt_fail(&tool->error, "a process that %s started, which is recorded, ended without its exit handlers or by a signal: the stream has no end",
			program);
	else if (word->event == GT_RECORD_BEGUN || status == 0)
		gt_fail(&tool->error, "%s ended without its exit handlers: the stream has no end", program);
}

/* Reports problems of the stream that the program itself does not notice. `by`: the signal that ended the program, or 0. */
static int judge(struct tool *tool, const struct gt_recording *record, int ours, const char *program, int status, int by)
{
	const pid_t direct = child;
	char token;

	/* The program takes the token when it brings device code. */
	const bool registered = read(record->token, &token, 1) != 1;
	close(record->words); /* the pipe ends with the last process that has it */
	const struct gt_record_word word = last_word(tool, ours, program);
	const bool begun = word.event == GT_RECORD_BEGUN;
	const bool ended = word.event == GT_RECORD_WHOLE || word.event == GT_RECORD_CUT;
	if (by == SIGPIPE || (ended && !by) || (!ended && status == 128 + SIGPIPE))
		return status ? status : word.event == GT_RECORD_CUT;
	if (word.event == GT_RECORD_LEFT && record->tracing.ignore_unsupported && !by) {
		tool_must(tool, write_empty(record, tool->argv + 1, &tool->error));
		if (!tool->quiet)
			tool_say(tool, "warning: the program launched no kernel");
		return status;
	}
	if (by)
		describe_signal(tool, record, program, by, word.event);
	else if (!registered)
		describe_unregistered(tool, record, program, status);
	else
		describe_end(tool, &word, program, direct, status);
	if (tool->error.text[0])
		tool_say(tool, "%s", tool->error.text);
	if (!ended)
		fail_stream(tool, record, begun, tool->error.text[0] ? tool->error.text : "the program began no stream");
	return status ? status : 1;
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
