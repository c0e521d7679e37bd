/* SPDX-License-Identifier: MIT */
/* Before which accesses of a function a warp waits for the data of its earlier loads. */
#ifndef GT_PTX_WAITS_H
#define GT_PTX_WAITS_H

#include "cuda/ptx/decode/decoder.h"

/* Sets decoder->waits. The registers of the function must be known. */
int gt_ptx_find_waits(struct gt_ptx_decoder *decoder, struct gt_error *error);

#endif
