/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file without network access, with pictures in it, and a few lines of script that sort
 * tables. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H

#include <stdio.h>

#include "report/compare/compare.h"
#include "report/gather.h"
#include "report/plot/plot.h"

struct gt_page {
	const struct gt_report *report; /* finished */
	const struct gt_gpu *gpu;	/* NULL: none */
	const char *const *history;	/* from gt_reader_history */
	const struct gt_comparison *comparison; /* with hardware; NULL: none */
	const struct gt_errors *errors;		/* of the comparison */
	const char *date; /* of the run, "2026-11-22", or NULL */
};

extern const char gt_page_style[], gt_page_script[];

/* Writes the page. Returns 0, or -1 if memory is short. The caller checks the file for errors. */
int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error);

/* ---- its parts ---- */

/* Draws a sheet as a figure with a caption and a text alternative. Empties the sheet; one without rows gives no picture.
 * `options` may be NULL. */
int gt_page_picture(const char *kind, const struct gt_plot_options *options, struct gt_sheet *sheet, const char *caption,
		    FILE *to, struct gt_error *error);

/* The content of one panel of a figure, as SVG in a view box of 480 x 300. */
void gt_page_svg(const struct gt_figure *figure, size_t panel, FILE *to);

/* The coalescing of each kernel's loads, stores and atomics, if it was counted: a table and its picture. */
bool gt_page_has_coalescing(const struct gt_page *page);
int gt_page_coalescing(const struct gt_page *page, FILE *to, struct gt_error *error);

/* Hardware's counters beside ours, with the errors and pictures of both. */
int gt_page_comparison(const struct gt_page *page, FILE *to, struct gt_error *error);

/* The description of the GPU, with the values that are assumed; and the pipe, a filter a line or all on one. */
int gt_page_gpu(const struct gt_page *page, FILE *to, struct gt_error *error);
void gt_page_pipe(const struct gt_page *page, const char *between, FILE *to);

/* A number of a counter, with its digits in groups, as a cell. */
void gt_page_number(uint64_t number, FILE *to);

/* The pictures of hits, traffic, stack positions and reuse distances. */
int gt_page_pictures(const struct gt_page *page, FILE *to, struct gt_error *error);

/* Whether some stage counted by class (grd --by) or by cause; and the tables and pictures of those stages. */
bool gt_page_has_misses(const struct gt_page *page);
int gt_page_misses(const struct gt_page *page, FILE *to, struct gt_error *error);

/* The table of source lines, if a level counted reads by instruction and the trace has lines. */
int gt_page_lines(const struct gt_page *page, FILE *to, struct gt_error *error);

/* The table of a kernel, or of the total; and the definitions of the counters and ratios in the report. */
void gt_page_kernel(const struct gt_page *page, const struct gt_report_kernel *kernel, FILE *to);
void gt_page_definitions(const struct gt_page *page, FILE *to);

/* The heading of a kernel: "kernel 1, gemm", or "all kernels". */
#define GT_PAGE_NAME (GT_KERNEL_NAME + 32)
const char *gt_page_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME]);

/* The label of a kernel in a small picture: its name, shortened, and its number if it is one launch of several. */
const char *gt_page_short_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME]);

#endif
