/* SPDX-License-Identifier: MIT */
/* What a tool says on stderr: failures, which the next stage of the pipe is told of, too, wrong usage, warnings; and how far it is, for
 * --verbose and SIGUSR1. */
#include "common/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/utf8.h"
#include "stream/records.h"

static struct gt_progress line; /* of this tool, if it is the first of a pipe */

/* Erases it before a message. What the message begins with erases that of another stage, in one write with it. */
static const char *clear_line(const struct tool *tool)
{
	gt_progress_erase(&line);
	return tool->reads_pipe ? gt_progress_eraser(stderr) : "";
}

/* ---- failures and warnings ---- */

bool tool_is_pipe(int descriptor)
{
	struct stat status;

	return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

void tool_end_failed(const struct tool *tool, const char *text)
{
	struct gt_error error;
	struct gt_writer *writer = tool->out;
	bool opened = !writer && tool->is_filter && tool_is_pipe(STDOUT_FILENO);

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

_Noreturn void tool_usage(const struct tool *tool, const char *format, ...)
{
	struct gt_error error;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error.text, sizeof error.text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s%s: %s\n", clear_line(tool), tool->name, error.text);
	tool_end_failed(tool, error.text);
	exit(2);
}

bool tool_is_coloured(const struct tool *tool, const char *when, FILE *to)
{
	const char *no = getenv("NO_COLOR");

	if (!when || strcmp(when, "auto") == 0)
		return isatty(fileno(to)) && (!no || !*no);
	if (strcmp(when, "always") != 0 && strcmp(when, "never") != 0)
		tool_usage(tool, "--color '%s': expected auto, always or never", when);
	return strcmp(when, "always") == 0;
}

_Noreturn void tool_usage_error(const struct tool *tool, const char *option)
{
	tool_usage(tool, "%s: %s", option, tool->error.text);
}

_Noreturn void tool_fail(const struct tool *tool)
{
	/* A closed pipe downstream is no error; the stage that failed before this one in a pipe has reported it. */
	bool closed = errno == EPIPE, told = tool->in && gt_reader_told_failure(tool->in);

	gt_progress_erase(&line);
	if (!closed && !(told && tool->reads_pipe))
		fprintf(stderr, "%s%s: %s\n", clear_line(tool), tool->name, tool->error.text);
	if (!closed)
		tool_end_failed(tool, tool->error.text);
	exit(1);
}

static void say(const struct tool *tool, const char *kind, const char *format, va_list arguments)
{
	char text[sizeof tool->error.text];

	vsnprintf(text, sizeof text, format, arguments);
	fprintf(stderr, "%s%s: %s%s\n", clear_line(tool), tool->name, kind, gt_utf8_printable(text));
}

void tool_say(const struct tool *tool, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(tool, "", format, arguments);
	va_end(arguments);
}

void tool_warn(const struct tool *tool, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!tool->quiet)
		say(tool, "warning: ", format, arguments);
	va_end(arguments);
}

/* ---- progress ---- */

static volatile sig_atomic_t progress_asked;

static void ask_progress(int signal_number)
{
	(void)signal_number;
	progress_asked = 1;
}

void tool_hear_progress(void)
{
	struct sigaction action = {.sa_handler = ask_progress, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
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

/* The line that is erased. A tool whose output is on the terminal has no line beside it. */
static void show_line(const struct tool *tool, uint64_t rows, uint64_t bytes, bool last)
{
	static bool begun;

	if (!begun)
		gt_progress_begin(&line, tool->name, stderr, !tool->quiet && !tool->verbose && !tool->reads_pipe && !isatty(STDOUT_FILENO));
	begun = true;
	if (last)
		gt_progress_erase(&line);
	if (last || !gt_progress_due(&line))
		return;
	const struct gt_kernel *kernel = tool->in ? gt_reader_kernel(tool->in) : NULL;
	const struct gt_progress_state state = {kernel ? kernel->name : NULL, kernel ? kernel->id : 0, rows, bytes, tool->input_bytes,
						tool->started};
	gt_progress_show(&line, &state);
}

void tool_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, bool last)
{
	static double shown;

	if (!tool->verbose && !progress_asked) {
		show_line(tool, rows, bytes, last);
		return;
	}
	gt_progress_erase(&line);
	double time = tool_now();
	if (progress_asked || (tool->verbose && (last || time - shown > 0.5))) {
		bool stays = progress_asked || last || !isatty(STDERR_FILENO);
		show_progress(tool, rows, bytes, time - tool->started, stays ? '\n' : '\r');
		shown = time;
		progress_asked = 0;
	}
}
