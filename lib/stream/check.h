/* SPDX-License-Identifier: MIT */
/* Rows against the kernel they belong to. */
#ifndef GT_STREAM_CHECK_H
#define GT_STREAM_CHECK_H

#include "base/error.h"
#include "stream/kernel.h"
#include "stream/rows.h"

/* Returns 0 if every row is valid: blocks, warps and lanes that the launch has, known ops, and sizes, sectors
 * and addresses in range. Else -1, naming the first row that is not. */
int gt_rows_check(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error);

#endif
