/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access, with pictures in it, and a few lines of script that sort
 * tables. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "report/page/part.h"

/* Writes the page. Returns 0, or -1 if memory is short. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);

#endif
