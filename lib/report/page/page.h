/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access, with pictures in it, and a few lines of script that sort
 * tables. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "base/file.h"
#include "report/page/part.h"

/* Before long work: whether the page can be written into a folder, which is made if it is not there. Returns 0, or -1, also if the folder has, unless
 * `replace`, an index.html that is no page of gtrace. */
int gt_page_check(const char *folder, bool replace, struct gt_error *error);
/* Writes the text of a page into that folder, and closes it. Returns 0, or -1. */
int gt_page_save(struct gt_memory_file *text, const char *folder, bool replace, struct gt_error *error);

/* Writes the page. Returns 0, or -1 if memory is short. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);
/* The same of two runs side by side. */
int gt_page_write_runs(const struct gt_runs *runs, const char *date, FILE *to, struct gt_error *error);

#endif
