/* SPDX-License-Identifier: MIT */
/* Matches the launches of a report and of a reference: by name, shape, and ordinal among those of that name and
 * shape. */
#ifndef GT_REPORT_COMPARE_MATCH_H
#define GT_REPORT_COMPARE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "report/compare/reference.h"
#include "report/gather.h"

#define GT_NO_LAUNCH SIZE_MAX

/* Whether a kernel has the name and the shapes of a launch; a shape that the launch does not give is any. */
bool gt_launch_alike(const struct gt_reference_launch *launch, const struct gt_kernel *kernel);

/* For each launch of the reference, the index of the report's kernel that matches it, or GT_NO_LAUNCH.
 * GT_REFERENCE_ALL and summaries match none. A shape that the reference does not give matches any. A launch of the reference
 * without an ordinal is the next with that name and shape. Returns an array to be freed, or NULL when memory is
 * short. */
size_t *gt_match_launches(const struct gt_report *report, const struct gt_reference *reference,
			  struct gt_error *error);

#endif
