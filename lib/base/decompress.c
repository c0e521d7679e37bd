/* SPDX-License-Identifier: MIT */
#include "base/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/input_state.h"

struct compression {
	const char *tool;
	const char *magic;
	size_t magic_bytes;
};

static const struct compression compressions[] = {
	{"gzip", "\x1f\x8b", 2},
	{"bzip2", "BZh", 3},
	{"xz", "\xfd" "7zXZ\0", 6},
	{"zstd", "\x28\xb5\x2f\xfd", 4},
};

const char *gt_compression_tool(const void *head, size_t bytes)
{
	for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
		if (bytes >= compressions[i].magic_bytes && memcmp(head, compressions[i].magic, compressions[i].magic_bytes) == 0)
			return compressions[i].tool;
	return NULL;
}

/* Makes a pipe whose ends are not standard descriptors and are closed on exec. */
static int open_pipe(int ends[2])
{
	int raw[2];

	if (pipe(raw) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
		close(raw[i]);
	}
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return -1;
}

static int write_all(int descriptor, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t put = write(descriptor, bytes, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		bytes += put;
		n -= (size_t)put;
	}
	return 0;
}

/* Runs in the feeder process: writes the bytes already read, and then the rest of the file. */
_Noreturn static void feed(struct gt_input *input, int to)
{
	signal(SIGPIPE, SIG_DFL);
	if (write_all(to, input->buffer, input->end) != 0)
		_exit(1);
	for (;;) {
		ssize_t got = read(input->file, input->buffer, input->capacity);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			_exit(got < 0);
		if (write_all(to, input->buffer, (size_t)got) != 0)
			_exit(1);
	}
}

/* Returns a descriptor that reads the file from its first byte, although its beginning was read already:
 * seeks back or, on a pipe, starts a feeder process that copies. */
static int from_start(struct gt_input *input, struct gt_error *error)
{
	int ends[2];

	if (lseek(input->file, -(off_t)input->end, SEEK_CUR) >= 0)
		return fcntl(input->file, F_DUPFD_CLOEXEC, 3);
	if (open_pipe(ends) != 0)
		return gt_fail_errno(error, "%s: cannot make a pipe", gt_input_name(input));
	input->feeder = fork();
	if (input->feeder == 0) {
		close(ends[0]);
		feed(input, ends[1]);
	}
	close(ends[1]);
	if (input->feeder > 0)
		return ends[0];
	input->feeder = 0;
	close(ends[0]);
	return gt_fail_errno(error, "%s: cannot start a process", gt_input_name(input));
}

/* Runs `tool -dc < from > to` without its stderr: its exit status tells success. */
static int spawn(struct gt_input *input, int from, int to)
{
	char dc[] = "-dc", name[8];
	char *argv[] = {name, dc, NULL};

	snprintf(name, sizeof name, "%s", input->tool);
	int result = gt_child_start(argv, (const int[GT_CHILD_STREAMS]){from, to, -1}, &input->process);
	if (result != 0)
		input->process = 0;
	return result;
}

int gt_decompress_begin(struct gt_input *input, struct gt_error *error)
{
	int ends[2];
	int from = from_start(input, error);

	if (from < 0)
		return -1;
	if (open_pipe(ends) != 0) {
		gt_fail_errno(error, "%s: cannot make a pipe", gt_input_name(input));
		close(from);
		return -1;
	}
	int result = spawn(input, from, ends[1]);
	close(from);
	close(ends[1]);
	input->descriptor = ends[0];
	input->start = input->end = 0;
	input->has_zero = false;
	if (result == 0)
		return 0;
	return gt_fail(error, "%s: compressed, but '%s' cannot be run to decompress it: %s",
		       gt_input_name(input), input->tool, strerror(result));
}

/* ---- the end ---- */

/* Waits for a child; returns its status, or -1. */
static int wait_for(pid_t *process)
{
	int status = gt_child_wait(*process);

	*process = 0;
	return status;
}

int gt_decompress_end(struct gt_input *input, struct gt_error *error)
{
	if (input->process != 0) {
		int status = wait_for(&input->process);
		if (status != 0 && input->feeder != 0) {
			/* It may be blocked on a pipe that nobody reads any more. */
			kill(input->feeder, SIGTERM);
			wait_for(&input->feeder);
		}
		if (status != 0)
			return gt_fail(error, "%s: %s -dc failed: its data is damaged or ends early",
				       gt_input_name(input), input->tool);
	}
	if (input->feeder != 0 && wait_for(&input->feeder) != 0)
		return gt_fail(error, "%s: cannot be read to its end", gt_input_name(input));
	return 0;
}

void gt_decompress_stop(struct gt_input *input)
{
	pid_t *processes[] = {&input->process, &input->feeder};

	for (int i = 0; i < 2; i++) {
		if (*processes[i] == 0)
			continue;
		kill(*processes[i], SIGTERM);
		wait_for(processes[i]);
	}
}
