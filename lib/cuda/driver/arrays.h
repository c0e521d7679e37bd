/* SPDX-License-Identifier: MIT */
#ifndef GT_CUDART_DRIVER_ARRAYS_H
#define GT_CUDART_DRIVER_ARRAYS_H

#include "cuda/runtime/arrays.h"

/* The channels of a CUarray_format. Returns a code. */
int gt_driver_channels(struct gt_channels *to, unsigned format, unsigned n);

#endif
