/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access, with pictures in it, and a few lines of script that sort
 * tables. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "report/page/part.h"

/* The file of the page in its folder. Returns 0, or -1 if the path is too long, or, unless `replace`, if the file is there and is no
 * page of gtrace. */
#define GT_PAGE_PATH 4096
int gt_page_place(const char *folder, bool replace, char path[GT_PAGE_PATH], struct gt_error *error);
/* Writes the page. Returns 0, or -1 if memory is short. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);

#endif
