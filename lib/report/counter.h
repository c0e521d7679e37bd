/* SPDX-License-Identifier: MIT */
/* What is known of the counters that stages write: a table, one row a counter. A counter that is
 * not in it is a plain number, summed over kernels. */
#ifndef GT_REPORT_COUNTER_H
#define GT_REPORT_COUNTER_H

#include <stdbool.h>

enum gt_counter_print {
	GT_PRINT_NUMBER,
	GT_PRINT_SIZE,
	GT_PRINT_NOT, /* left out of the table: numbers whose sum says nothing */
};

struct gt_counter {
	const char *stage; /* NULL: any stage; a row with a stage goes before one without */
	const char *name;
	const char *unit;
	bool setting; /* a property of the model, not a count: never summed, equal or left out */
	enum gt_counter_print print;
};

/* The row for a counter of a stage; one without unit for counters that are not in the table. */
const struct gt_counter *gt_counter_about(const char *stage, const char *name);

#endif
