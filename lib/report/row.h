/* SPDX-License-Identifier: MIT */
/* The rows of a report for people, on the terminal and on the page: a counter's value as text, with its ratio beside it. */
#ifndef GT_REPORT_ROW_H
#define GT_REPORT_ROW_H

#include <stdbool.h>

#include "report/format.h"
#include "report/gather.h"

struct gt_report_row {
	const char *name, *unit; /* the counter's; "" for no unit */
	bool is_text;		 /* the value is a word, not a number */
	char value[GT_TABLE_CELL];
	char remark[GT_TABLE_CELL]; /* a ratio, the elements of a short array, or "" */
	bool spreads;		    /* its kernel sums up several launches, in which it differs */
	char spread[3][GT_TABLE_NUMBER]; /* then its least, mean and largest value there */
};

/* The row of a counter. False if it is not printed: it is 0 and nothing could have been counted. */
bool gt_report_make_row(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
			const struct gt_report_counter *counter, struct gt_report_row *row);

#endif
