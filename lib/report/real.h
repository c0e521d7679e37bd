/* SPDX-License-Identifier: MIT */
/* Real numbers as reports print them. */
#ifndef GT_REPORT_REAL_H
#define GT_REPORT_REAL_H

#define GT_REAL_TEXT 48

/* At most four decimals and no zeros at their end; "-" for what is no number. Returns the buffer. */
const char *gt_format_real(double value, char buffer[GT_REAL_TEXT]);

#endif
