/* SPDX-License-Identifier: MIT */
/* A file that is written in memory and then taken as one text. Unlike open_memstream, of which glibc
 * loses text without a word when memory is short, it fails for good. */
#ifndef GT_BASE_MEMORY_FILE_H
#define GT_BASE_MEMORY_FILE_H

#include <stdio.h>

#include "base/error.h"

struct gt_memory_file {
	FILE *file; /* to be written to */
	char *text;
	size_t bytes, capacity;
};

/* Opens an empty one. Returns 0, or -1 when memory is short. */
int gt_memory_file_open(struct gt_memory_file *memory, struct gt_error *error);

/* Closes it and gives its text, a 0 behind it, which the caller frees; `bytes` may be NULL. NULL if any of it was
 * lost because memory was short; `what` names it in the message. */
char *gt_memory_file_take(struct gt_memory_file *memory, size_t *bytes, const char *what, struct gt_error *error);

/* Closes it and writes its text to a file, which is whole or not made. Returns 0, or -1. */
int gt_memory_file_save(struct gt_memory_file *memory, const char *path, const char *what, struct gt_error *error);

/* Closes it without its text; one that is not open is left alone. */
void gt_memory_file_close(struct gt_memory_file *memory);

#endif
