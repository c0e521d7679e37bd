/* SPDX-License-Identifier: MIT */
#undef GT_ANALYSED
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define OUT_OF_MEMORY "out of memory for "

int gt_fail(struct gt_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	gt_utf8_printable(error->text);
	return -1;
}

int gt_fail_errno(struct gt_error *error, const char *format, ...)
{
	int reason = errno;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	size_t length = strlen(error->text);
	snprintf(error->text + length, sizeof error->text - length, ": %s", strerror(reason));
	gt_utf8_printable(error->text);
	return -1;
}

int gt_fail_memory(struct gt_error *error, const char *what)
{
	return gt_fail(error, OUT_OF_MEMORY "%s", what);
}

bool gt_failed_memory(const struct gt_error *error)
{
	return strncmp(error->text, OUT_OF_MEMORY, strlen(OUT_OF_MEMORY)) == 0;
}
