/* SPDX-License-Identifier: MIT */
/* Real numbers as comparisons print them, and numbers as profilers do: "1,759,000.00", or "1.759.000,00" if a comma is
 * the decimal sign. A single number may be ambiguous ("480,475"); the other numbers of its file decide. */
#ifndef GT_REPORT_COMPARE_NUMBER_H
#define GT_REPORT_COMPARE_NUMBER_H

enum gt_decimal { GT_DECIMAL_UNDECIDED, GT_DECIMAL_POINT, GT_DECIMAL_COMMA };

/* The decimal sign that the text shows unambiguously, if any. */
enum gt_decimal gt_decimal_of(const char *text);

/* Reads a number; an undecided sign is a point. Groups of three digits may be separated by the other sign, a blank or an
 * apostrophe. Returns 1, 0 for a text that means no value ("", "n/a", "nan", "-"), or -1 if it is not a number. */
int gt_profiler_number(const char *text, enum gt_decimal decimal, double *value);

#define GT_REAL_TEXT 48

/* At most four decimals without trailing zeros; "-" for NAN. Returns the buffer. */
const char *gt_format_real(double value, char buffer[GT_REAL_TEXT]);

#endif
