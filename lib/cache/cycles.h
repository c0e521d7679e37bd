/* SPDX-License-Identifier: MIT */
/* Cycles that a level adds to an access. [001] table 3 measures whole accesses, and the cost of a miss depends on the level
 * that has the data, so the cycles may depend on those added by earlier levels. */
#ifndef GT_CACHE_CYCLES_H
#define GT_CACHE_CYCLES_H

#include <stdint.h>

#include "base/error.h"

#define GT_CYCLES_STEPS 8

struct gt_cycles {
	unsigned n; /* 0: not known */
	struct {
		uint32_t from;	/* cycles so far, ascending, the first 0 */
		uint32_t added; /* for accesses with at least that many, up to the next `from` */
	} step[GT_CYCLES_STEPS];
};

/* "84" or "84,666:579,682:577": 84 are added, 579 from 666 cycles on, 577 from 682 on; or "unknown". Returns 0, or -1
 * with what was expected. */
int gt_cycles_parse(const char *text, struct gt_cycles *cycles, struct gt_error *error);

/* The latency of an access after this level, at most UINT32_MAX. `cycles` is known. */
uint32_t gt_cycles_add(const struct gt_cycles *cycles, uint32_t latency);

#endif
