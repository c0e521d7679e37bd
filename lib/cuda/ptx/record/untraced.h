/* SPDX-License-Identifier: MIT */
/* Work of a program that was done without being traced, by the stand-ins of libraries: how often each of their calls was made
 * since the last traced launch. */
#ifndef GT_PTX_UNTRACED_H
#define GT_PTX_UNTRACED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"

struct gt_ptx_untraced {
	struct gt_ptx_untraced_call {
		char name[GT_COUNT_NAME];
		uint64_t calls;
	} *of; /* in the order of their first calls; owned */
	size_t n, capacity;
};

/* Counts a call; -1 when memory is short. */
int gt_ptx_untraced_add(struct gt_ptx_untraced *untraced, const char *name);
/* Appends two entries to a count that has begun: the names, separated by commas, and their calls. Returns 0, or -1 when memory
 * is short. */
int gt_ptx_untraced_count(const struct gt_ptx_untraced *untraced, const char *names, const char *calls, struct gt_count *count,
			  struct gt_error *error);
void gt_ptx_untraced_clear(struct gt_ptx_untraced *untraced);

#endif
