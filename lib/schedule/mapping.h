/* SPDX-License-Identifier: MIT */
/* Which SM a block runs on ([000] table 2, "Blocks-SM mapping"): a table with one row per mapping. */
#ifndef GT_SCHEDULE_MAPPING_H
#define GT_SCHEDULE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/public.h"

/* The durations of blocks in steps, as measured in a timed cache or on hardware. A slot of an SM is free
 * again when its block has issued its last access and this number of steps has passed since its first. */

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

GT_PUBLIC_BEGIN

struct gt_mapping {
	const struct gt_mapping_kind *kind;
	uint64_t parameter; /* blocks of a partition, or the seed */
	uint32_t sms;

	/* For mappings without a closed form: how many of the first `walked` blocks each SM has. For traced ones:
	 * how many of the blocks seen; the caller counts them. */
	uint64_t *counts; /* owned; NULL otherwise */
	uint64_t walked;
};

struct gt_mapping_kind {
	const char *name;
	const char *parameter; /* the text after the colon, or NULL */
	uint64_t min, max;     /* of the parameter */
	bool traced; /* the rows contain the SM */
	bool dealt;  /* round-robin; with refills, the SM that has room takes the block */
	/* The SM of a block. */
	uint32_t (*sm)(const struct gt_mapping *mapping, uint64_t block);
	/* How many of the first `blocks` blocks run on an SM; NULL: they must be counted. */
	uint64_t (*count)(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks);
};

/* "rr", "part:N", "random:SEED" or "trace". `sms` is set by gt_mapping_open. Returns 0, or -1
 * with what is accepted. */
int gt_mapping_parse(struct gt_mapping *mapping, const char *text, struct gt_error *error);

/* Starts a kernel on this many SMs. Returns 0, or -1 when memory is short. */
int gt_mapping_open(struct gt_mapping *mapping, uint32_t sms, struct gt_error *error);
void gt_mapping_close(struct gt_mapping *mapping);

/* The SM of a block. Not for traced mappings. */
static inline uint32_t gt_mapping_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return mapping->kind->sm(mapping, block);
}

/* How many of the first `blocks` blocks run on the SM; `blocks` must not decrease from one call to the next. */
uint64_t gt_mapping_count(struct gt_mapping *mapping, uint32_t sm, uint64_t blocks);

GT_PUBLIC_END

#endif
