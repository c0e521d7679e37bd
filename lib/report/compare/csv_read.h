/* SPDX-License-Identifier: MIT */
/* Reads comma-separated values (RFC 4180), with one record per line, and the numbers in their fields as profilers print them:
 * "1,759,000.00", or "1.759.000,00" if a comma is the decimal sign. A single number may be ambiguous ("480,475"); the other
 * numbers of its file decide. */
#ifndef GT_REPORT_COMPARE_CSV_READ_H
#define GT_REPORT_COMPARE_CSV_READ_H

#include <stddef.h>

#include "base/error.h"
#include "base/input.h"

struct gt_csv {
	struct gt_input *input; /* the caller's */
	char **fields; /* of the current record: in the input's line, valid until the next; owned array */
	size_t n, capacity;
};

/* Reads the next line and splits it into fields. Returns 1, 0 at the end, -1 if it cannot be read, or -2 for an invalid
 * record: a quote is not closed, or is inside a field. */
int gt_csv_next(struct gt_csv *csv, struct gt_error *error);
void gt_csv_close(struct gt_csv *csv);

/* The column of a name in the current record, or -1. */
int gt_csv_column(const struct gt_csv *csv, const char *name);

enum gt_decimal { GT_DECIMAL_UNDECIDED, GT_DECIMAL_POINT, GT_DECIMAL_COMMA };

/* The decimal sign that the text shows unambiguously, if any. */
enum gt_decimal gt_decimal_of(const char *text);

/* Reads a number; an undecided sign is a point. Groups of three digits may be separated by the other sign, a blank or an
 * apostrophe. Returns 1, 0 for a text that means no value ("", "n/a", "na", "nan", "(null)", "-"), or -1 if it is not a number. */
int gt_profiler_number(const char *text, enum gt_decimal decimal, double *value);

#endif
