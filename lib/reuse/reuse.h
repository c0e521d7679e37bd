/* SPDX-License-Identifier: MIT */
/* Reuse distances of the references of rows, in the order of the rows. */
#ifndef GT_REUSE_REUSE_H
#define GT_REUSE_REUSE_H

#include "base/error.h"
#include "base/map.h"
#include "reuse/profile.h"
#include "reuse/stack.h"
#include "reuse/team.h"
#include "reuse/unit.h"
#include "stream/count.h"
#include "stream/op.h"
#include "stream/rows.h"

#define GT_REUSE_SETS_MAX (UINT64_C(1) << 24)
#define GT_SAMPLE_EVERY_MAX (UINT64_C(1) << 24)
#define GT_REUSE_GATHERED 1024 /* stacks whose references are gathered */
#define GT_REUSE_DIRECT 65536 /* groups whose stack is found without hashing */

enum gt_reuse_per {
	GT_PER_SM_IF_SCHEDULED, /* a stack per SM if rows have an SM, else one */
	GT_PER_SM,
	GT_PER_GLOBAL,
	GT_PER_BLOCK,
	GT_PER_WARP,
};

struct gt_reuse_options {
	struct gt_unit unit;
	enum gt_reuse_per per;
	uint64_t sets; /* each of these is divided into this many stacks ([002] 4.3) */
	/* The set of a unit, below `sets`; NULL: its number modulo sets. */
	uint32_t (*set_of)(const void *context, uint64_t unit);
	const void *set_context;
	unsigned actions; /* bit 1 << action for each enum gt_action that makes references */
	uint64_t bound; /* reuse/histogram.h */
	const struct gt_split *split;
	const struct gt_launch *launch; /* for the split; the caller's */
	/* One of `every` lines, chosen by hash, is measured (1: all), and represents that many: its distances
	 * and counts are multiplied. When more than sample_lines (0: no limit) are in the stacks, `every` is
	 * doubled and lines are dropped. */
	uint64_t every, sample_lines;
	unsigned jobs; /* threads that measure, if gt_reuse_may_gather; 0: one */
	/* Called with each reference, if set: the row and the unit's number and distance. */
	int (*watch)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit,
		     uint64_t distance, struct gt_error *error);
	/* Called, if set, with each reference that found no MSHR: it is retried later, and has no distance. */
	int (*watch_refused)(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error);
	void *watch_context;
};

struct gt_reference;

/* References of a stack that have not been measured yet: if all are measured alike, those of a stack are together, so that its
 * memory stays in the machine's caches. */
struct gt_gathered {
	uint64_t *units; /* NULL: none are gathered */
	uint64_t last;	 /* of these; kept here, where that of every stack is at hand */
	uint32_t n;
};

struct gt_reuse {
	struct gt_reuse_options options;
	struct gt_profile profile;
	struct gt_stack *stacks;
	size_t n_stacks, capacity;
	struct gt_map index; /* group * sets + set, to stack */
	uint32_t *direct;    /* the same for small ones: stack + 1 */
	struct gt_reference *references; /* of the rows being read, a chunk at a time */
	bool refers[256];		 /* rows of each op make references */
	bool gathers;			 /* gt_reuse_may_gather */
	struct gt_gathered *gathered;	 /* of the first GT_REUSE_GATHERED stacks */
	uint64_t repeats;		 /* references to the unit that was gathered last for their stack, which are at distance 0 */
	uint64_t *distances;		 /* of the units of one */
	struct gt_reuse_team *team;	 /* which measures them; NULL: one thread does */
	bool by_sm; /* the last rows had a stack for each SM */
	bool timed; /* some rows had a status */
	uint64_t every, threshold; /* the present sampling: hashes up to the threshold */
	uint64_t live; /* lines in all stacks, if sample_lines limits them */
};

/* The warp, block or SM that row i's stack belongs to, before the division into sets. */
static inline uint64_t gt_reuse_group(const struct gt_reuse *reuse, const struct gt_rows *rows, size_t i)
{
	switch (reuse->options.per) {
	case GT_PER_WARP:
		return (uint64_t)rows->block[i] << 16 | rows->warp[i];
	case GT_PER_BLOCK:
		return rows->block[i];
	default:
		return reuse->by_sm ? rows->sm[i] : 0;
	}
}

/* Whether nothing that is asked for depends on the order of references of different stacks. */
bool gt_reuse_may_gather(const struct gt_reuse_options *options);
int gt_reuse_open(struct gt_reuse *reuse, const struct gt_reuse_options *options, struct gt_error *error);
void gt_reuse_close(struct gt_reuse *reuse);

/* Counts rows of the unit's kind into the profile. Accesses to shared memory are no references, since it has no
 * lines; nor are attempts that found no MSHR, since only hits and misses are recorded ([000] table 3). Returns 0, or
 * -1: out of memory, rows of the other kind, or rows without an SM if one is needed. After an error it can only be
 * closed. */
int gt_reuse_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error);

/* Which stack a unit of a group is in, made if there is none yet. Returns 0, or -1. */
int gt_reuse_find(struct gt_reuse *reuse, uint64_t group, uint64_t unit, uint32_t *stack, struct gt_error *error);

/* Whether rows are requests of one line each, of which none is special, and their group alone chooses the stack. */
bool gt_reuse_plain(const struct gt_reuse *reuse, const struct gt_rows *rows);
/* Gathers the references of such rows. Returns 0, or -1. */
int gt_reuse_gather_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error);
/* Keeps a reference until others of its stack are there too, if all are measured alike. Returns 0, or -1. */
int gt_reuse_gather(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error);
/* Measures the references that have been gathered: only then is the profile complete. Returns 0, or -1. */
int gt_reuse_settle(struct gt_reuse *reuse, struct gt_error *error);

/* Appends to `count` the words `granularity` and `per`, the sampling if there was any, and `reservation_fails` if
 * rows have a status. */
int gt_reuse_describe(const struct gt_reuse *reuse, struct gt_count *count, struct gt_error *error);
/* What has a stack, "sm,set:64", into a buffer; returns it. */
#define GT_REUSE_PER_TEXT 64
const char *gt_reuse_per_format(const struct gt_reuse *reuse, char buffer[GT_REUSE_PER_TEXT]);

/* The expected error of a ratio of references if lines were sampled: two standard errors for references spread
 * evenly over lines, 2 sqrt((1 - R) / lines kept). 0 if all were measured. */
double gt_reuse_expected_error(const struct gt_reuse *reuse);

/* Settles, and empties all stacks: the next reference to each line is its first. Returns 0, or -1. */
int gt_reuse_flush(struct gt_reuse *reuse, struct gt_error *error);

#endif
