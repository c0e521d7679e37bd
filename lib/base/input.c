/* SPDX-License-Identifier: MIT */
/* Reading a file or standard input (base/input.h): decompression by other processes, a buffer, and what is read from it: bytes, lines, or
 * pieces that are inputs of their own (base/piece.h). */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/grown.h"
#include "base/piece.h"
#include "base/scan.h"

/* ---- decompression ---- */

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

/* Starts the input's tool, which gets the file from its first byte, though its beginning has been read; what is read from then
 * on is decompressed. */
static int begin_decompression(struct gt_input *input, struct gt_error *error)
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
		       gt_input_name(input), input->tool, gt_child_reason(input->tool, result));
}

/* Waits for a child; returns its status, or -1. */
static int wait_for(pid_t *process)
{
	int status = gt_child_wait(*process);

	*process = 0;
	return status;
}

/* Waits for the processes after the last byte, and checks how they ended. */
static int end_decompression(struct gt_input *input, struct gt_error *error)
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

/* Ends them where the rest is not read. */
static void stop_decompression(struct gt_input *input)
{
	pid_t *processes[] = {&input->process, &input->feeder};

	for (int i = 0; i < 2; i++) {
		if (*processes[i] == 0)
			continue;
		kill(*processes[i], SIGTERM);
		wait_for(processes[i]);
	}
}

/* ---- the buffer ---- */

#define PEEK_BYTES ((size_t)64 << 10)
#define BUFFER_BYTES ((size_t)256 << 10)

/* Reads as much as fits in the buffer. Returns 1, 0 at the end, -1 on error. */
static int fill(struct gt_input *input, struct gt_error *error)
{
	ssize_t got;

	if (input->ended)
		return 0;
	do
		got = read(input->descriptor, input->buffer + input->end, input->capacity - input->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return gt_fail_errno(error, "%s", gt_input_name(input));
	if (got == 0) {
		input->ended = true;
		return end_decompression(input, error);
	}
	if (!input->has_zero)
		input->has_zero = memchr(input->buffer + input->end, '\0', (size_t)got) != NULL;
	input->end += (size_t)got;
	input->taken += (uint64_t)got;
	return 1;
}

/* Enlarges the buffer to so many bytes. */
static int resize(struct gt_input *input, size_t capacity, struct gt_error *error)
{
	size_t bytes = capacity + GT_SCAN_SLACK + 1;
	char *buffer = input->buffer ? gt_resized(input->buffer, bytes, 1) : calloc(bytes, 1);

	if (!buffer)
		return gt_fail_memory(error, "an input buffer");
	if (input->buffer)
		memset(buffer + input->capacity, 0, bytes - input->capacity);
	input->buffer = buffer;
	input->capacity = capacity;
	return 0;
}

/* Reads until `bytes` are buffered or the input ends. */
static int fill_to(struct gt_input *input, size_t bytes, struct gt_error *error)
{
	int got = 1;

	while (input->end - input->start < bytes && got > 0)
		got = fill(input, error);
	return got < 0 ? -1 : 0;
}

static int begin(struct gt_input *input, struct gt_error *error)
{
	struct stat status;

	input->file = strcmp(input->path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						    : open(input->path, O_RDONLY | O_CLOEXEC);
	input->descriptor = input->file;
	if (input->file < 0 || fstat(input->file, &status) != 0)
		return gt_fail_errno(error, "%s", gt_input_name(input));
	if (S_ISREG(status.st_mode) && status.st_size > 0)
		input->size = (uint64_t)status.st_size;
	if (resize(input, BUFFER_BYTES, error) != 0 || fill_to(input, 6, error) != 0)
		return -1;
	input->tool = gt_compression_tool(input->buffer, input->end);
	if (!input->tool)
		return 0;
	input->ended = false;
	return begin_decompression(input, error);
}

/* Passes over the byte-order mark that some editors put before UTF-8. */
static int pass_over_mark(struct gt_input *input, struct gt_error *error)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (fill_to(input, strlen(mark), error) != 0)
		return -1;
	if (input->end >= strlen(mark) && memcmp(input->buffer, mark, strlen(mark)) == 0)
		input->start = strlen(mark);
	return 0;
}

struct gt_input *gt_input_open(const char *path, struct gt_error *error)
{
	struct gt_input *input = calloc(1, sizeof *input);
	struct gt_error ignored;

	if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO)) {
		free(input);
		gt_fail(error, "standard input is a terminal: name a file, or put a pipe before it");
		return NULL;
	}
	if (!input || !(input->path = strdup(path))) {
		free(input);
		gt_fail_memory(error, "an input");
		return NULL;
	}
	input->file = input->descriptor = -1;
	if (begin(input, error) == 0 && pass_over_mark(input, error) == 0)
		return input;
	gt_input_close(input, &ignored);
	return NULL;
}

