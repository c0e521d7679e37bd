/* SPDX-License-Identifier: MIT */
/* The marks of an axis and their labels. */
#ifndef GT_REPORT_PLOT_TICKS_H
#define GT_REPORT_PLOT_TICKS_H

#include "report/plot/figure.h"

#define GT_TICKS 24 /* of an axis of numbers, at most */
#define GT_TICK_TEXT 32

struct gt_ticks {
	double least, most; /* the range of the axis */
	double at[GT_TICKS];
	char label[GT_TICKS][GT_TICK_TEXT];
	size_t n;
};

/* Marks an axis of numbers for data from least to most, with about `wanted` (2 to 12) labels. */
void gt_ticks_place(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks);

#endif
