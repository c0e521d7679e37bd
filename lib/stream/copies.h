/* SPDX-License-Identifier: MIT */
/* The ranges of device memory that a program has written outside of kernels since its last traced launch, by copies and
 * fills: L2 may hold them when a kernel begins. They go into the stream as the count "copies" of the kernel. */
#ifndef GT_STREAM_COPIES_H
#define GT_STREAM_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"

#define GT_COPIES 65536 /* ranges that are kept; when there are more the older half is dropped */

struct gt_copies {
	uint64_t *addresses, *bytes; /* in the order of the calls; owned */
	size_t n, capacity;
	bool lost; /* memory was short */
};

/* Records a range; one that begins where the last ended is joined to it. If memory is short the range is lost,
 * which gt_copies_count() reports. */
void gt_copies_add(struct gt_copies *copies, uint64_t address, uint64_t bytes);
/* Appends them to a count that has begun. Returns 0, or -1 when memory is or was short. */
int gt_copies_count(const struct gt_copies *copies, struct gt_count *count, struct gt_error *error);
void gt_copies_clear(struct gt_copies *copies);

#endif
