/* SPDX-License-Identifier: MIT */
/* Reuse distances of the references that rows make, in the order of the rows. */
#ifndef GT_REUSE_REUSE_H
#define GT_REUSE_REUSE_H

#include "base/error.h"
#include "base/map.h"
#include "reuse/profile.h"
#include "reuse/stack.h"
#include "reuse/unit.h"
#include "stream/count.h"
#include "stream/op.h"
#include "stream/rows.h"

#define GT_REUSE_SETS_MAX (UINT64_C(1) << 24)
#define GT_SAMPLE_EVERY_MAX (UINT64_C(1) << 24)
#define GT_REUSE_DIRECT 65536 /* groups whose stack is found without hashing */

enum gt_reuse_per {
	GT_PER_SM_IF_SCHEDULED, /* a stack per SM where rows say their SM, else one */
	GT_PER_SM,
	GT_PER_GLOBAL,
	GT_PER_BLOCK,
	GT_PER_WARP,
};

struct gt_reuse_options {
	struct gt_unit unit;
	enum gt_reuse_per per;
	uint64_t sets; /* stacks that each of these is divided into ([002] 4.3); 1: it is not */
	/* Which of them a unit is in, below `sets`; NULL: its number modulo sets. */
	uint32_t (*set_of)(const void *context, uint64_t unit);
	const void *set_context;
	unsigned actions; /* bit 1 << action for each enum gt_action that makes references */
	uint64_t bound; /* reuse/histogram.h */
	const struct gt_split *split;
	const struct gt_launch *launch; /* what the split goes by; the caller's */
	/* Only lines whose hash is among the lowest one of `every` are measured (1: all), and each
	 * stands for that many: its distance and its count are multiplied. When more than
	 * sample_lines (0: no limit) are in the stacks, `every` is doubled and they are thinned. */
	uint64_t every, sample_lines;
	/* Called with each reference, if set: the row and the unit's number and distance. */
	int (*watch)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit,
		     uint64_t distance, struct gt_error *error);
	/* Called, if set, with each reference that found no MSHR: it comes again, and has no distance. */
	int (*watch_refused)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error);
	void *watch_context;
};

struct gt_reference;

struct gt_reuse {
	struct gt_reuse_options options;
	struct gt_profile profile;
	struct gt_stack *stacks;
	size_t n_stacks, capacity;
	struct gt_map index; /* group * sets + set, to stack */
	uint32_t *direct;    /* the same for small ones: stack + 1 */
	struct gt_reference *references; /* of the rows being read, a chunk at a time */
	bool by_sm; /* the last rows had a stack for each SM */
	bool timed; /* some rows said what a level found */
	uint64_t every, threshold; /* as sampling stands now: hashes up to the threshold */
	uint64_t live; /* lines in all stacks, where sample_lines bounds them */
};

int gt_reuse_open(struct gt_reuse *reuse, const struct gt_reuse_options *options, struct gt_error *error);
void gt_reuse_close(struct gt_reuse *reuse);

/* Takes rows of the unit's kind and counts them into the profile. Shared memory has no lines that
 * could be reused, so its rows are no references; nor are those that failed to reserve an MSHR, of
 * which only hits and misses are recorded ([000] table 3). Returns 0, or -1: memory, rows of the other
 * kind, or rows without an SM where one is needed. After an error it can only be closed. */
int gt_reuse_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error);

/* Appends to `count` the words `granularity` and `per`, how lines were sampled, if they were, and
 * `reservation_fails` where rows have a status. */
int gt_reuse_describe(const struct gt_reuse *reuse, struct gt_count *count, struct gt_error *error);
/* What has a stack, "sm,set:64", into a buffer; returns it. */
#define GT_REUSE_PER_TEXT 64
const char *gt_reuse_per_format(const struct gt_reuse *reuse, char buffer[GT_REUSE_PER_TEXT]);

/* The error to expect of a ratio of references, if lines were sampled: two standard errors where
 * references are spread evenly over lines, 2 sqrt((1 - R) / lines kept). 0 if all were measured. */
double gt_reuse_expected_error(const struct gt_reuse *reuse);

/* Empties all stacks: what comes next has not been touched before. */
void gt_reuse_flush(struct gt_reuse *reuse);

#endif
