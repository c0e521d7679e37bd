/* SPDX-License-Identifier: MIT */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decompress.h"
#include "base/grown.h"
#include "base/input_state.h"
#include "base/scan.h"

#define PEEK_BYTES ((size_t)64 << 10)
#define BUFFER_BYTES ((size_t)256 << 10)

int gt_input_fill(struct gt_input *input, struct gt_error *error)
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
		return gt_decompress_end(input, error);
	}
	if (!input->has_zero)
		input->has_zero = memchr(input->buffer + input->end, '\0', (size_t)got) != NULL;
	input->end += (size_t)got;
	input->taken += (uint64_t)got;
	return 1;
}

int gt_input_resize(struct gt_input *input, size_t capacity, struct gt_error *error)
{
	char *buffer = gt_resized(input->buffer, capacity + GT_SCAN_SLACK + 1, 1);

	if (!buffer)
		return gt_fail_memory(error, "an input buffer");
	memset(buffer + input->capacity, 0, capacity + GT_SCAN_SLACK + 1 - input->capacity);
	input->buffer = buffer;
	input->capacity = capacity;
	return 0;
}

/* Reads until `bytes` are buffered or the input ends. */
static int fill_to(struct gt_input *input, size_t bytes, struct gt_error *error)
{
	int got = 1;

	while (input->end - input->start < bytes && got > 0)
		got = gt_input_fill(input, error);
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
	if (gt_input_resize(input, BUFFER_BYTES, error) != 0 || fill_to(input, 6, error) != 0)
		return -1;
	input->tool = gt_compression_tool(input->buffer, input->end);
	if (!input->tool)
		return 0;
	input->ended = false;
	return gt_decompress_begin(input, error);
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
		result = gt_decompress_end(input, error);
	else
		gt_decompress_stop(input);
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

int gt_input_make_room(struct gt_input *input, struct gt_error *error)
{
	if (input->start > 0) {
		memmove(input->buffer, input->buffer + input->start, input->end - input->start);
		input->end -= input->start;
		input->start = 0;
	}
	return input->end < input->capacity ? 0 : gt_input_resize(input, input->capacity * 2, error);
}

long gt_input_bytes(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
	if (input->start == input->end) {
		input->start = input->end = 0;
		int got = gt_input_fill(input, error);
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
