/* SPDX-License-Identifier: MIT */
/* The vocabularies in which the model's counters can be told: a row of a table each. */
#ifndef GT_REPORT_NAMES_H
#define GT_REPORT_NAMES_H

#include <stddef.h>

#include "report/metric.h"

struct gt_vocabulary {
	const char *name; /* as --names has it */
	const struct gt_metric *metrics;
	const size_t *n;
};

extern const struct gt_vocabulary gt_vocabularies[];
extern const size_t gt_vocabularies_n;

/* The first metric of that name in any of them, or NULL: a pointer that stands for the name. */
const struct gt_metric *gt_metric_named(const char *name);

/* The value of a kernel under the metric's name: of rows of one name the first whose counters are there. */
struct gt_metric_value gt_metric_of_kernel(const struct gt_metric *metric, const struct gt_report_kernel *kernel);

#endif
