/* SPDX-License-Identifier: MIT */
/* Compares a report with a reference: hardware, ours and their difference, launch by launch. */
#ifndef GT_REPORT_COMPARE_H
#define GT_REPORT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "report/compare/errors.h"
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
	const struct gt_metric *metric; /* NULL for GT_NOT_IN_REFERENCE */
	enum gt_comparison_note note;
	double hardware, ours; /* in the metric's unit, if the note allows a value */
};

/* Points into the report and the reference, which must outlive it. */
struct gt_comparison {
	struct gt_comparison_row *rows; /* by launch of the reference, then those only in the report; owned */
	size_t n, capacity;
	char *const *others; /* metrics of the reference that the model does not have */
	size_t n_others;
};

/* Returns 0, or -1 when memory is short; to be cleared in either case. */
int gt_compare(struct gt_comparison *comparison, const struct gt_report *report, const struct gt_reference *reference,
	       struct gt_error *error);
void gt_comparison_clear(struct gt_comparison *comparison);

/* Adds the compared pairs to the errors. Returns 0, or -1 when memory is short. */
int gt_comparison_errors(const struct gt_comparison *comparison, struct gt_errors *errors, struct gt_error *error);

/* The rows as "table", "csv" or "json"; the table and JSON have the errors by metric too.
 * Returns 0, or -1 when memory is short. */
int gt_comparison_write(const struct gt_comparison *comparison, const struct gt_errors *errors, const char *form,
			FILE *to, struct gt_error *error);

/* Reads rows written as CSV, possibly those of several runs concatenated, and adds the compared pairs. */
int gt_errors_read(struct gt_errors *errors, const char *path, struct gt_error *error);

#endif
