/* SPDX-License-Identifier: MIT */
/* A file that an option names: it is there whole or not at all, whatever ends the tool. */
#ifndef GT_BASE_WHOLE_FILE_H
#define GT_BASE_WHOLE_FILE_H

#include <stddef.h>

#include "base/error.h"

/* Writes a file. A regular file is written beside its place as PATH.partial-PID, and renamed when every byte is written, so
 * a file that was there stays until then. A device or a pipe is written directly. So is a path that stands for
 * an open descriptor, such as /dev/stdout: others may append to the same file. `what` names it in the message.
 * Returns 0, or -1. */
int gt_whole_file_write(const char *path, const void *bytes, size_t n, const char *what, struct gt_error *error);

#endif
