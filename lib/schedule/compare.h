/* SPDX-License-Identifier: MIT */
/* How rows of a batch compare with those before them. */
#ifndef GT_SCHEDULE_COMPARE_H
#define GT_SCHEDULE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "stream/rows.h"

#define GT_COMPARED_ROWS 256 /* at once */
#define GT_COMPARED_ROOM (GT_COMPARED_ROWS + 2) /* elements of a result, of which those behind the rows have no meaning */

/* Of rows [first, first + n), n at most GT_COMPARED_ROWS: 1 for those that have another shape (schedule/shapes.h) than the row
 * before them, 0 for the others and the first. */
void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROOM]);

/* Which of these rows may be in one span (schedule/span.h). */
enum {
	GT_FOLLOWS = 1, /* a row and the one before it */
	GT_EVENLY = 2,	/* and the two before it */
};
void gt_rows_follow(const struct gt_rows *rows, size_t first, size_t n, const uint8_t differs[GT_COMPARED_ROOM],
		    uint8_t follows[GT_COMPARED_ROOM]);

#endif
