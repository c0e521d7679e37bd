/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grown.h"

#define PIECE ((size_t)1 << 16)

extern char **environ;

enum { INPUT, OUTPUT, COMPLAINTS, STREAMS = GT_CHILD_STREAMS };

static bool is_program(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool gt_child_find(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/'))
		return (size_t)snprintf(path, size, "%s", name) < size && is_program(path);
	for (size_t length; folders && *folders; folders += length + (folders[length] == ':')) {
		length = strcspn(folders, ":");
		/* An empty one is the current folder. */
		if ((size_t)snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? folders : ".", name) < size && is_program(path))
			return true;
	}
	return false;
}

const char *gt_child_reason(const char *name, int reason)
{
	/* As Debian names them. */
	static const struct {
		const char *name, *reason;
	} packages[] = {
		{"gnuplot", "not in PATH: install gnuplot (the package gnuplot-nox)"},
		{"xz", "not in PATH: install it (the package xz-utils)"},
		{"gzip", "not in PATH: install it (the package gzip)"},
		{"bzip2", "not in PATH: install it (the package bzip2)"},
		{"zstd", "not in PATH: install it (the package zstd)"},
	};

	for (size_t i = 0; reason == ENOENT && i < sizeof packages / sizeof *packages; i++)
		if (strcmp(packages[i].name, name) == 0)
			return packages[i].reason;
	return reason == ENOENT && !strchr(name, '/') ? "not in PATH" : strerror(reason);
}

int gt_child_start(char *const argv[], const int streams[GT_CHILD_STREAMS], pid_t *process)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals, none;
	int result = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	for (int i = 0; i < GT_CHILD_STREAMS && result == 0; i++)
		result = streams[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, streams[i], i)
					 : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none); /* the thread that starts it may block signals */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	if (result == 0)
		result = posix_spawnp(process, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return result;
}

void gt_child_tie(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(128 + SIGKILL);
}

/* In the child: runs the program, or returns with errno. */
static void become(char *const argv[], const int streams[GT_CHILD_STREAMS], bool apart)
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 0; i < GT_CHILD_STREAMS; i++) {
		int from = streams[i] >= 0 ? streams[i] : open("/dev/null", O_RDWR);
		if (from < 0 || (from == i ? fcntl(i, F_SETFD, 0) : dup2(from, i)) < 0)
			return;
	}
	if (apart)
		setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
}

int gt_child_start_tied(char *const argv[], const int streams[GT_CHILD_STREAMS], bool apart, pid_t *process)
{
	const pid_t parent = getpid();
	int report[2], reason = 0;

	if (pipe(report) != 0)
		return errno;
	fcntl(report[0], F_SETFD, FD_CLOEXEC);
	int tell = fcntl(report[1], F_DUPFD_CLOEXEC, GT_CHILD_STREAMS); /* no standard stream takes its place */
	close(report[1]);
	*process = tell < 0 ? -1 : fork();
	if (*process == 0) {
		gt_child_tie(parent);
		become(argv, streams, apart);
		reason = errno;
		_exit(write(tell, &reason, sizeof reason) < 0);
	}
	if (*process < 0)
		reason = errno;
	if (tell >= 0)
		close(tell);
	/* The program that runs has closed it without a word. */
	if (*process > 0 && read(report[0], &reason, sizeof reason) > 0)
		gt_child_wait(*process);
	close(report[0]);
	return reason;
}

int gt_child_wait(pid_t process)
{
	pid_t waited;
	int status;

	do
		waited = waitpid(process, &status, 0);
	while (waited < 0 && errno == EINTR);
	return waited < 0 ? -1 : status;
}

/* Bytes that the program wrote to one of its streams. */
struct gathered {
	char *text; /* `capacity` bytes; one is kept for a 0 */
	size_t bytes, capacity;
};

struct child {
	const char *name;
	const char *input; /* what is left of it */
	size_t input_bytes, most;
	int ours[STREAMS], theirs[STREAMS]; /* ends of the sockets; -1: closed */
	struct gathered output, complaints;
	pid_t process;
};

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

static void close_all(struct child *child)
{
	for (int i = 0; i < STREAMS; i++) {
		close_end(&child->ours[i]);
		close_end(&child->theirs[i]);
	}
}

/* A descriptor that no standard stream has and no other program gets. */
static int moved(int descriptor)
{
	int high = fcntl(descriptor, F_DUPFD_CLOEXEC, STREAMS);

	close(descriptor);
	return high;
}

