/* SPDX-License-Identifier: MIT */
/* For F_SETPIPE_SZ, which Linux has beyond POSIX. */
#define _GNU_SOURCE
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/installed.h"
#include "base/options.h"
#include "base/pipeline.h"
#include "base/utf8.h"
#include "stream/history.h"
#include "stream/reader.h"

#define PIPE_BYTES (1 << 20) /* capacity that is requested for pipes, if the system supports it */

static volatile sig_atomic_t progress_asked;

static void ask_progress(int signal_number)
{
	(void)signal_number;
	progress_asked = 1;
}

void tool_begin(struct tool *tool, const char *name, const char *help, int argc, char **argv)
{
	struct sigaction action = {.sa_handler = ask_progress, .sa_flags = SA_RESTART};

	*tool = (struct tool){.name = name, .help = help, .argc = argc, .argv = argv, .jobs = 1, .started = gt_now()};
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	/* A file that may grow no further is an error of write(2), which has a message. */
	signal(SIGXFSZ, SIG_IGN);
}

/* Ends after a help text or a version. */
static _Noreturn void end_print(const struct tool *tool)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(0);
	if (errno != EPIPE)
		perror(tool->name);
	exit(1);
}

static bool is_pipe(int descriptor)
{
	struct stat status;

	return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* The next stage of a pipe is told of a failure by the stream, so that it does not report the missing end as a second
 * one. */
static void end_stream_failed(const struct tool *tool, const char *text)
{
	struct gt_error error;
	struct gt_writer *writer = tool->out;
	bool opened = !writer && tool->is_filter && is_pipe(STDOUT_FILENO);

	if (opened)
		writer = gt_writer_open(STDOUT_FILENO, NULL, tool->name, gt_version, tool->argv + 1, &error);
	if (!writer)
		return;
	/* The first failure is the one to tell. */
	if (tool->in && gt_reader_told_failure(tool->in) && gt_writer_pass(writer, tool->in, &error) == 0)
		(void)gt_writer_flush(writer, &error);
	else
		(void)gt_writer_fail(writer, tool->name, text, &error);
	if (opened)
		gt_writer_close(writer);
}

/* For an unknown long option, suggests a known one of which at most every third letter is wrong. */
static void print_misspelt(const struct tool *tool, const struct option *options)
{
	const char *word = tool->argv[optind - 1], *meant = NULL;
	char name[64];
	unsigned best;

	if (optopt != 0 || strncmp(word, "--", 2) != 0)
		return;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
	best = (unsigned)strlen(name) / 3 + 1;
	for (; options->name; options++) {
		unsigned distance = gt_edit_distance(name, options->name);
		if (strncmp(options->name, name, strlen(name)) == 0) /* an ambiguous abbreviation */
			return;
		if (distance < best) {
			best = distance;
			meant = options->name;
		}
	}
	if (meant)
		fprintf(stderr, "%s: did you mean '--%s'?\n", tool->name, meant);
}

/* In the place of words of argv on which the output does not depend: a stream's history does not have them. */
static char left_out[] = "";

static void set_jobs(struct tool *tool, const char *text)
{
	uint64_t jobs;

	if (tool->argv[optind - 1] == text)
		tool->argv[optind - 2] = left_out;
	tool->argv[optind - 1] = left_out;
	if (gt_parse_count(text, 0, GT_JOBS_MAX, &jobs, &tool->error) != 0)
		tool_usage_error(tool, "--jobs");
	tool->jobs = gt_jobs_of((unsigned)jobs);
}

/* Takes those words out of argv, when all options are read and the operands are behind them. */
static void leave_out(struct tool *tool)
{
	int n = 0, options = optind;

	for (int i = 0; i < tool->argc; i++)
		if (tool->argv[i] != left_out)
			tool->argv[n++] = tool->argv[i];
		else
			optind -= i < options;
	tool->argv[n] = NULL;
	tool->argc = n;
}

int tool_option(struct tool *tool, const char *short_options, const struct option *options)
{
	for (;;) {
		int option = getopt_long(tool->argc, tool->argv, short_options, options, NULL);
		switch (option) {
		case -1:
			leave_out(tool);
			return -1;
		case TOOL_HELP:
			if (tool->print_help)
				tool->print_help(stdout);
			else
				fputs(tool->help, stdout);
			end_print(tool);
		case TOOL_VERSION:
			printf("%s %s\n", tool->name, gt_version);
			end_print(tool);
		case 'v':
			tool->verbose = true;
			break;
		case TOOL_QUIET:
			tool->quiet = true;
			break;
		case 'j':
			set_jobs(tool, optarg);
			break;
		case '?':
			print_misspelt(tool, options);
			fprintf(stderr, "%s: see '%s --help'\n", tool->name, tool->name);
			end_stream_failed(tool, "wrong options");
			exit(2);
		default:
			return option;
		}
	}
}

_Noreturn void tool_usage(const struct tool *tool, const char *format, ...)
{
	struct gt_error error;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error.text, sizeof error.text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: %s\n", tool->name, error.text);
	end_stream_failed(tool, error.text);
	exit(2);
}

_Noreturn void tool_usage_error(const struct tool *tool, const char *option)
{
	tool_usage(tool, "%s: %s", option, tool->error.text);
}

_Noreturn void tool_fail(const struct tool *tool)
{
	/* A closed pipe downstream is no error; the stage that failed before this one in a pipe has reported it. */
	bool closed = errno == EPIPE, told = tool->in && gt_reader_told_failure(tool->in);

	if (!closed && !(told && tool->reads_pipe))
		fprintf(stderr, "%s: %s\n", tool->name, tool->error.text);
	if (!closed)
		end_stream_failed(tool, tool->error.text);
	exit(1);
}

static void say(const struct tool *tool, const char *format, va_list arguments)
{
	char text[sizeof tool->error.text];

	vsnprintf(text, sizeof text, format, arguments);
	fprintf(stderr, "%s: %s\n", tool->name, gt_utf8_printable(text));
}

void tool_say(const struct tool *tool, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(tool, format, arguments);
	va_end(arguments);
}

void tool_warn(const struct tool *tool, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!tool->quiet)
		say(tool, format, arguments);
	va_end(arguments);
}

