/* SPDX-License-Identifier: MIT */
/* The bins of reuse distances (gcache --causes): bin 0 is distance 0; from there on each doubling has four bins of equal width, so that bin
 * 1 + 4 k + f begins at 2^k + f 2^k / 4, rounded up. Of the first two doublings some bins are empty. */
#ifndef GT_COUNTER_DISTANCE_H
#define GT_COUNTER_DISTANCE_H

#include <stdint.h>

#define GT_DISTANCE_BINS 129 /* distances below 2^32 lines */

static inline unsigned gt_distance_bin(uint64_t lines)
{
	if (lines == 0)
		return 0;
	unsigned k = 63 - (unsigned)__builtin_clzll(lines);
	if (k > 31)
		return GT_DISTANCE_BINS - 1;
	return 1 + 4 * k + (unsigned)((lines - (UINT64_C(1) << k)) * 4 >> k);
}

/* The least distance that is beyond a bin: a cache of so many lines has all that is in it. */
static inline uint64_t gt_distance_end(unsigned bin)
{
	unsigned k = bin / 4, f = bin % 4; /* of the next bin */

	return bin == 0 ? 1 : (UINT64_C(1) << k) + (((UINT64_C(1) << k) * f + 3) >> 2);
}

#endif
