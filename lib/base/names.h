/* SPDX-License-Identifier: MIT */
/* Names, numbered in the order in which they are first seen. */
#ifndef GT_BASE_NAMES_H
#define GT_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct gt_names {
	char **names; /* n of them, owned */
	size_t n, capacity;
	struct gt_map index; /* hash of a name, to its number */
};

/* Begins without names. A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_names_open(struct gt_names *names, struct gt_error *error);
void gt_names_close(struct gt_names *names);

/* Sets *number to that of a name, which is added if it is new. */
int gt_names_number(struct gt_names *names, const char *name, uint64_t *number, struct gt_error *error);

#endif
