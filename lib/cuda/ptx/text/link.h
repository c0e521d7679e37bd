/* SPDX-License-Identifier: MIT */
/* Joins the PTX texts of several translation units into one, as the device linker joins their code: equal local names of
 * different units stay separate. */
#ifndef GT_PTX_LINK_H
#define GT_PTX_LINK_H

#include <stddef.h>

#include "base/error.h"

struct gt_ptx_text {
	char *data; /* 0-terminated; NULL: nothing yet */
	size_t bytes;
	unsigned units;
};

/* Adds a unit, which needs no final 0. Line numbers are kept. Directives that a module may have only once become blanks, and
 * local names of later units get the unit's number as a suffix. The caller frees the text in either case. */
int gt_ptx_link(struct gt_ptx_text *text, const char *unit, size_t bytes, struct gt_error *error);

#endif
