/* SPDX-License-Identifier: MIT */
/* An error message of one line: the library sets it and returns; only tools print and exit. And the marks of public headers, all of
 * which include this one. */
#ifndef GT_BASE_ERROR_H
#define GT_BASE_ERROR_H

#include <stdbool.h>

/* Public headers, those that gtrace.h reaches, stand between these two: what they declare is exported by
 * libgtrace.so and has C linkage in C++. No other header does, and none of the rest is installed. */
#ifdef __cplusplus
#define GT_PUBLIC_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define GT_PUBLIC_END } _Pragma("GCC visibility pop")
#else
#define GT_PUBLIC_BEGIN _Pragma("GCC visibility push(default)")
#define GT_PUBLIC_END _Pragma("GCC visibility pop")
#endif

GT_PUBLIC_BEGIN

struct gt_error {
	char text[768]; /* one line, no newline, no name of the tool */
};

/* Sets the text and returns -1, so that a function can end with `return gt_fail(...)`.
 * Unprintable bytes in the text (hostile input quoted back) become '?'. */
int gt_fail(struct gt_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, with ": " and strerror(errno) appended. */
int gt_fail_errno(struct gt_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "out of memory" for `what`; returns -1. */
int gt_fail_memory(struct gt_error *error, const char *what);
/* Whether it was gt_fail_memory() that failed: then nothing is known of what was asked. */
bool gt_failed_memory(const struct gt_error *error);

GT_PUBLIC_END

#ifdef GT_ANALYSED /* says what they return to analyzers, which see one source at a time */
#define gt_fail(...) ((gt_fail)(__VA_ARGS__), -1)
#define gt_fail_errno(...) ((gt_fail_errno)(__VA_ARGS__), -1)
#define gt_fail_memory(...) ((gt_fail_memory)(__VA_ARGS__), -1)
#endif

#endif
