/* SPDX-License-Identifier: MIT */
/* The lines and sectors that the lanes of a warp access touch. */
#ifndef GT_COALESCE_LINES_H
#define GT_COALESCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/rows.h"

/* As __builtin_popcount, in operations that a vector has. */
static inline uint32_t gt_count_lanes(uint32_t mask)
{
	mask -= mask >> 1 & 0x55555555; /* counts of pairs, of fours, of eights */
	mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f;
	return mask * 0x01010101U >> 24;
}

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

/* If the lanes touch some lines alike, each a stride from the one before, sets the first and returns how many there are; 0: they do not, or it is
 * not seen. */
unsigned gt_column_lines(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched);

/* As gt_lines_of_affine, with a pitch. */
unsigned gt_lines_of_pitch(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX]);

/* `n` lanes with the addresses given, at most GT_WARP_SIZE. */
unsigned gt_lines_of_lanes(const uint64_t *addresses, unsigned n, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX]);

/* How many different ones are among `n` addresses, at most GT_WARP_SIZE. */
unsigned gt_distinct_addresses(const uint64_t *addresses, unsigned n);

/* Accesses that touch one line each, a run of them at once. */
#define GT_SINGLE_ROWS 256 /* accesses at once */

/* Data accesses to other memory than shared, by enum gt_action, and the sectors that they touch. */
struct gt_single_counts {
	uint64_t accesses[4], sectors[4];
};

/* Appends a request for each of the accesses [first, first + n), at most GT_SINGLE_ROWS, to `requests`, which has room and carries their
 * columns, and adds to the counts. Returns false, having changed neither, unless each is of data in other memory than shared by
 * neighbouring lanes at most a sector apart, in one line, none of them at a lower address than the one before. */
bool gt_single_lines(const struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests,
		     struct gt_single_counts *counts);

/* The same of accesses of which only some are of that kind. */
struct gt_singles {
	uint64_t address[GT_SINGLE_ROWS];
	uint8_t single[GT_SINGLE_ROWS]; /* whether it is one; the rest is of those that are */
	uint8_t sectors[GT_SINGLE_ROWS], full[GT_SINGLE_ROWS], threads[GT_SINGLE_ROWS];
};

/* Finds them among the accesses [first, first + n), at most GT_SINGLE_ROWS. */
void gt_find_singles(const struct gt_rows *accesses, size_t first, size_t n, struct gt_singles *singles);

#endif
