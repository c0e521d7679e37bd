/* SPDX-License-Identifier: MIT */
/* A field of comma-separated values (RFC 4180). */
#ifndef GT_REPORT_CSV_H
#define GT_REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the text, in quotes if it needs them or if `quoted`. */
void gt_csv_field(const char *text, bool quoted, FILE *to);

#endif
