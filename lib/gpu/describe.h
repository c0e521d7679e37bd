/* SPDX-License-Identifier: MIT */
/* A GPU description for people: each figure with where it comes from, then what follows from it. */
#ifndef GT_GPU_DESCRIBE_H
#define GT_GPU_DESCRIBE_H

#include <stdio.h>

#include "base/error.h"
#include "gpu/gpu.h"

/* Prints a table of figures and a table of what is derived: lines, sets, index bits and sectors of
 * every level, and what a block may take when an SM is full. Returns 0, or -1 when a figure makes
 * no sense. Write errors are left in the file, for the caller to see. */
int gt_describe_gpu(const struct gt_gpu *gpu, FILE *file, struct gt_error *error);

#endif
