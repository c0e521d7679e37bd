/* SPDX-License-Identifier: MIT */
/* What counters mean, in a sentence each, for readers who have no manual at hand. */
#ifndef GT_REPORT_DEFINE_H
#define GT_REPORT_DEFINE_H

/* The definition of a counter of a stage, or NULL for one that is not known. */
const char *gt_define(const char *stage, const char *name);

#endif
