/* SPDX-License-Identifier: MIT */
/* What reports in JSON share. */
#ifndef GT_REPORT_JSON_H
#define GT_REPORT_JSON_H

#include <stdio.h>

#include "report/metric.h"
#include "report/report.h"

/* Writes a string in quotes. Bytes that are not UTF-8 become U+FFFD. */
void gt_json_string(const char *text, FILE *to);

/* Writes a metric's value: a number, or null if it is undefined. */
void gt_json_value(struct gt_metric_value value, FILE *to);

/* Writes the frame of a report around what `body` writes for each kernel and for the total: the
 * members of an object, each with ", " before it. */
void gt_json_report(const struct gt_report *report, const char *names,
		    void (*body)(const struct gt_report_kernel *kernel, FILE *to), FILE *to);

#endif
