/* SPDX-License-Identifier: MIT */
/* Which rows of a batch have another shape (schedule/shapes.h) than the row before them. */
#ifndef GT_SCHEDULE_COMPARE_H
#define GT_SCHEDULE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "stream/rows.h"

#define GT_COMPARED_ROWS 256 /* at once */

/* Of rows [first, first + n), n at most GT_COMPARED_ROWS: 0 for those that have the same, and for the first. */
void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROWS]);

#endif
