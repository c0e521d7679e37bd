/* SPDX-License-Identifier: MIT */
/* Cells of a profiler's tables. */
#ifndef GT_REPORT_COMPARE_CELL_H
#define GT_REPORT_COMPARE_CELL_H

#include <stdint.h>

#include "base/error.h"
#include "report/metric.h"

/* The factor of a unit such as "Ksector", for a metric that is in sectors; "": 1. Returns 0, or -1 for another unit. */
int gt_reference_unit(const char *unit, const struct gt_metric *metric, double *scale, struct gt_error *error);

/* "(4, 16, 1)", "4,16,1" or "4x16x1"; "" is 0,0,0: not given. */
int gt_reference_shape(const char *text, uint32_t shape[3], struct gt_error *error);

#endif
