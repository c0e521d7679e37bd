/* SPDX-License-Identifier: MIT */
/* Machine code for lane operations that follow each other, on processors with AVX-512. Values between them stay in registers.
 * Everything else, and other processors, are served by the steps of lib/ptx/exec. */
#ifndef GT_PTX_NATIVE_H
#define GT_PTX_NATIVE_H

#include "ptx/exec/code.h"

/* Replaces segments of a function that has been decoded. starts[0] to starts[n] are the operations that may be jumped to.
 * Without the right to make machine code, or the processor, nothing is changed. */
int gt_ptx_native_make(struct gt_ptx_code *code, const size_t *starts, size_t n, struct gt_error *error);

#endif
