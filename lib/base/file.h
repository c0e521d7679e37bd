/* SPDX-License-Identifier: MIT */
/* Files that are written as a whole: to the place that an option names, in memory, and temporary ones. */
#ifndef GT_BASE_FILE_H
#define GT_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* ---- a file that an option names: it is there whole or not at all, whatever ends the tool ---- */

/* Writes a file. A regular file is written beside its place as PATH.partial-PID, and renamed when every byte is written, so
 * a file that was there stays until then. A device or a pipe is written directly. So is a path that stands for
 * an open descriptor, such as /dev/stdout: others may append to the same file. `what` names it in the message.
 * Returns 0, or -1. */
int gt_whole_file_write(const char *path, const void *bytes, size_t n, const char *what, struct gt_error *error);

/* The same with all that is in an open file. */
int gt_whole_file_copy(const char *path, int file, const char *what, struct gt_error *error);

/* Before long work whose result it gets: whether a file can be written there now, and whether files can be made in a folder. Returns
 * 0, or -1. */
int gt_whole_file_check(const char *path, const char *what, struct gt_error *error);
int gt_folder_check(const char *folder, struct gt_error *error);

/* A file that is written in memory and then taken as one text. Unlike open_memstream, of which glibc loses text without a word
 * when memory is short, it fails for good. */

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

/* ---- temporary files ---- */

/* Creates a file in a directory for reading and writing, and unlinks it, so that it disappears with the
 * process. It is closed on exec: a child gets it only as a standard stream. Returns its descriptor, which the
 * caller closes, or -1. */
int gt_temporary_file(const char *directory, struct gt_error *error);

/* Where they are made if nobody says: $TMPDIR, or /tmp. */
const char *gt_temporary_directory(void);

#endif
