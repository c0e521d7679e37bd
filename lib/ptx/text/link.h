/* SPDX-License-Identifier: MIT */
/* PTX texts of several translation units made into one, as the device linker does it with their
 * code: what is local to a unit stays apart from what has the same name in another. */
#ifndef GT_PTX_LINK_H
#define GT_PTX_LINK_H

#include <stddef.h>

#include "base/error.h"

struct gt_ptx_text {
	char *data; /* 0-terminated; NULL: nothing yet */
	size_t bytes;
	unsigned units;
};

/* Adds a unit, which may end with any byte and needs no 0. Lines stay lines; directives that may
 * stand only once in a module become blanks, and local names of later units get the unit's number
 * behind them. The text is the caller's to free in either case. */
int gt_ptx_link(struct gt_ptx_text *text, const char *unit, size_t bytes, struct gt_error *error);

#endif
