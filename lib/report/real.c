/* SPDX-License-Identifier: MIT */
#include "report/real.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIXED_MAX 1e18 /* larger ones are printed with an exponent */

const char *gt_format_real(double value, char buffer[GT_REAL_TEXT])
{
	if (!isfinite(value)) {
		strcpy(buffer, "-");
		return buffer;
	}
	if (fabs(value) >= FIXED_MAX) {
		snprintf(buffer, GT_REAL_TEXT, "%.15g", value);
		return buffer;
	}
	int n = snprintf(buffer, GT_REAL_TEXT, "%.4f", value);
	while (buffer[n - 1] == '0')
		buffer[--n] = '\0';
	if (buffer[n - 1] == '.')
		buffer[--n] = '\0';
	if (strcmp(buffer, "-0") == 0)
		strcpy(buffer, "0");
	return buffer;
}
