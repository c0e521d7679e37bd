/* SPDX-License-Identifier: MIT */
/* Temporary files. */
#ifndef GT_BASE_TEMPORARY_H
#define GT_BASE_TEMPORARY_H

#include "base/error.h"

/* Opens a new file in a directory, for reading and writing, that has no name any more: it goes when
 * the process goes, and programs that the process starts do not have it unless it is given to them
 * as one of their standard streams. Closed by the caller. Returns its descriptor, or -1. */
int gt_temporary_file(const char *directory, struct gt_error *error);

#endif
