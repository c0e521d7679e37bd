/* SPDX-License-Identifier: MIT */
/* Plain loads that repeat the request before them: the same line for the same SM, and no other sectors. They hit at the most
 * recent position, and change nothing. The other requests are leaders. */
#ifndef GT_CACHE_LEADERS_H
#define GT_CACHE_LEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/rows.h"

#define GT_LEADERS_ROWS 256

struct gt_leaders {
	size_t n;
	uint32_t row[GT_LEADERS_ROWS];
	uint64_t repeated; /* sectors of the rows that are no leaders */
};

/* Of rows [first, first + n), n at most GT_LEADERS_ROWS; the first is a leader. `sm` is NULL if all rows are of one. All are
 * leaders unless `repeats_hit`. */
void gt_leaders_find(struct gt_leaders *leaders, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		     bool repeats_hit);

#endif
