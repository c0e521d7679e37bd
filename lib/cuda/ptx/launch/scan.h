/* SPDX-License-Identifier: MIT */
/* The parts of a line that stands for a launch. Each function reads what is expected at *at and moves past it. Returns 0, or -1 with an
 * error that shows the place. Private to lib/cuda/ptx/launch. */
#ifndef GT_PTX_LAUNCH_SCAN_H
#define GT_PTX_LAUNCH_SCAN_H

#include "cuda/ptx/launch/launch.h"

/* "at 'TEXT': MESSAGE"; returns -1. */
int gt_ptx_launch_fail_at(const char *at, struct gt_error *error, const char *message);

/* The sign, with blanks around it. */
int gt_ptx_launch_want(const char **at, const char *sign, struct gt_error *error);

/* A number or an expression; a whole number from min to max. */
int gt_ptx_launch_value(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value, struct gt_error *error);
int gt_ptx_launch_count(const struct gt_ptx_launch_line *call, const char **at, uint64_t min, uint64_t max, uint64_t *count,
			struct gt_error *error);

/* <<<grid, block[, bytes of dynamic shared memory[, cluster]]>>> */
int gt_ptx_launch_shape(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error);

/* [NAME=] buffer, name of a buffer, number, null or bytes */
int gt_ptx_launch_argument(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_argument *argument,
			   struct gt_error *error);

#endif
