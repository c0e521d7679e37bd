/* SPDX-License-Identifier: MIT */
/* What if L1 or L2 had another size: the model of one source with caches of several sizes, each by a pipe of its own behind a
 * schedule that is made once. */
#ifndef GT_COMPOSE_SIZES_H
#define GT_COMPOSE_SIZES_H

#include <stdbool.h>
#include <stdio.h>

#include "compose/usual.h"

struct gt_sizes {
	const struct gt_origin *origin;
	const struct gt_usual *usual;
	const char *kernel; /* a regular expression on names, or NULL */
	bool csv;
	void (*show)(const struct gt_pipe *pipe); /* called with each pipe before it is run */
};

/* Writes the table. Sets *status to that of the first pipe that failed, and then writes nothing. Returns 0, or -1. */
int gt_sizes_write(const struct gt_sizes *sizes, FILE *to, int *status, struct gt_error *error);

#endif
