/* SPDX-License-Identifier: MIT */
/* The common parts of reports in JSON. */
#ifndef GT_REPORT_JSON_H
#define GT_REPORT_JSON_H

#include <stdio.h>

#include "report/metric.h"
#include "report/report.h"

/* Writes a string in quotes. Bytes that are not UTF-8 become U+FFFD. */
void gt_json_string(const char *text, FILE *to);

/* Writes a metric's value: a number, or null if it is undefined. */
void gt_json_value(struct gt_metric_value value, FILE *to);

/* Writes a report. `body` writes the members of the object of each kernel and of the total, each preceded by ", ". */
void gt_json_report(const struct gt_report *report, const char *names,
		    void (*body)(const struct gt_report_kernel *kernel, FILE *to), FILE *to);

#endif
