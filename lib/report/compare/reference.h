/* SPDX-License-Identifier: MIT */
/* Hardware counters from a file: the CSV of Nsight Compute in its long form (a metric a line) or its wide one (a launch a
 * line, with names and units above), its summary by kernel (a metric a line: least, largest, average), or a table with the
 * columns kernel, metric and value. Columns are found by their names; lines above them are skipped. And the CSV of our own
 * counters (gstats --csv), which is read into a report. */
#ifndef GT_REPORT_COMPARE_REFERENCE_H
#define GT_REPORT_COMPARE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "report/compare/csv_read.h"
#include "report/gather.h"
#include "report/metric.h"

#define GT_REFERENCE_ALL "*" /* this name means the mean over all launches of a run */
#define GT_REFERENCE_TOTAL "total" /* the label of the total in the CSV of our own counters */

enum gt_reference_flag {
	GT_REFERENCE_SOUND,
	GT_REFERENCE_RECOMPUTED, /* a rate above 100 %, recomputed from the counts */
	GT_REFERENCE_IMPOSSIBLE, /* the same without counts; or a negative count, or more hits than lookups */
};

struct gt_reference_value {
	const struct gt_metric *metric; /* from gt_metric_named */
	double value;			/* in the metric's unit */
	enum gt_reference_flag flag;
};

struct gt_reference_launch {
	char *name;	     /* owned */
	uint32_t grid[3];    /* 0 in grid[0]: not given */
	uint32_t block[3];   /* the same */
	uint64_t ordinal;    /* among launches of that name and shape, from 1; 0: by the file's order */
	uint64_t invocations; /* its values are the means over so many launches of that name and shape; 0: it is one launch */
	uint64_t line;	     /* of the file, where it begins */
	struct gt_reference_value *values; /* each metric once, in the file's order; owned */
	size_t n, capacity;
};

struct gt_reference {
	struct gt_reference_launch *launches; /* in the file's order */
	size_t n, capacity;
	struct gt_map index; /* from the hash of a launch's identity to its last index */
	char **others;	     /* names of metrics that the model does not have, each once, in the file's order; owned */
	size_t n_others, others_capacity;
	struct gt_map other_names; /* their hashes */
	uint64_t without, without_line; /* values that the file says are none, such as n/a: how many, and the line of the first */
	bool is_log; /* of Accel-Sim */
	bool is_saved;	      /* the file has our own counters: then only `saved` is set */
	struct gt_report saved; /* has no grids, blocks and, unless it is by name, no names of kernels */
};

/* Reads a file, compressed or not. Returns 0, or -1 with file, line and what was expected; to be
 * cleared in either case. */
int gt_reference_read(struct gt_reference *reference, const char *path, struct gt_error *error);
void gt_reference_clear(struct gt_reference *reference);

/* ---- the CSV of our own counters: saved.c ---- */

/* Whether the current record is its header. */
bool gt_saved_header(const struct gt_csv *csv);
/* Reads the lines after it into an empty report, which is by name if the file is. Returns 0, or -1 with file, line and what was
 * expected. */
int gt_saved_read(struct gt_csv *csv, struct gt_report *report, struct gt_error *error);

#endif