/* Once the descriptor is handed over, only another read tells whether the input was read to its end. */
static bool nothing_left(struct gt_input *input)
{
	char byte;

	return input->handed_over && read(input->descriptor, &byte, 1) == 0;
}

int gt_input_close(struct gt_input *input, struct gt_error *error)
{
	int result = 0;

	if (!input)
		return 0;
	bool complete = input->ended || nothing_left(input);
	if (input->descriptor != input->file && input->descriptor >= 0)
		close(input->descriptor);
	if (input->file >= 0)
		close(input->file);
	if (complete)
		result = end_decompression(input, error);
	else
		stop_decompression(input);
	free(input->buffer);
	free(input->path);
	free(input);
	return result;
}

int gt_input_peek(struct gt_input *input, const char **head, size_t *bytes, struct gt_error *error)
{
	if (fill_to(input, PEEK_BYTES, error) != 0)
		return -1;
	*head = input->buffer + input->start;
	*bytes = input->end - input->start;
	if (*bytes > PEEK_BYTES)
		*bytes = PEEK_BYTES;
	return 0;
}

int gt_input_hand_over(struct gt_input *input, const char **head, size_t *bytes)
{
	*head = input->buffer + input->start;
	*bytes = input->end - input->start;
	input->start = input->end;
	input->handed_over = true;
	return input->descriptor;
}

/* Makes room after the buffered bytes: moves them to the front, or enlarges the buffer. */
static int make_room(struct gt_input *input, struct gt_error *error)
{
	if (input->start > 0) {
		memmove(input->buffer, input->buffer + input->start, input->end - input->start);
		input->end -= input->start;
		input->start = 0;
	}
	return input->end < input->capacity ? 0 : resize(input, input->capacity * 2, error);
}

long gt_input_bytes(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
	if (input->start == input->end) {
		input->start = input->end = 0;
		int got = fill(input, error);
		if (got <= 0)
			return got;
	}
	size_t n = input->end - input->start;
	if (n > bytes)
		n = bytes;
	memcpy(buffer, input->buffer + input->start, n);
	input->start += n;
	return (long)n;
}

/* ---- lines ---- */

#define STREAM_MAGIC "\x93\xa6gtrace" /* how gtrace(5) begins: an array of three, whose first is that string */

/* Makes the text of the last line what it was. */
static void mend(struct gt_input *input)
{
	if (input->terminated)
		*input->terminated = input->replaced;
	input->terminated = NULL;
}

/* Makes room for the rest of a line, which has a limit. */
static int make_room_in_line(struct gt_input *input, struct gt_error *error)
{
	if (input->start == 0 && input->end == input->capacity && input->capacity > GT_LINE_MAX) {
		input->line++;
		return gt_input_fail(input, error, "expected a line of at most %u bytes", GT_LINE_MAX);
	}
	return make_room(input, error);
}

/* The end of the line that begins at `start`: its newline, or the end of the input. */
static int find_end(struct gt_input *input, size_t *end, bool *newline, struct gt_error *error)
{
	size_t searched = 0;

	for (;;) {
		char *from = input->buffer + input->start + searched;
		char *found = memchr(from, '\n', input->end - input->start - searched);
		if (found) {
			*newline = true;
			*end = (size_t)(found - input->buffer);
			return 1;
		}
		searched = input->end - input->start;
		if (!input->ended && (make_room_in_line(input, error) != 0 || fill(input, error) < 0))
			return -1;
		if (input->ended) {
			*newline = false;
			*end = input->end;
			return searched > 0;
		}
	}
}

