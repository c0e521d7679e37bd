/* SPDX-License-Identifier: MIT */
/* Failures, wrong usage and warnings: on stderr, and a failure to the next stage of the pipe. */
#include "common/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/utf8.h"
#include "stream/raw.h"

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
	fprintf(stderr, "%s: %s\n", tool->name, error.text);
	tool_end_failed(tool, error.text);
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
		tool_end_failed(tool, tool->error.text);
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