/* Sockets, not pipes: a write to a closed one can be told not to raise SIGPIPE. */
static int open_ends(struct child *child, struct gt_error *error)
{
	for (int i = 0; i < STREAMS; i++) {
		int pair[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			return gt_fail_errno(error, "%s: no socket", child->name);
		child->ours[i] = moved(pair[0]);
		child->theirs[i] = moved(pair[1]);
		if (child->ours[i] < 0 || child->theirs[i] < 0)
			return gt_fail_errno(error, "%s: no socket", child->name);
	}
	return 0;
}

/* The program has the other ends of the sockets as its standard streams. */
static int start(struct child *child, char *const argv[], struct gt_error *error)
{
	int result = gt_child_start(argv, child->theirs, &child->process);

	for (int i = 0; i < STREAMS; i++)
		close_end(&child->theirs[i]);
	return result == 0 ? 0 : gt_fail(error, "%s cannot be run: %s", child->name, gt_child_reason(argv[0], result));
}

/* Sends what the socket takes. A program that reads no further is no error. */
static int give(struct child *child, struct gt_error *error)
{
	ssize_t sent = send(child->ours[INPUT], child->input, child->input_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent > 0) { /* 0: there is no input, whose address may be NULL */
		child->input += sent;
		child->input_bytes -= (size_t)sent;
	} else if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
		child->input_bytes = 0;
	} else if (sent < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
		return gt_fail_errno(error, "%s: its input cannot be sent", child->name);
	}
	errno = 0; /* an EPIPE of this socket is not one of standard output, which ends a tool quietly */
	if (child->input_bytes == 0)
		close_end(&child->ours[INPUT]);
	return 0;
}

/* Receives what is there; the end of the stream closes the socket. */
static int take(struct child *child, int stream, struct gathered *gathered, struct gt_error *error)
{
	void *bigger = gt_grown_to(gathered->text, gathered->bytes + PIECE + 1, &gathered->capacity, 1);

	if (!bigger)
		return gt_fail_memory(error, child->name);
	gathered->text = bigger;
	ssize_t got = recv(child->ours[stream], gathered->text + gathered->bytes, PIECE, 0);
	if (got > 0)
		gathered->bytes += (size_t)got;
	else if (got == 0)
		close_end(&child->ours[stream]);
	else if (errno != EINTR)
		return gt_fail_errno(error, "%s: its output cannot be read", child->name);
	gathered->text[gathered->bytes] = '\0';
	return gathered->bytes > child->most ? gt_fail(error, "%s: more than %zu bytes of output", child->name, child->most) : 0;
}

/* Gives and takes until the program has closed its output and its complaints. */
static int converse(struct child *child, struct gt_error *error)
{
	while (child->ours[OUTPUT] >= 0 || child->ours[COMPLAINTS] >= 0) {
		struct pollfd polled[STREAMS] = {
			{child->ours[INPUT], POLLOUT, 0}, {child->ours[OUTPUT], POLLIN, 0}, {child->ours[COMPLAINTS], POLLIN, 0}};
		if (poll(polled, STREAMS, -1) < 0) {
			if (errno == EINTR)
				continue;
			return gt_fail_errno(error, "%s", child->name);
		}
		if (polled[INPUT].revents && give(child, error) != 0)
			return -1;
		if (polled[OUTPUT].revents && take(child, OUTPUT, &child->output, error) != 0)
			return -1;
		if (polled[COMPLAINTS].revents && take(child, COMPLAINTS, &child->complaints, error) != 0)
			return -1;
	}
	return 0;
}

static void keep_last_line(struct gathered *from, char line[GT_CHILD_COMPLAINT])
{
	while (from->bytes > 0 && strchr(" \n", from->text[from->bytes - 1]))
		from->text[--from->bytes] = '\0';
	const char *last = from->bytes > 0 ? strrchr(from->text, '\n') : NULL, *text = last ? last + 1 : from->text;
	size_t length = from->bytes > 0 ? strlen(text) : 0;
	if (length >= GT_CHILD_COMPLAINT)
		length = GT_CHILD_COMPLAINT - 1;
	if (length > 0)
		memcpy(line, text, length);
	line[length] = '\0';
}

int gt_child_run(char *const argv[], const char *input, size_t input_bytes, size_t most, struct gt_child_output *output,
		 struct gt_error *error)
{
	struct child child = {.name = argv[0], .input = input, .input_bytes = input_bytes, .most = most,
			      .ours = {-1, -1, -1}, .theirs = {-1, -1, -1}};
	int result = open_ends(&child, error);

	*output = (struct gt_child_output){0};
	if (result == 0)
		result = start(&child, argv, error);
	bool started = result == 0;
	if (started)
		result = converse(&child, error);
	close_all(&child); /* a program that still writes ends now */
	if (started && (output->status = gt_child_wait(child.process)) < 0 && result == 0)
		result = gt_fail_errno(error, "%s", child.name);
	keep_last_line(&child.complaints, output->complaint);
	free(child.complaints.text);
	if (result != 0) {
		free(child.output.text);
		return -1;
	}
	output->text = child.output.text;
	output->bytes = child.output.bytes;
	return 0;
}
