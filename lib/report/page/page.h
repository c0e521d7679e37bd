/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access, with pictures in it, and a few lines of script that sort
 * tables. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "report/compare/compare.h"
#include "report/gather.h"

struct gt_page {
	const struct gt_report *report; /* finished */
	const struct gt_gpu *gpu;	/* NULL: none */
	const char *const *history;	/* from gt_reader_history */
	const struct gt_comparison *comparison; /* with hardware; NULL: none */
	const struct gt_errors *errors;		/* of the comparison */
	const char *date; /* of the run, "2026-11-22", or NULL */
};

/* Writes the page. Returns 0, or -1 if memory is short. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);

#endif
