/* SPDX-License-Identifier: MIT */
/* The input, the output, and the loop between them. */
/* For F_SETPIPE_SZ, which Linux has beyond POSIX. */
#define _GNU_SOURCE
#include "common/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/installed.h"
#include "stream/history.h"
#include "stream/records.h"

/* The capacity that is requested for pipes, if the system supports it: what is in the pipe is to stay in the cache of a core, of
 * which present ones have 512K and more, until it is read. */
#define PIPE_BYTES (256 << 10)

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
	tool->reads_pipe = tool_is_pipe(descriptor);
	widen_pipe(descriptor);
	tool->started = tool_now();
	tool->in = gt_reader_open(descriptor, name, NULL, 0, &tool->error);
	if (!tool->in)
		tool_fail(tool);
}

/* Warns of a stage that stands in a wrong place of the pipe or has another GPU than those before it, or fails if it could not count anything there. */
void tool_check_order(const struct tool *tool)
{
	struct gt_error reason;
	enum gt_order_of_stages order = gt_history_order(gt_reader_history(tool->in), tool->name, tool->argv + 1, &reason);

	if (order == GT_STAGES_MEANINGLESS) {
		fprintf(stderr, "%s: %s\n", tool->name, reason.text);
		tool_end_failed(tool, reason.text);
		exit(1);
	}
	if (order == GT_STAGES_DOUBTFUL ||
	    !gt_history_same_gpu(gt_reader_history(tool->in), tool->name, tool->argv + 1, &reason))
		tool_warn(tool, "%s", reason.text);
}

void tool_write(struct tool *tool)
{
	if (isatty(STDOUT_FILENO)) {
		gt_fail(&tool->error, "a stream is binary and is not written to a terminal (gtrace-cat shows it)");
		tool_fail(tool);
	}
	if (tool->in)
		tool_check_order(tool);
	widen_pipe(STDOUT_FILENO);
	tool->out = gt_writer_open(STDOUT_FILENO, tool->in ? gt_reader_history(tool->in) : NULL, tool->name,
				   gt_version, tool->argv + 1, &tool->error);
	if (!tool->out)
		tool_fail(tool);
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

bool tool_next_record(struct tool *tool, enum gt_event *event)
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
	bool more = tool_next_record(tool, event);

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
	bool relays = tool->relay && filter->relays(filter->context, gt_reader_record(tool->in).kind);

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
	while (tool_next_record(tool, &event)) {
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
