/* SPDX-License-Identifier: MIT */
/* A table of text in aligned columns, and the headings of reports. */
#ifndef GT_REPORT_TABLE_H
#define GT_REPORT_TABLE_H

#include <stdio.h>

#include "report/report.h"

#define GT_TABLE_COLUMNS 8
#define GT_TABLE_CELL 128 /* bytes a cell may have, with its final 0; longer ones are cut */

struct gt_table {
	char (*cells)[GT_TABLE_COLUMNS][GT_TABLE_CELL];
	size_t n, capacity;
	bool failed; /* memory was short: gt_table_write says so */
	const char *alignment; /* one letter a column: 'l' or 'r' */
};

/* Adds a row; NULL and missing cells are empty. */
void gt_table_add(struct gt_table *table, const char *const cells[GT_TABLE_COLUMNS]);
/* Writes the rows, two blanks between columns and before the first, and empties the table. Writes
 * nothing and returns -1 if a row could not be added. */
int gt_table_write(struct gt_table *table, FILE *to, struct gt_error *error);

/* Digits in groups of three, "41,472". */
#define GT_TABLE_NUMBER 32
const char *gt_table_number(uint64_t number, char buffer[GT_TABLE_NUMBER]);

/* A counter's value, and a remark: a ratio, the elements of a short array, or nothing. False if the counter is not
 * printed: it is 0 and nothing could have been counted. */
bool gt_table_counter(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		      const struct gt_report_counter *counter, char value[GT_TABLE_CELL], char remark[GT_TABLE_CELL]);

/* The least, the mean and the largest value of a counter in the launches that a kernel sums up. False if there is nothing
 * to show: it is one launch, the values are equal, or the counter is no sum. */
bool gt_table_spread(const struct gt_report_kernel *kernel, const struct gt_report_counter *counter,
		     char cells[3][GT_TABLE_NUMBER]);

/* Writes a table for each kernel, by `body`, and one for the total if it is not the only kernel's.
 * Stops where `body` fails. */
int gt_table_report(const struct gt_report *report,
		    int (*body)(const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error), FILE *to,
		    struct gt_error *error);

#endif
