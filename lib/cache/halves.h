/* SPDX-License-Identifier: MIT */
/* A level of two halves. Each line has its home in one of them. A load looks into the half of its SM
 * first, then into the line's home, and leaves a copy in the half of its SM. All else goes to the home, which alone has
 * written data, and makes a copy invalid. */
#ifndef GT_CACHE_HALVES_H
#define GT_CACHE_HALVES_H

#include <stdint.h>

#include "stream/rows.h"

enum { GT_HALVES = 2 };

/* The half that is a line's home: the parity of its number, so that every aligned range has as many lines in each. */
static inline unsigned gt_home_of(uint64_t address)
{
	return (unsigned)__builtin_parityll(address / GT_LINE);
}

static inline unsigned gt_half_of(uint16_t sm)
{
	return sm & 1;
}

struct gt_serving;

/* Serve a load, or a store or an atomic, whose line has its home in the serving's tags. */
int gt_halves_read(const struct gt_serving *serving);
int gt_halves_write(const struct gt_serving *serving);

#endif