static bool begins(const char *head, size_t bytes, const char *magic)
{
	size_t n = strlen(magic);

	return bytes >= n && memcmp(head, magic, n) == 0;
}

/* Whether a line begins with a word. */
static bool has_line(const char *head, size_t bytes, const char *word)
{
	for (const char *at = head, *end = head + bytes; at && at < end;) {
		if (begins(at, (size_t)(end - at), word))
			return true;
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return false;
}

static const char binary[] = "binary data";

const char *gt_input_nature(const char *head, size_t bytes)
{
	if (begins(head, bytes, "\x7f" "ELF"))
		return "a program (gtrace-record runs it)";
	if (begins(head, bytes, STREAM_MAGIC))
		return "a gtrace stream (gtrace-cat shows it)";
	if (has_line(head, bytes, ".version ") && has_line(head, bytes, ".target "))
		return "PTX (gtrace-ptx runs its kernels)";
	if (has_line(head, bytes, "#include"))
		return "a source (nvcc -g -lineinfo -cudart shared makes a program of it, which gtrace-record runs)";
	if (begins(head, bytes, "\xff\xfe") || begins(head, bytes, "\xfe\xff"))
		return "UTF-16 text (iconv -f UTF-16 -t UTF-8 converts it)";
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)head[i] < ' ' && !(head[i] >= '\a' && head[i] <= '\r'))
			return binary;
	return NULL;
}

/* A line with a 0 byte is something else than text: what it is, as far as its beginning tells. */
static int fail_zero(const struct gt_input *input, const char *text, size_t length, struct gt_error *error)
{
	const char *found = gt_input_nature(text, length);

	return gt_input_fail(input, error, "expected text, found %s", found != binary ? found : "a 0 byte");
}

int gt_input_line(struct gt_input *input, char **line, size_t *length, struct gt_error *error)
{
	bool newline;
	size_t end;

	mend(input);
	int found = find_end(input, &end, &newline, error);

	if (found <= 0)
		return found;
	char *text = input->buffer + input->start;
	size_t n = end - input->start;
	input->start = end + newline;
	input->line++;
	if (n > GT_LINE_MAX)
		return gt_input_fail(input, error, "expected a line of at most %u bytes", GT_LINE_MAX);
	if (input->has_zero && memchr(text, '\0', n))
		return fail_zero(input, text, n, error);
	if (newline && n > 0 && text[n - 1] == '\r')
		n--;
	input->terminated = text + n;
	input->replaced = text[n];
	text[n] = '\0';
	*line = text;
	*length = n;
	return 1;
}

/* ---- its name, and how far it has been read, as messages say it ---- */

const char *gt_input_name(const struct gt_input *input)
{
	return strcmp(input->path, "-") == 0 ? "standard input" : input->path;
}

const char *gt_input_path(const struct gt_input *input) { return input->path; }
uint64_t gt_input_line_number(const struct gt_input *input) { return input->line; }
uint64_t gt_input_size(const struct gt_input *input) { return input->size; }

uint64_t gt_input_taken(const struct gt_input *input)
{
	/* The decompressor shares the file's offset. */
	off_t offset = lseek(input->file, 0, SEEK_CUR);

	return offset >= 0 ? (uint64_t)offset : input->taken;
}

int gt_input_fail(const struct gt_input *input, struct gt_error *error, const char *format, ...)
{
	char text[sizeof error->text]; /* the arguments may lie in the error itself */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return gt_fail(error, "%s:%" PRIu64 ": %s", gt_input_name(input), input->line, text);
}

/* ---- pieces ---- */

struct gt_input *gt_piece_open(const struct gt_input *whole, struct gt_error *error)
{
	struct gt_input *piece = calloc(1, sizeof *piece);
	struct gt_error ignored;

