/* SPDX-License-Identifier: MIT */
/* Which accesses of a P-chase a level sends on: the stream that gcache writes, kept as a set. */
#ifndef GT_DISSECT_MISSED_H
#define GT_DISSECT_MISSED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gt_missed {
	uint64_t *keys; /* id of the kernel << 32 | number of the access, rising */
	size_t n, capacity;
	size_t at; /* where gt_missed_has looks first */
};

/* Reads a stream from a descriptor to its end. Returns 0 or -1. */
int gt_missed_read(struct gt_missed *missed, int descriptor, const char *name, struct gt_error *error);
/* Whether this access is among them. Calls must be made with rising kernels and accesses. */
int gt_missed_has(struct gt_missed *missed, uint64_t kernel, uint32_t an);
void gt_missed_clear(struct gt_missed *missed);

#endif
