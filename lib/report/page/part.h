/* SPDX-License-Identifier: MIT */
/* What a page is of, and its parts. A section is written by one file, which exports it; page.c has the list of all. */
#ifndef GT_REPORT_PAGE_PART_H
#define GT_REPORT_PAGE_PART_H

#include <stdbool.h>
#include <stdio.h>

#include "report/compare/compare.h"
#include "report/compare/runs.h"
#include "report/gather.h"
#include "report/plot/plot.h"

/* What the page is of. */
struct gt_page {
	const struct gt_report *report; /* finished */
	const struct gt_gpu *gpu;	/* NULL: none */
	const char *const *history;	/* from gt_reader_history */
	const struct gt_comparison *comparison; /* with hardware; NULL: none */
	const struct gt_errors *errors;		/* of the comparison */
	const char *date; /* of the run, "2026-11-22", or NULL */
	const char *program; /* what stands behind a command of gtrace, for those that show more; NULL: not known */
	const char *side; /* before the ids of a page that has several of these; NULL: it has one */
};

struct gt_page_section {
	const char *id, *heading; /* of its heading, which page.c writes */
	bool (*has)(const struct gt_page *page); /* whether the page has it; NULL: each has */
	int (*write)(const struct gt_page *page, FILE *to, struct gt_error *error); /* 0, or -1 when memory is short */
};

/* findings.c: what could be spared; chart.c: the memory chart; source.c: the source with the counts of its lines, and arrays; causes.c: why loads miss, and reuse; misses.c: where the misses come from; pictures.c: hits, traffic, stack positions and reuse distances, and coalescing;
 * comparison.c: hardware's counters beside ours; kernel.c: all counters, and their definitions. */
extern const struct gt_page_section gt_page_findings, gt_page_chart, gt_page_source, gt_page_arrays, gt_page_causes, gt_page_reuse, gt_page_misses, gt_page_pictures, gt_page_coalescing, gt_page_comparison, gt_page_counters;

/* Two runs side by side, below a heading that page.c writes: comparison.c. */
void gt_page_changes(const struct gt_runs *runs, FILE *to);

/* Draws a sheet as a figure with a caption and a text alternative. Empties the sheet; one without rows gives no picture.
 * `options` may be NULL. */
int gt_page_picture(const char *kind, const struct gt_plot_options *options, struct gt_sheet *sheet, const char *caption,
		    FILE *to, struct gt_error *error);

/* A number of a counter, with its digits in groups, as a cell. */
void gt_page_number(uint64_t number, FILE *to);

/* The heading of a kernel: "kernel 1, gemm", or "all kernels". */
#define GT_PAGE_NAME (GT_KERNEL_NAME + 32)
const char *gt_page_name(const struct gt_page *page, const struct gt_report_kernel *kernel, char name[GT_PAGE_NAME]);

#endif
