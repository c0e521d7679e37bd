/* SPDX-License-Identifier: MIT */
/* What an input is called, and how far it has been read (base/input.h), as messages say it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/input_state.h"

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
