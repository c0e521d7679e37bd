/* SPDX-License-Identifier: MIT */
/* What is told of measurements: as tables that awk and gnuplot read (tab-separated, a header line, then rows; every table begins
 * with the column `kernel` and, if the profile is split, one named after the split), or as counts in the stream. And what must be
 * measured for a table. */
#ifndef GT_REUSE_TABLES_H
#define GT_REUSE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "reuse/measures.h"
#include "reuse/histogram.h"
#include "stream/trace.h"

#define GT_FIGURES_MAX 12

/* The arguments of a table, and the properties of its stacks. */
struct gt_reuse_asked {
	struct gt_lines lines; /* sizes, ways or numbers of sets */
	struct gt_sdcm cache;
	enum gt_reuse_per alone; /* sharing: what has a private cache */
	uint64_t sets, unit_bytes; /* of the stacks behind the histogram */
	double error; /* expected, of a ratio (struct gt_reuse) */
};

/* The integers that follow from a histogram or a pair for one size of cache. Tables print them, and counters carry
 * them in the stream.
 *   lines     lines, references, hits, compulsory, capacity ([002] 3.3)
 *   sdcm      size, ways, line, references, infinite, expected_hits ([004] (2), in hundredths of a reference,
 *             so that divided by the references it is the hit ratio in percent); sdcm-normal: approximated
 *   classes   ways, lines, references, hits, compulsory, capacity, conflict, spared, and of rows with a status
 *             latency_miss, merged, reservation_fail
 *   sharing   lines, references, alone, together, gained, lost */
struct gt_figures {
	const char *names[GT_FIGURES_MAX + 1]; /* up to a NULL */
	bool first_is_private; /* of a pair: the first stacks are those of private caches, the second those of the shared one */
	size_t settings; /* this many at the front describe the cache, the others count references */
	/* Computes the numbers for size number `size` of asked->lines. One of the two functions is set. */
	void (*of_histogram)(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
			     uint64_t *numbers);
	void (*of_pair)(const struct gt_pair *pair, size_t size, const struct gt_pair_counts *counts,
			uint64_t *numbers);
};

/* The tables that can be made of measurements, one row each.
 * profile:   distance, to, count: distances from `distance` to `to` that occurred
 * csdd:      distance, below, fraction: references with a smaller distance ([004] fig. 10)
 * mru:       position, count: C[0] to C[K] of [000] 3.2, with K = lines[0]
 * lines:     lines, references, hits, compulsory, capacity and their ratios ([002] 3.3)
 * curve:     sets, ways, bytes, references, misses, miss_ratio, error; curve-sets: of several numbers of sets
 * sdcm:      size, ways, line, references, hits, hit_ratio, by [004] (1) and (2); sdcm-normal: approximated
 * classes:   of a pair, sets and one stack: compulsory, capacity and conflict misses
 * sharing:   of a pair, private and shared: hits gained and lost */
struct gt_reuse_table {
	const char *name;
	const char *columns; /* after kernel and class */
	/* Takes the option's argument; NULL: it has none. Returns 0, or -1 with what was expected. */
	int (*parse)(struct gt_reuse_asked *asked, const char *text, struct gt_error *error);
	/* Writes the rows of one histogram, each with the text `first` before it. NULL: the table is the figures of a pair. */
	void (*write)(FILE *to, const char *first, const struct gt_histogram *histogram,
		      const struct gt_reuse_asked *asked);
	const struct gt_figures *figures; /* the numbers in a count; NULL: the histogram */
};

/* A table that is being written, in memory until it is complete. Zeroed: none was chosen. */
struct gt_reuse_text {
	const struct gt_reuse_table *table;
	struct gt_reuse_asked asked;
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

/* Begins the table with its header; appends the rows of finished measurements, with `kernel` in the first
 * column; ends it, so that `bytes` can be printed. Each returns 0, or -1 when memory is short. */
int gt_reuse_text_begin(struct gt_reuse_text *text, const struct gt_split *split, struct gt_error *error);
int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_measures *measures, struct gt_error *error);
int gt_reuse_text_end(struct gt_reuse_text *text, struct gt_error *error);
void gt_reuse_text_close(struct gt_reuse_text *text);

/* The table of single references: its columns, and a row for a reference of row i to the unit
 * that begins at `address`. */
#define GT_REUSE_DISTANCE_COLUMNS "kernel\tsm\tblock\twarp\tan\tpc\top\taddress\tdistance\tstatus\n"
void gt_reuse_distance_write(FILE *to, uint64_t kernel, const struct gt_rows *rows, size_t i,
			     uint64_t address, uint64_t distance);

/* ---- what must be measured for a table: one profile, one for each number of sets, or a pair; and which options are compatible ---- */

/* Makes the plan, and sets in `options` and `text` what the table determines: the line and the bound. Prepares `pair`
 * for tables of pairs. Returns 0, or -1 naming the incompatible options. */
int gt_plan_make(struct gt_plan *plan, struct gt_reuse_options *options, struct gt_reuse_text *text,
		 struct gt_pair *pair, struct gt_error *error);

/* ---- counts ---- */

/* The longest suffix of a stage's name: ":4294967296". */
#define GT_COUNTS_SUFFIX 11

/* Writes the counts of a kernel from finished measures: a histogram for each measure or, for a table with figures,
 * one count for each requested size. Stages are named `name`, followed by ":" and the size, or by the number of
 * sets of a curve, if there may be several. What was measured is described first, then the numbers of all
 * references, then those of each class, with the class's name in front. */
int gt_counts_give(const struct gt_measures *measures, const struct gt_reuse_text *text, const char *name,
		   uint64_t kernel, const struct gt_output *output, struct gt_error *error);

#endif