/* Makes a pipe larger, for fewer switches between writer and reader. */
static void widen_pipe(int descriptor)
{
#ifdef F_SETPIPE_SZ
	(void)fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES);
#else
	(void)descriptor;
#endif
}

void tool_read(struct tool *tool)
{
	const char *name = "standard input";
	int descriptor = STDIN_FILENO;
	struct stat status;

	if (optind + 1 < tool->argc)
		tool_usage(tool, "'%s': expected one stream at most", tool->argv[optind + 1]);
	if (optind < tool->argc && strcmp(tool->argv[optind], "-") != 0) {
		name = tool->argv[optind];
		descriptor = open(name, O_RDONLY);
		if (descriptor < 0) {
			gt_fail_errno(&tool->error, "%s", name);
			tool_fail(tool);
		}
	}
	if (descriptor == STDIN_FILENO && isatty(descriptor)) {
		gt_fail(&tool->error, "expected a gtrace stream, not a terminal");
		tool_fail(tool);
	}
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
		tool->input_bytes = (uint64_t)status.st_size;
	tool->reads_pipe = is_pipe(descriptor);
	widen_pipe(descriptor);
	tool->started = gt_now();
	tool->in = gt_reader_open(descriptor, name, NULL, 0, &tool->error);
	if (!tool->in)
		tool_fail(tool);
}

/* Warns of a stage that stands in a wrong place of the pipe, or fails if it could not count anything there. */
static void check_order(const struct tool *tool)
{
	struct gt_error reason;
	enum gt_order_of_stages order = gt_history_order(gt_reader_history(tool->in), tool->name, tool->argv + 1, &reason);

	if (order == GT_STAGES_MEANINGLESS) {
		fprintf(stderr, "%s: %s\n", tool->name, reason.text);
		end_stream_failed(tool, reason.text);
		exit(1);
	}
	if (order == GT_STAGES_DOUBTFUL)
		tool_warn(tool, "%s", reason.text);
}

void tool_write(struct tool *tool)
{
	if (isatty(STDOUT_FILENO)) {
		gt_fail(&tool->error, "a stream is binary and is not written to a terminal (gtrace-cat shows it)");
		tool_fail(tool);
	}
	if (tool->in)
		check_order(tool);
	widen_pipe(STDOUT_FILENO);
	tool->out = gt_writer_open(STDOUT_FILENO, tool->in ? gt_reader_history(tool->in) : NULL, tool->name,
				   gt_version, tool->argv + 1, &tool->error);
	if (!tool->out)
		tool_fail(tool);
}

/* One line on stderr: rows, rows a second, and how much of a file is done. */
static void show_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, double seconds, char end)
{
	char bar[64] = "";

	if (tool->input_bytes > 0 && bytes <= tool->input_bytes) {
		int done = (int)(20.0 * (double)bytes / (double)tool->input_bytes);
		snprintf(bar, sizeof bar, " [%.*s%.*s]", done, "####################", 20 - done, "....................");
	}
	fprintf(stderr, "%s: %" PRIu64 " rows, %.2f M rows/s%s%c", tool->name, rows,
		seconds > 0 ? (double)rows / seconds / 1e6 : 0.0, bar, end);
}

