/* SPDX-License-Identifier: MIT */
/* Lane operations that follow each other, as one step: a segment. On processors with AVX2 or AVX-512 it is machine code, which
 * keeps values between them in registers; on others it does one operation after the other, so that warps take the same turns on all. */
#ifndef GT_PTX_NATIVE_H
#define GT_PTX_NATIVE_H

#include "cuda/ptx/native/segment.h"

/* Replaces segments of a function that has been decoded. starts[0] to starts[n] are the operations that may be jumped to, where
 * blocks begin. Where machine code is forbidden there is none. */
int gt_ptx_native_make(struct gt_ptx_code *code, const size_t *starts, size_t n, const struct gt_native_known *known,
		       struct gt_error *error);

#endif
