/* SPDX-License-Identifier: MIT */
/* Profiles as tables that awk and gnuplot read: tab-separated, a header line, then rows. Every table
 * begins with the column `kernel` and, where the profile is split, one named after the split. */
#ifndef GT_REUSE_TABLES_H
#define GT_REUSE_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "reuse/profile.h"

#define GT_LINES_N 1024 /* sizes that can be asked for at once */

/* Sizes of caches, in lines. */
struct gt_lines {
	uint64_t lines[GT_LINES_N];
	size_t n;
};

/* "128" or "64,128,256": numbers from 1 to GT_HISTOGRAM_BOUND_MAX. */
int gt_lines_parse(const char *text, struct gt_lines *lines, struct gt_error *error);

struct gt_reuse_table {
	const char *name;
	const char *columns; /* after kernel and class */
	/* Writes the rows of one histogram, each with the text `first` before it. */
	void (*write)(FILE *to, const char *first, const struct gt_histogram *histogram,
		      const struct gt_lines *lines);
};

/* profile:   distance, to, count: distances from `distance` to `to` that occurred
 * csdd:      distance, below, fraction: references with a smaller distance ([004] fig. 10)
 * mru:       position, count: C[0] to C[K] of [000] 3.2, K being lines[0]
 * lines:     lines, references, hits, compulsory, capacity and their ratios ([002] 3.3) */
extern const struct gt_reuse_table gt_reuse_tables[];
extern const size_t gt_reuse_tables_n;

/* The table of that name, or NULL. */
const struct gt_reuse_table *gt_reuse_table_find(const char *name);

void gt_reuse_table_header(FILE *to, const struct gt_reuse_table *table, const struct gt_split *split);

/* Writes the rows of a sorted profile; `kernel` is what stands in the first column. Errors are
 * left in the file's error indicator. */
void gt_reuse_table_write(FILE *to, const struct gt_reuse_table *table, const char *kernel,
			  const struct gt_profile *profile, const struct gt_lines *lines);

/* The table of single references: its columns, and a row for a reference of row i to the unit
 * that begins at `address`. */
#define GT_REUSE_DISTANCE_COLUMNS "kernel\tsm\tblock\twarp\tan\tpc\top\taddress\tdistance\n"
void gt_reuse_distance_write(FILE *to, uint64_t kernel, const struct gt_rows *rows, size_t i,
			     uint64_t address, uint64_t distance);

#endif
