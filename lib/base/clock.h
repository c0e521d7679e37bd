/* SPDX-License-Identifier: MIT */
/* Elapsed time. */
#ifndef GT_BASE_CLOCK_H
#define GT_BASE_CLOCK_H

#include <time.h>

/* Seconds of the monotonic clock. */
static inline double gt_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
