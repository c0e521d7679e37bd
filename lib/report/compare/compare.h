/* SPDX-License-Identifier: MIT */
/* Compares a report with a reference, hardware or our own counters of another run: its value, ours and their difference, launch by
 * launch. */
#ifndef GT_REPORT_COMPARE_H
#define GT_REPORT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "report/compare/reference.h"
#include "report/gather.h"

enum gt_comparison_note {
	GT_COMPARED,
	GT_COMPARED_RECOMPUTED,	/* hardware's value was recomputed from its counts */
	GT_COMPARED_LAUNCHES,	/* a summary of another number of launches than ours */
	GT_COMPARED_LAST = GT_COMPARED_LAUNCHES,
	GT_IMPOSSIBLE,		/* hardware's value is impossible: no difference */
	GT_NOT_TOLD,		/* the stages that the metric needs are not in the pipe, or it is 0/0 */
	GT_NOT_IN_MODEL,	/* the reference's launch is not in the report */
	GT_NOT_IN_REFERENCE,	/* the report's launch is not in the reference: there is no metric */
	GT_COMPARISON_NOTES
};

/* Their names in tables. */
extern const char *const gt_comparison_notes[GT_COMPARISON_NOTES];

struct gt_comparison_row {
	const char *kernel; /* a name */
	const uint32_t *grid, *block;
	uint64_t id, line; /* of the kernel in the report, of the launch in the reference; 0: absent */
	const char *metric, *unit; /* NULL: the launch is on one side only */
	enum gt_comparison_note note;
	double hardware, ours; /* the reference's and ours, in the metric's unit, if the note allows a value */
	const char *words[2];  /* the same of a counter that is a word: then there are no numbers */
	bool long_array;       /* an element of an array of more than GT_COMPARISON_ELEMENTS */
};

#define GT_COMPARISON_ELEMENTS 8 /* longer arrays are left out of tables */

/* Points into the report and the reference, which must outlive it. */
struct gt_comparison {
	struct gt_comparison_row *rows; /* by launch of the reference, then those only in the report; owned */
	size_t n, capacity;
	char *const *others; /* metrics of the reference that the model does not have */
	size_t n_others;
	bool of_saved; /* the reference has our own counters */
	const char *sides[2]; /* what the reference's and our values are called, the caller's to change */
	struct gt_names names; /* of our own counters, "l1.reads" */
};

/* Returns 0, or -1 when memory is short; to be cleared in either case. */
int gt_compare(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
	       struct gt_error *error);
void gt_comparison_clear(struct gt_comparison *comparison);

/* Adds a row. Returns 0, or -1 when memory is short. */
int gt_comparison_add(struct gt_comparison *comparison, const struct gt_comparison_row *row, struct gt_error *error);
/* The rows of hardware's counters alone; gt_compare calls it. */
int gt_compare_hardware(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
			struct gt_error *error);

/* Whether the sides have different values, or one has none. */
bool gt_comparison_differs(const struct gt_comparison_row *row);
/* Whether tables for people have the row: of our own counters, only those that differ. */
bool gt_comparison_shows(const struct gt_comparison *comparison, const struct gt_comparison_row *row);

/* ---- the errors of the model: statistics over pairs of hardware h and ours o, by metric ---- */

struct gt_errors_metric {
	char *name, *unit; /* owned */
	double *hardware, *ours; /* owned */
	size_t n, hardware_capacity, ours_capacity;
};

struct gt_errors {
	struct gt_errors_metric *metrics; /* in the order of first appearance; owned */
	size_t n, capacity;
};

/* A value that cannot be computed is NAN. */
struct gt_error_statistics {
	size_t n;	 /* pairs */
	size_t n_nonzero; /* pairs whose h is not 0 */
	double mape;	 /* percent: mean of 100 |o - h| / |h| over the pairs whose h is not 0 ([004] 5.2) */
	double mae;	 /* in the metric's unit: mean of |o - h| */
	double pearson;	 /* -1 to 1: correlation of h and o; NAN for fewer than 2 pairs, or if either is constant */
	double nrmse;	 /* sqrt(mean of (o - h)^2) / |mean of h|; NAN if that is 0 */
};

/* Adds the compared pairs; none of our own counters, which are no hardware's. Returns 0, or -1 when memory is short. */
int gt_comparison_errors(const struct gt_comparison *comparison, struct gt_errors *errors, struct gt_error *error);
/* Adds the compared pairs of rows written as CSV, possibly those of several runs concatenated. */
int gt_errors_read(struct gt_errors *errors, const char *path, struct gt_error *error);
void gt_errors_clear(struct gt_errors *errors);
struct gt_error_statistics gt_errors_statistics(const struct gt_errors_metric *metric);

/* ---- writing: write.c ---- */

/* The rows as "table", "csv" or "json"; the table and JSON have the errors by metric too.
 * Returns 0, or -1 when memory is short. */
int gt_comparison_write(const struct gt_comparison *comparison, const struct gt_errors *errors, const char *form,
			FILE *to, struct gt_error *error);
/* The statistics by metric, in the same forms; as JSON an array. Returns 0, or -1 when memory is short. */
int gt_errors_write(const struct gt_errors *errors, const char *form, FILE *to, struct gt_error *error);

#endif
