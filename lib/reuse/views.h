/* SPDX-License-Identifier: MIT */
/* The tables that can be made of a profile, one row each. */
#ifndef GT_REUSE_VIEWS_H
#define GT_REUSE_VIEWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "reuse/figures.h"

struct gt_reuse_table {
	const char *name;
	const char *columns; /* after kernel and class */
	/* Takes the option's argument; NULL: it has none. Returns 0, or -1 with what was expected. */
	int (*parse)(struct gt_reuse_asked *asked, const char *text, struct gt_error *error);
	/* Writes the rows of one histogram, or of a pair, each with the text `first` before it. */
	void (*write)(FILE *to, const char *first, const struct gt_histogram *histogram,
		      const struct gt_reuse_asked *asked);
	void (*write_pair)(FILE *to, const char *first, const struct gt_pair *pair,
			   const struct gt_pair_counts *counts);
	const struct gt_figures *figures; /* the numbers in a count; NULL: the histogram */
};

/* profile:   distance, to, count: distances from `distance` to `to` that occurred
 * csdd:      distance, below, fraction: references with a smaller distance ([004] fig. 10)
 * mru:       position, count: C[0] to C[K] of [000] 3.2, with K = lines[0]
 * lines:     lines, references, hits, compulsory, capacity and their ratios ([002] 3.3)
 * curve:     sets, ways, bytes, references, misses, miss_ratio, error; curve-sets: of several numbers of sets
 * sdcm:      size, ways, line, references, hits, hit_ratio, by [004] (1) and (2); sdcm-normal: approximated
 * classes:   of a pair, sets and one stack: compulsory, capacity and conflict misses
 * sharing:   of a pair, private and shared: hits gained and lost */
extern const struct gt_reuse_table gt_reuse_tables[];
extern const size_t gt_reuse_tables_n;

const struct gt_reuse_table *gt_reuse_table_find(const char *name);

#endif
