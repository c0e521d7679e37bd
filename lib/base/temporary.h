/* SPDX-License-Identifier: MIT */
/* Temporary files. */
#ifndef GT_BASE_TEMPORARY_H
#define GT_BASE_TEMPORARY_H

#include "base/error.h"

/* Creates a file in a directory for reading and writing, and unlinks it, so that it disappears with the
 * process. It is closed on exec: a child gets it only as a standard stream. Returns its descriptor, which the
 * caller closes, or -1. */
int gt_temporary_file(const char *directory, struct gt_error *error);

/* Where they are made if nobody says: $TMPDIR, or /tmp. */
const char *gt_temporary_directory(void);

#endif
