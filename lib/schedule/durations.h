/* SPDX-License-Identifier: MIT */
/* The durations of blocks in steps, as measured in a timed cache or on hardware. A slot of an SM is free
 * again when its block has issued its last access and this number of steps has passed since its first. */
#ifndef GT_SCHEDULE_DURATIONS_H
#define GT_SCHEDULE_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/public.h"

GT_PUBLIC_BEGIN

#define GT_DURATION_MAX (UINT64_C(1) << 31) /* steps of a block */

struct gt_duration {
	uint64_t kernel; /* its id */
	uint32_t block, steps;
};

/* Zero is none; freed by close. */
struct gt_durations {
	struct gt_duration *items; /* by kernel and block, once sorted */
	size_t n, capacity;
};

/* Reads a line "KERNEL BLOCK STEPS", a blank line, or a comment after #. Returns 0, or -1 with what was expected. */
int gt_durations_add(struct gt_durations *durations, const char *line, struct gt_error *error);

/* Call after the last line. Returns 0, or -1 if a block occurs twice. */
int gt_durations_sort(struct gt_durations *durations, struct gt_error *error);

/* Reads all lines of a file, and sorts. Returns 0, or -1 with the file and line. */
int gt_durations_read(struct gt_durations *durations, const char *path, struct gt_error *error);

/* The steps of a block; 0 if unknown. */
uint64_t gt_durations_of(const struct gt_durations *durations, uint64_t kernel, uint32_t block);

void gt_durations_close(struct gt_durations *durations);

GT_PUBLIC_END

#endif
