/* SPDX-License-Identifier: MIT */
/* Trace formats: one file each, and a table. An importer reads text and reports launches and accesses in the
 * order of the file; lib/order folds and orders them. */
#ifndef GT_IMPORT_IMPORT_H
#define GT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/trace.h"

struct gt_importer {
	const char *name;    /* --format NAME */
	const char *summary; /* one line for --help */
	/* The file of a folder that is read if the folder is named. NULL: there is none. */
	const char *folder_list;
	/* The endings of the names of traces, which are read in the order of the numbers in their names if a folder without the list is
	 * named: those with the first ending that there is. Ended by NULL. NULL: there are none. */
	const char *const *folder_endings;
	/* True if the first bytes look like this format. NULL: never detected. */
	bool (*detect)(const char *head, size_t bytes);
	/* Reads one file to its end. */
	int (*read)(struct gt_input *input, struct gt_trace *to, struct gt_error *error);
	/* For formats of many files: true if this path (a folder, a file's name) is of this format ... */
	bool (*owns_path)(const char *path);
	/* ... and reads all of them together. Both NULL for formats of one file. */
	int (*read_paths)(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error);
};

/* A trace format described by a regular expression with named groups (gtrace-order(1)). */
struct gt_pattern;
struct gt_pattern *gt_pattern_open(const char *regex, struct gt_error *error);
void gt_pattern_close(struct gt_pattern *pattern);
/* As an importer's read(). */
int gt_pattern_read(struct gt_pattern *pattern, struct gt_input *input, struct gt_trace *to,
		    struct gt_error *error);

/* The launch of accesses without a launch line: id GT_KERNEL_NEXT, named after the file. */
void gt_implicit_kernel(struct gt_kernel *kernel, const struct gt_input *input);

/* Reports rows of a stream, which must be accesses. */
int gt_trace_rows(struct gt_trace *to, const struct gt_rows *rows, struct gt_error *error);

/* A trace of a CPU program is reported as one thread: the launch is named after the file and has one block, thread
 * 0. */
int gt_cpu_launch(struct gt_trace *to, const struct gt_input *input, struct gt_error *error);
int gt_cpu_access(struct gt_trace *to, uint8_t op, uint64_t address, uint64_t bytes, uint64_t pc,
		  struct gt_error *error);

/* Passes a launch and an access on; what the receiver returns as an error gets file and line before it: */

/* Puts file and line before the error's text; returns -1. */
static inline int gt_import_place(const struct gt_input *input, struct gt_error *error)
{
	return gt_input_fail(input, error, "%s", error->text);
}

static inline int gt_import_kernel(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_kernel *kernel, struct gt_error *error)
{
	if (gt_kernel_check(kernel, error) != 0 || to->kernel(to->context, kernel, error) != 0)
		return gt_import_place(input, error);
	return 0;
}

static inline int gt_import_access(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_trace_access *access, struct gt_error *error)
{
	return to->access(to->context, access, error) == 0 ? 0 : gt_import_place(input, error);
}

/* For detect(): copies the next line of the head, cut to `size` - 1 bytes, and moves the head
 * past it. False at the end. */
bool gt_head_line(const char **head, size_t *bytes, char *line, size_t size);

#endif