void tool_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, bool last)
{
	static double shown;

	if (!tool->verbose && !progress_asked)
		return;
	double time = gt_now();
	if (progress_asked || (tool->verbose && (last || time - shown > 0.5))) {
		bool stays = progress_asked || last || !isatty(STDERR_FILENO);
		show_progress(tool, rows, bytes, time - tool->started, stays ? '\n' : '\r');
		shown = time;
		progress_asked = 0;
	}
}

/* Waits for the batches that are under way, whose failure comes before that of what was read behind them. */
static void finish_batches(struct tool *tool)
{
	struct gt_error error;

	if (!tool->relay || gt_relay_drain(tool->relay, &error) == 0)
		return;
	tool->error = error;
	tool_fail(tool);
}

/* tool_next without what a batch holds. */
static bool next_record(struct tool *tool, enum gt_event *event)
{
	*event = gt_read_record(tool->in, &tool->error);
	if (*event == GT_FAILED) {
		int reason = errno;
		finish_batches(tool);
		errno = reason;
		tool_fail(tool);
	}
	tool_progress(tool, gt_reader_rows_read(tool->in), gt_reader_bytes_read(tool->in), *event == GT_END);
	return *event != GT_END;
}

bool tool_next(struct tool *tool, enum gt_event *event)
{
	bool more = next_record(tool, event);

	if (*event == GT_ROWS)
		tool_must(tool, gt_reader_unpack(tool->in, &tool->error));
	return more;
}

void tool_pass(struct tool *tool)
{
	tool_must(tool, gt_writer_pass(tool->out, tool->in, &tool->error));
}

static bool filter_event(const struct tool *tool, const struct tool_filter *filter, enum gt_event event)
{
	switch (event) {
	case GT_KERNEL: return !filter->kernel || filter->kernel(filter->context, gt_reader_kernel(tool->in));
	case GT_ROWS: return !filter->rows || filter->rows(filter->context, gt_reader_rows(tool->in));
	case GT_COUNT: return !filter->count || filter->count(filter->context, gt_reader_count(tool->in));
	case GT_GPU: return !filter->gpu || filter->gpu(filter->context, gt_reader_gpu(tool->in));
	default: return true;
	}
}

/* Sends a batch through several threads, if it goes there; else it is read. */
static bool relay_batch(struct tool *tool, const struct tool_filter *filter)
{
	bool relays = tool->relay && filter->relays(filter->context, gt_reader_record_kind(tool->in));

	if (relays)
		tool_must(tool, gt_relay_put(tool->relay, &tool->error));
	else
		finish_batches(tool);
	if (!relays)
		tool_must(tool, gt_reader_unpack(tool->in, &tool->error));
	return relays;
}

void tool_run(struct tool *tool, const struct tool_filter *filter)
{
	bool in_kernel = false;
	uint64_t kernel = 0;
	enum gt_event event;

	if (filter->relay && tool->jobs > 1 &&
	    !(tool->relay = gt_relay_open(filter->relay, tool->jobs, tool->in, tool->out, &tool->error)))
		tool_fail(tool);
	while (next_record(tool, &event)) {
		if (event == GT_ROWS && relay_batch(tool, filter))
			continue;
		finish_batches(tool);
		if (event == GT_KERNEL && in_kernel && filter->end)
			filter->end(filter->context, kernel);
		if (event == GT_KERNEL) {
			in_kernel = true;
			kernel = gt_reader_kernel(tool->in)->id;
		}
		if (filter_event(tool, filter, event) && tool->out)
			tool_pass(tool);
	}
	finish_batches(tool);
	gt_relay_close(tool->relay);
	tool->relay = NULL;
	if (in_kernel && filter->end)
		filter->end(filter->context, kernel);
}

void tool_count(struct tool *tool, struct gt_count *count)
{
	tool_must(tool, gt_output_count(gt_writer_output(tool->out), count, &tool->error));
}

void tool_end(struct tool *tool)
{
	if (tool->out)
		tool_must(tool, gt_writer_finish(tool->out, &tool->error));
	gt_writer_close(tool->out);
	gt_reader_close(tool->in);
	tool->out = NULL;
	tool->in = NULL;
	bool lost = ferror(stdout) != 0; /* by an earlier write, whose errno is gone */
	errno = 0;
	if (fflush(stdout) == 0 && close(STDOUT_FILENO) == 0 && !lost)
		return;
	if (errno != 0)
		gt_fail_errno(&tool->error, "standard output");
	else
		gt_fail(&tool->error, "standard output: cannot be written");
	tool_fail(tool);
}
