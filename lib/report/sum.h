/* SPDX-License-Identifier: MIT */
/* Sums of counts: the counters of a stage, and kernels that are added up. */
#ifndef GT_REPORT_SUM_H
#define GT_REPORT_SUM_H

#include "report/gather.h"

void gt_report_kernel_clear(struct gt_report_kernel *kernel);

/* Adds a stage to a kernel, as the occurrence of that name, from 1. NULL on error. */
struct gt_report_stage *gt_report_new_stage(struct gt_report_kernel *kernel, const char *plain, unsigned occurrence,
					    struct gt_error *error);

/* Adds entry number `hint` of a record to a stage. The records of a stage mostly have the same order, so the index is a
 * hint. */
int gt_report_add_entry(struct gt_report_stage *stage, const struct gt_count_entry *entry, bool differs, size_t hint,
			struct gt_error *error);

/* Adds the counters of a kernel, stage by stage. */
int gt_report_sum(struct gt_report_kernel *total, const struct gt_report_kernel *kernel, struct gt_error *error);

#endif
