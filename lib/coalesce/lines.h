/* SPDX-License-Identifier: MIT */
/* The lines and sectors that the lanes of a warp touch. */
#ifndef GT_COALESCE_LINES_H
#define GT_COALESCE_LINES_H

#include <stdint.h>

#include "stream/rows.h"

#define GT_TOUCHED_MAX (2 * GT_WARP_SIZE) /* each lane may reach over the end of its line */

struct gt_touched {
	uint64_t address; /* of the line */
	uint8_t sectors;  /* mask of those with a byte of some lane */
	uint8_t full;	  /* mask of those that the lanes together cover completely */
	uint8_t threads;  /* lanes whose first byte lies in the line */
};

/* Each writes the distinct lines in the order of the first lane that touches them, and returns their number. Of
 * two lines that a lane touches, that of its first byte comes first. `size` is 1 to GT_ACCESS_SIZE_MAX bytes a
 * lane; bytes beyond the end of the address space wrap to 0. */

/* The lanes of `mask`, which is not 0: base + stride * (lane - lowest lane), modulo 2^64. */
unsigned gt_lines_of_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned size,
			    struct gt_touched touched[GT_TOUCHED_MAX]);

/* `n` lanes with the addresses given, at most GT_WARP_SIZE. */
unsigned gt_lines_of_lanes(const uint64_t *addresses, unsigned n, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX]);

#endif
