/* SPDX-License-Identifier: MIT */
/* Passes rows on, and puts file and line before an error that the receiver returns. */
#ifndef GT_IMPORT_PLACE_H
#define GT_IMPORT_PLACE_H

#include "import/import.h"

/* Puts file and line before the error's text; returns -1. */
static inline int gt_import_place(const struct gt_input *input, struct gt_error *error)
{
	return gt_input_fail(input, error, "%s", error->text);
}

static inline int gt_import_kernel(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_kernel *kernel, struct gt_error *error)
{
	if (gt_kernel_check(kernel, error) != 0 || to->kernel(to->context, kernel, error) != 0)
		return gt_import_place(input, error);
	return 0;
}

static inline int gt_import_access(const struct gt_input *input, const struct gt_trace *to,
				   const struct gt_trace_access *access, struct gt_error *error)
{
	return to->access(to->context, access, error) == 0 ? 0 : gt_import_place(input, error);
}

#endif
