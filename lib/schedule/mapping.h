/* SPDX-License-Identifier: MIT */
/* Which SM a block runs on ([000] table 2, "Blocks-SM mapping"): a table with one row per mapping. */
#ifndef GT_SCHEDULE_MAPPING_H
#define GT_SCHEDULE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/public.h"

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
