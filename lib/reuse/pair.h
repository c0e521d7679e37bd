/* SPDX-License-Identifier: MIT */
/* Measures the same references in two kinds of stacks, and whether each hits in caches of both kinds: which misses
 * are conflicts, and what sharing a cache gains and loses. */
#ifndef GT_REUSE_PAIR_H
#define GT_REUSE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "reuse/classes.h"
#include "stream/rows.h"

#define GT_LINES_N 1024 /* sizes that can be asked for at once */

/* Sizes of caches, in lines. */
struct gt_lines {
	uint64_t lines[GT_LINES_N];
	size_t n;
};

/* "128" or "64,128,256": numbers from 1 to GT_HISTOGRAM_BOUND_MAX. */
int gt_lines_parse(const char *text, struct gt_lines *lines, struct gt_error *error);

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

/* Opens a pair whose lines, scale and shift are set and whose other fields are zero. Returns 0, or -1 when memory
 * is short. */
int gt_pair_open(struct gt_pair *pair, const struct gt_split *split, const struct gt_launch *launch,
		 struct gt_error *error);
void gt_pair_close(struct gt_pair *pair);
/* Sets all counts to 0. */
void gt_pair_clear(struct gt_pair *pair);

/* The `watch` functions of the first and the second struct gt_reuse; the context is the pair. Each batch of rows goes
 * to the first, then to the second. */
int gt_pair_watch_first(void *pair, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t distance,
			struct gt_error *error);
int gt_pair_watch_second(void *pair, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t distance,
			 struct gt_error *error);
/* The first one's `watch_refused`, for references that found no MSHR. */
int gt_pair_watch_refused(void *pair, const struct gt_rows *rows, size_t i, uint64_t unit, struct gt_error *error);

#endif
