/* SPDX-License-Identifier: MIT */
/* Profiles as tables that awk and gnuplot read: tab-separated, a header line, then rows. Every table begins with the
 * column `kernel` and, if the profile is split, one named after the split. */
#ifndef GT_REUSE_TABLES_H
#define GT_REUSE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory_file.h"
#include "reuse/profile.h"
#include "reuse/views.h"

/* A table that is being written, in memory until it is complete. Zeroed: none was chosen. */
struct gt_reuse_text {
	const struct gt_reuse_table *table;
	struct gt_reuse_asked asked; /* `sets`, `unit_bytes` and `error` are the caller's to set */
	struct gt_memory_file memory;
	char *bytes; /* n of them, after gt_reuse_text_end */
	size_t n;
};

/* Whether the table is --curve-sets, whose numbers are sets. */
bool gt_reuse_text_by_sets(const struct gt_reuse_text *text);

/* Chooses a table by name and its argument (NULL: it needs none). Returns 0, or -1 with
 * what was expected. */
int gt_reuse_text_choose(struct gt_reuse_text *text, const char *name, const char *argument,
			 struct gt_error *error);
/* The larger of `bound` and the bound that makes the chosen table exact. */
uint64_t gt_reuse_text_bound(const struct gt_reuse_text *text, uint64_t bound);

/* Begins the table with its header; appends the rows of a finished profile, or of a pair, with `kernel` in the first
 * column; ends it, so that `bytes` can be printed. Each returns 0, or -1 when memory is short. */
int gt_reuse_text_begin(struct gt_reuse_text *text, const struct gt_split *split, struct gt_error *error);
int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_profile *profile,
		      struct gt_error *error);
int gt_reuse_text_add_pair(struct gt_reuse_text *text, const char *kernel, const struct gt_pair *pair,
			   struct gt_error *error);
int gt_reuse_text_end(struct gt_reuse_text *text, struct gt_error *error);
void gt_reuse_text_close(struct gt_reuse_text *text);

/* The table of single references: its columns, and a row for a reference of row i to the unit
 * that begins at `address`. */
#define GT_REUSE_DISTANCE_COLUMNS "kernel\tsm\tblock\twarp\tan\tpc\top\taddress\tdistance\tstatus\n"
void gt_reuse_distance_write(FILE *to, uint64_t kernel, const struct gt_rows *rows, size_t i,
			     uint64_t address, uint64_t distance);

#endif
