/* SPDX-License-Identifier: MIT */
/* Hit rates of the levels that counted reads by instruction (gcache --by pc): of an instruction, and of a source line. */
#ifndef GT_REPORT_PAGE_RATES_H
#define GT_REPORT_PAGE_RATES_H

#include "report/page/page.h"

#define GT_RATE_LEVELS 8 /* that are shown */

struct gt_rate_levels {
	const char *names[GT_RATE_LEVELS];
	size_t n;
};

struct gt_reads {
	uint64_t reads, hits;
};

/* The levels that counted by instruction, in the order of the pipe. */
void gt_rate_find_levels(const struct gt_report *report, struct gt_rate_levels *levels);

/* Whether a counter is the reads of an instruction, "0x1b.reads"; then *length is the length of the instruction. */
bool gt_rate_is_reads(const struct gt_count_entry *entry, size_t *length);

/* What a level counted of an instruction, "0x1b", whose name has `length` bytes: 0 and 0 if nothing. */
struct gt_reads gt_rate_reads(const struct gt_report_kernel *kernel, const char *level, const char *pc, size_t length);

/* The headings of the rates, and the rate of reads as a cell. */
void gt_rate_headings(const struct gt_rate_levels *levels, bool reads, FILE *to);
void gt_rate_cell(struct gt_reads reads, FILE *to);

#endif
