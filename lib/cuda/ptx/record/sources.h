/* SPDX-License-Identifier: MIT */
/* The source lines of a kernel's accesses, by .loc (nvcc -lineinfo), as the stage `source` of gtrace(5). */
#ifndef GT_PTX_RECORD_SOURCES_H
#define GT_PTX_RECORD_SOURCES_H

#include "base/error.h"
#include "cuda/ptx/text/module.h"
#include "stream/count.h"

/* Appends the lines of the instructions that access memory, in the kernel and in the functions that it may call, to a
 * count that has begun. Nothing if the text has no .loc. Returns 0, or -1 when memory is short. */
int gt_ptx_sources_count(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 struct gt_count *count, struct gt_error *error);

#endif
