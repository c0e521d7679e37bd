/* SPDX-License-Identifier: MIT */
/* Reading a file or standard input, compressed or not, by lines or by bytes. Input that begins
 * with the magic of gzip, bzip2, xz or zstd is decompressed by running the tool of that name. A UTF-8 byte-order
 * mark before the text is passed over. */
#ifndef GT_BASE_INPUT_H
#define GT_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GT_LINE_MAX (1U << 20) /* bytes a text line may have */

struct gt_input;

/* The tool that decompresses data which begins so; NULL if it is not compressed. */
const char *gt_compression_tool(const void *head, size_t bytes);

/* Opens a file, or standard input for "-", which must be no terminal. NULL on error. */
struct gt_input *gt_input_open(const char *path, struct gt_error *error);
/* Returns -1 if a decompressor failed (damaged data). A reader that reached the end got that error there. */
int gt_input_close(struct gt_input *input, struct gt_error *error);

/* The first bytes, decompressed, up to 64 KiB, without consuming them: for detecting a format.
 * Call before anything is read. */
int gt_input_peek(struct gt_input *input, const char **head, size_t *bytes, struct gt_error *error);

/* What a file is that is none of the expected, by its first bytes, and what takes it, such as "a program (gtrace-record runs it)".
 * NULL: a text of an unknown kind. */
const char *gt_input_nature(const char *head, size_t bytes);

/* The next line, without its end (\n or \r\n), 0-terminated, in a buffer valid until the next
 * call, with GT_SCAN_SLACK readable bytes behind it (base/scan.h). Returns 1, 0 at the end, or -1:
 * cannot be read, longer than GT_LINE_MAX, or has a 0 byte. */
int gt_input_line(struct gt_input *input, char **line, size_t *length, struct gt_error *error);

/* Raw bytes: how many were read, 0 at the end, -1 on error. */
long gt_input_bytes(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error);

/* Hands the rest of the input over: returns the descriptor to read it from, which the input still owns, and
 * the bytes already read from it, valid until the input is closed. No other call may read afterwards. */
int gt_input_hand_over(struct gt_input *input, const char **head, size_t *bytes);

const char *gt_input_name(const struct gt_input *input);     /* as in diagnostics; "-" is "standard input" */
const char *gt_input_path(const struct gt_input *input);     /* as it was opened */
uint64_t gt_input_line_number(const struct gt_input *input); /* of the last line, from 1 */
uint64_t gt_input_taken(const struct gt_input *input);	     /* bytes of the file itself read so far */
uint64_t gt_input_size(const struct gt_input *input);	     /* of the file, 0 if unknown */

/* "NAME:LINE: message"; returns -1. The arguments may be error->text itself, so
 * gt_input_fail(input, error, "%s", error->text) puts the place before a message that has none. */
int gt_input_fail(const struct gt_input *input, struct gt_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
