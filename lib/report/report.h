/* SPDX-License-Identifier: MIT */
/* Reports of gathered counts: a table to read, CSV and JSON to compute with, with our names or those of NVIDIA's
 * profilers. A report is written to a file that the caller opens and checks. */
#ifndef GT_REPORT_REPORT_H
#define GT_REPORT_REPORT_H

#include <stdio.h>

#include "report/gather.h"

#define GT_REPORT_VERSION 1 /* of the JSON */

struct gt_report_form {
	const char *names; /* "gtrace", "ncu" or "nvprof" */
	const char *form;  /* "table", "csv" or "json" */
	int (*write)(const struct gt_report *report, FILE *to, struct gt_error *error);
};

/* The form of those names, or NULL if there is none. */
const struct gt_report_form *gt_report_form_find(const char *names, const char *form);

/* The forms, each in the file of its name. The report must be finished. They fail when memory is
 * short; what the file could not take is the caller's to check. */
int gt_report_write_table(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_csv(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_json(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_ncu_table(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_ncu_csv(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_ncu_json(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_nvprof_table(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_nvprof_csv(const struct gt_report *report, FILE *to, struct gt_error *error);
int gt_report_write_nvprof_json(const struct gt_report *report, FILE *to, struct gt_error *error);

#endif
