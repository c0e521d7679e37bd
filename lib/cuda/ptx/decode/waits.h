/* SPDX-License-Identifier: MIT */
/* Before which accesses of a function a warp waits for the data of its earlier loads. */
#ifndef GT_PTX_WAITS_H
#define GT_PTX_WAITS_H

#include "cuda/ptx/decode/registers.h"

/* Before which accesses of the function a warp waits for the data of its earlier loads: by instruction, which the caller frees in
 * either case. */
int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, bool **waiting, struct gt_error *error);

#endif
