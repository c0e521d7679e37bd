/* SPDX-License-Identifier: MIT */
/* Real numbers as comparisons print them, and numbers as profilers do: "1,759,000.00", or "1.759.000,00" where a comma
 * is the decimal sign. One number may not tell which it is ("480,475"); the others of its file do. */
#ifndef GT_REPORT_COMPARE_NUMBER_H
#define GT_REPORT_COMPARE_NUMBER_H

enum gt_decimal { GT_DECIMAL_UNDECIDED, GT_DECIMAL_POINT, GT_DECIMAL_COMMA };

/* Which decimal sign the text shows without doubt. */
enum gt_decimal gt_decimal_of(const char *text);

/* Reads a number; an undecided sign is a point. Digits may stand in groups of three, with the
 * other sign, a blank or an apostrophe between. Returns 1, 0 for a text that says there is no value
 * (nothing, "n/a", "nan", "-"), or -1 for what is no number. */
int gt_profiler_number(const char *text, enum gt_decimal decimal, double *value);

#define GT_REAL_TEXT 48

/* At most four decimals and no zeros at their end; "-" for what is no number. Returns the buffer. */
const char *gt_format_real(double value, char buffer[GT_REAL_TEXT]);

#endif
