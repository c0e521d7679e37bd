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

/* A table in the making, kept back until it may be shown. Zeroed: none was chosen. */
struct gt_reuse_text {
	const struct gt_reuse_table *table;
	struct gt_lines lines;
	FILE *file;
	char *bytes; /* n of them, after gt_reuse_text_end */
	size_t n;
};

/* Chooses a table by name and the lines it is of (NULL: it needs none). Returns 0, or -1 with
 * what was expected. */
int gt_reuse_text_choose(struct gt_reuse_text *text, const char *name, const char *lines,
			 struct gt_error *error);
/* The bound that makes the chosen table exact, if that is above `bound`; else `bound`. */
uint64_t gt_reuse_text_bound(const struct gt_reuse_text *text, uint64_t bound);

/* Begins the table with its header; appends the rows of a sorted profile, `kernel` standing in the
 * first column; ends it, so that `bytes` can be shown. Each returns 0, or -1 when memory is short. */
int gt_reuse_text_begin(struct gt_reuse_text *text, const struct gt_split *split, struct gt_error *error);
int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_profile *profile,
		      struct gt_error *error);
int gt_reuse_text_end(struct gt_reuse_text *text, struct gt_error *error);
void gt_reuse_text_close(struct gt_reuse_text *text);

/* The table of single references: its columns, and a row for a reference of row i to the unit
 * that begins at `address`. */
#define GT_REUSE_DISTANCE_COLUMNS "kernel\tsm\tblock\twarp\tan\tpc\top\taddress\tdistance\n"
void gt_reuse_distance_write(FILE *to, uint64_t kernel, const struct gt_rows *rows, size_t i,
			     uint64_t address, uint64_t distance);

#endif
