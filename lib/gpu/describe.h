/* SPDX-License-Identifier: MIT */
/* Prints a GPU description: each value with its source, then derived values. */
#ifndef GT_GPU_DESCRIBE_H
#define GT_GPU_DESCRIBE_H

#include <stdio.h>

#include "base/error.h"
#include "gpu/gpu.h"

/* Prints a table of values and a table of derived ones: lines, sets, index bits and sectors of every level,
 * and the resources of a block when an SM is full. Returns 0, or -1 when a value is invalid. The caller checks
 * ferror(file). */
int gt_describe_gpu(const struct gt_gpu *gpu, FILE *file, struct gt_error *error);

/* Writes a description of another GPU to fill in: the values of this one, each assumed, with where it was taken from and its source
 * there. */
void gt_describe_new_gpu(const struct gt_gpu *from, const char *from_name, const char *name, FILE *file);

#endif
