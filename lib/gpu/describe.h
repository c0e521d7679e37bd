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

/* Writes a description from a configuration of GPGPU-Sim (gpgpusim.config), named after its folder: what has a counterpart, with the
 * option as its source; of occupancy what is in no configuration, from `rest`; and the other options as comments. Sets how many options
 * have a counterpart, and how many have none. Returns 0, or -1 with file, line or option, and what was expected. */
int gt_describe_gpgpusim(const char *path, const struct gt_gpu *rest, const char *rest_name, FILE *to, size_t counts[2], struct gt_error *error);

#endif