	if (!piece) {
		gt_fail_memory(error, "an input");
		return NULL;
	}
	piece->file = piece->descriptor = -1;
	piece->ended = true;
	piece->path = strdup(whole->path);
	if (piece->path)
		return piece;
	gt_input_close(piece, &ignored);
	gt_fail_memory(error, "an input");
	return NULL;
}

/* Reads until so many bytes are buffered or the input ends. */
static int read_ahead(struct gt_input *input, size_t bytes, struct gt_error *error)
{
	while (input->end - input->start < bytes && !input->ended)
		if (make_room(input, error) != 0 || fill(input, error) < 0)
			return -1;
	return 0;
}

bool gt_piece_begins(const struct gt_input *whole, const char *text)
{
	size_t length = strlen(text);

	return whole->end - whole->start >= length && memcmp(whole->buffer + whole->start, text, length) == 0;
}

/* The offset of the last line behind the first that begins with the mark; 0 if there is none. */
static size_t last_mark(const char *text, size_t bytes, const char *mark)
{
	size_t length = strlen(mark), found = 0;

	for (const char *at = text + 1, *end = text + bytes; at < end && (at = memchr(at, *mark, (size_t)(end - at))); at++)
		if (at[-1] == '\n' && (size_t)(end - at) >= length && memcmp(at, mark, length) == 0)
			found = (size_t)(at - text);
	return found;
}

/* The bytes up to the end of the last whole line. */
static size_t whole_lines(const char *text, size_t bytes)
{
	while (bytes > 0 && text[bytes - 1] != '\n')
		bytes--;
	return bytes;
}

/* Gives the first n bytes of what is buffered to the piece, with the buffer itself, and keeps the others. */
static int give(struct gt_input *piece, struct gt_input *whole, size_t n, struct gt_error *error)
{
	size_t rest = whole->end - whole->start - n;

	piece->terminated = NULL;
	if (piece->capacity < whole->capacity && resize(piece, whole->capacity, error) != 0)
		return -1;
	char *buffer = piece->buffer;
	size_t capacity = piece->capacity;
	memcpy(buffer, whole->buffer + whole->start + n, rest);
	piece->buffer = whole->buffer;
	piece->capacity = whole->capacity;
	piece->first = whole->start;
	piece->end = whole->start + n;
	piece->has_zero = whole->has_zero;
	gt_piece_again(piece, 0);
	whole->buffer = buffer;
	whole->capacity = capacity;
	whole->start = 0;
	whole->end = rest;
	return 0;
}

/* The bytes that a piece gets of those that are buffered; 0 if it is to have more. */
static size_t find_cut(const struct gt_input *whole, const char *mark)
{
	const char *text = whole->buffer + whole->start;
	size_t bytes = whole->end - whole->start, lines;

	if (mark)
		return last_mark(text, bytes, mark);
	lines = whole_lines(text, bytes);
	/* A line that is too long is not read to its end. */
	return lines == 0 && bytes > GT_LINE_MAX + 1 ? bytes : lines;
}

int gt_piece_cut(struct gt_input *piece, struct gt_input *whole, const char *mark, size_t least, struct gt_error *error)
{
	struct gt_error ignored;
	size_t n = 0;
	int result = 0;

	mend(whole);
	for (size_t wanted = least; n == 0 && result == 0; wanted *= 2) {
		result = read_ahead(whole, wanted, error);
		if (result == 0 && whole->ended)
			break;
		n = result == 0 ? find_cut(whole, mark) : whole_lines(whole->buffer + whole->start, whole->end - whole->start);
	}
	if (n == 0 && result == 0)
		n = whole->end - whole->start;
	if (give(piece, whole, n, result == 0 ? error : &ignored) != 0)
		return -1;
	return result < 0 ? -1 : n > 0;
}

void gt_piece_again(struct gt_input *piece, uint64_t before)
{
	mend(piece);
	piece->start = piece->first;
	piece->line = before;
}

void gt_piece_note_line(struct gt_input *input, uint64_t line)
{
	input->line = line;
}
