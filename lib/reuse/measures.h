/* SPDX-License-Identifier: MIT */
/* Reuse distances of the references of rows, in the order of the rows: all measurements of a plan, in one pass. */
#ifndef GT_REUSE_MEASURES_H
#define GT_REUSE_MEASURES_H

#include "base/error.h"
#include "base/map.h"
#include "reuse/classes.h"
#include "reuse/histogram.h"
#include "reuse/options.h"
#include "replace/stack.h"
#include "stream/rows.h"

/* A reuse profile: the histogram of all references and, with a split, one for each class. */
struct gt_profile {
	struct gt_histogram all;
	struct gt_reuse_classes classes; /* of each: a struct gt_histogram */
	uint64_t refused; /* references that found no MSHR, which are counted only here */
	uint64_t lines; /* if lines are sampled: distinct lines of the fullest stack that was flushed */
};

/* One measurement. */
struct gt_reuse {
	struct gt_reuse_options options;
	struct gt_profile profile;
	struct gt_stack *stacks;
	size_t n_stacks, capacity;
	struct gt_map index; /* group * sets + set, to stack */
	uint32_t *direct;    /* the same for small ones: stack + 1; 0: none */
	size_t direct_used;  /* of these from the first on; behind them are zeros */
	struct gt_reference *references; /* of the rows being read, a chunk at a time */
	bool refers[256];		 /* rows of each op make references */
	bool gathers;			 /* no reference is watched, split or sampled */
	struct gt_gathered *gathered;	 /* of the first stacks */
	uint64_t repeats;		 /* references to the unit that was gathered last for their stack, which are at distance 0 */
	uint64_t *distances;		 /* of the units of one */
	struct gt_reuse_team *team;	 /* which measures them; NULL: one thread does */
	bool by_sm; /* the last rows had a stack for each SM */
	bool timed; /* some rows had a status */
	uint64_t every, threshold; /* the present sampling: hashes up to the threshold */
	uint64_t live; /* lines in all stacks, if sample_lines limits them */
	/* Once finished: the expected error of a ratio of references if lines were sampled, two standard errors for references spread
	 * evenly over lines, 2 sqrt((1 - R) / lines kept); 0 if all were measured. */
	double expected_error;
};

/* ---- pairs: the same references in two kinds of stacks ---- */

#define GT_LINES_N 1024 /* sizes that can be asked for at once */

/* Sizes of caches, in lines. */
struct gt_lines {
	uint64_t lines[GT_LINES_N];
	size_t n;
};

/* References by whether they hit in a cache of the first and of the second kind. */
struct gt_pair_cells {
	uint64_t both, only_first, only_second; /* hits */
};

struct gt_pair_counts {
	uint64_t references, first_infinite, second_infinite;
	/* With by_status: references to lines seen before that a level found in flight, which are in no cell; and
	 * attempts that found no MSHR, which are not references. */
	uint64_t latency_miss, merged, reservation_fail;
	struct gt_pair_cells cells[]; /* one for each of the lines */
};

/* Whether references hit in caches of both kinds: which misses are conflicts, and what sharing a cache gains and loses. */
struct gt_pair {
	const struct gt_lines *lines; /* of a cache of the first kind; NULL: there is no pair */
	uint64_t scale;		      /* a cache of the second kind has this many times as many lines */
	unsigned shift;		      /* log2 of a line's bytes */
	bool by_status;		      /* the status that a level found overrides the distance */
	struct gt_pair_counts *all;
	struct gt_reuse_classes classes; /* of each: a struct gt_pair_counts */
	uint64_t *distances;	   /* from the first stacks, until the second ones are measured */
	size_t n, capacity, at;
};

/* Opens a pair of a plan, whose other fields are zero. Returns 0, or -1 when memory
 * is short. */
int gt_pair_open(struct gt_pair *pair, const struct gt_split *split, const struct gt_launch *launch,
		 struct gt_error *error);
void gt_pair_close(struct gt_pair *pair);
/* Sets all counts to 0. */
void gt_pair_clear(struct gt_pair *pair);

/* ---- all measurements of a plan ---- */

#define GT_PLAN_MAX 16 /* measured in one pass */

struct gt_plan {
	struct gt_reuse_options measures[GT_PLAN_MAX];
	size_t n;
	const struct gt_split *split; /* of the pair, if it is one; measures have their own */
};

/* Whether nothing that is asked for depends on the order of references of different stacks. */
bool gt_reuse_may_gather(const struct gt_reuse_options *options);

struct gt_measures {
	struct gt_reuse reuses[GT_PLAN_MAX];
	size_t n;
	struct gt_pair *pair; /* of the first two, if there is one; the caller's */
};

/* Opens the pair too, which the caller closes. Zeroed measures can be closed, and so can those whose opening
 * failed. */
int gt_measures_open(struct gt_measures *measures, const struct gt_plan *plan, struct gt_pair *pair,
		     struct gt_error *error);
void gt_measures_close(struct gt_measures *measures);

/* Counts rows of the unit's kind into each profile. Accesses to shared memory are no references, since it has no
 * lines; nor are attempts that found no MSHR, since only hits and misses are recorded ([000] table 3). Returns 0, or
 * -1: out of memory, rows of the other kind, or rows without an SM if one is needed. After an error they can only be
 * closed. */
int gt_measures_rows(struct gt_measures *measures, const struct gt_rows *rows, struct gt_error *error);
/* A kernel ends: empties the stacks, or without `flush` only those of its warps and blocks. */
int gt_measures_end_kernel(struct gt_measures *measures, bool flush, struct gt_error *error);
/* Sets all counts to 0. */
void gt_measures_clear(struct gt_measures *measures);

/* Ends the counting until the next clear: what was gathered is measured, the counts of every histogram add up to its references
 * (gt_histogram_settle), and classes are sorted by key. */
int gt_measures_finish(struct gt_measures *measures, struct gt_error *error);

#endif
