/* SPDX-License-Identifier: MIT */
/* Latency patterns ([001] table 3): which of data cache, L1 TLB, L2 TLB and page table window an access hit, and what
 * that costs on a GPU. Costs are measured as a whole: they are no sums of what each level adds. */
#ifndef GT_DISSECT_PATTERN_H
#define GT_DISSECT_PATTERN_H

#include <stdint.h>

#include "base/error.h"

#define GT_PATTERNS 6

/* Levels in the order in which a pattern names them. */
enum gt_visit { GT_VISIT_DATA, GT_VISIT_TLB1, GT_VISIT_TLB2, GT_VISIT_WINDOW, GT_VISITS };

struct gt_latencies {
	uint32_t cycles[GT_PATTERNS];
	int n; /* 2: data hit, data miss; 5 or 6: patterns 1 to 5 or 6 of the table */
};

/* "116,404,488,655,1259". Returns 0, or -1 with what was expected. */
int gt_latencies_parse(const char *text, struct gt_latencies *latencies, struct gt_error *error);

/* The pattern, from 1, of an access that missed the levels whose bit (1 << gt_visit) is set; 0 if the table has none. With two
 * latencies only the data cache counts. */
int gt_pattern(const struct gt_latencies *latencies, unsigned missed);

/* "data miss, L1 TLB hit, ..." for a diagnostic. */
const char *gt_pattern_words(unsigned missed, char *buffer, unsigned long bytes);

#endif
