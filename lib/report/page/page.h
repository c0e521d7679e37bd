/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access or scripts, with embedded pictures. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "report/gather.h"
#include "report/plot/plot.h"

struct gt_page {
	const struct gt_report *report; /* finished */
	const struct gt_gpu *gpu;	/* NULL: none */
	const char *const *history;	/* from gt_reader_history */
};

/* Writes the page. Returns 0, or -1 if a picture cannot be drawn. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);

/* ---- its parts ---- */

/* Draws a sheet as a figure with a caption and a text alternative. Empties the sheet; one without rows gives no picture.
 * `options` may be NULL. */
int gt_page_picture(const char *kind, const struct gt_plot_options *options, struct gt_sheet *sheet, const char *caption,
		    FILE *to, struct gt_error *error);

/* A number of a counter, with its digits in groups, as a cell. */
void gt_page_number(uint64_t number, FILE *to);

/* The pictures of hits, traffic, stack positions and reuse distances. */
int gt_page_pictures(const struct gt_page *page, FILE *to, struct gt_error *error);

/* Whether some stage counted by class (grd --by) or by cause; and the tables and pictures of those stages. */
bool gt_page_has_misses(const struct gt_page *page);
int gt_page_misses(const struct gt_page *page, FILE *to, struct gt_error *error);

/* The table of a kernel, or of the total; and the definitions of the counters and ratios in the report. */
void gt_page_kernel(const struct gt_page *page, const struct gt_report_kernel *kernel, FILE *to);
void gt_page_definitions(const struct gt_page *page, FILE *to);

/* The heading of a kernel: "kernel 1, gemm", or "all kernels". */
#define GT_PAGE_NAME (GT_KERNEL_NAME + 32)
const char *gt_page_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME]);

/* Whether a counter is of a class, such as "0x1a0.references"; then *length is the length of the class's name. */
bool gt_page_class(const char *counter, size_t *length);

#endif
