/* SPDX-License-Identifier: MIT */
/* Counts of a part of the grid, scaled to the whole. */
#ifndef GT_REPORT_SCALE_H
#define GT_REPORT_SCALE_H

#include "report/gather.h"

/* Multiplies the numbers that stages behind the schedule counted by blocks / modelled_blocks of their kernel, rounded to the
 * nearest integer. Settings stay as they are. Must come before gt_report_finish. Returns 0, or -1 if a kernel has no schedule, or
 * a number does not fit. */
int gt_report_scale(struct gt_report *report, struct gt_error *error);

#endif
