/* SPDX-License-Identifier: MIT */
/* The line with which NVBit's mem_trace announces a launch. */
#ifndef GT_IMPORT_NVBIT_LAUNCH_H
#define GT_IMPORT_NVBIT_LAUNCH_H

#include <stddef.h>

#include "base/error.h"
#include "stream/kernel.h"

/* What lines are compared with. */
struct gt_nvbit_launch_line;

/* NULL when memory is short. */
struct gt_nvbit_launch_line *gt_nvbit_launch_line_open(struct gt_error *error);
void gt_nvbit_launch_line_close(struct gt_nvbit_launch_line *with);

/* Reads a line into a kernel that is zero. Returns NULL, or what was expected. */
const char *gt_nvbit_launch_line_scan(const struct gt_nvbit_launch_line *with, const char *line, size_t length,
				      struct gt_kernel *kernel);

#endif
