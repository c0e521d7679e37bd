/* SPDX-License-Identifier: MIT */
/* What the files that write code of AVX-512 share. */
#ifndef GT_PTX_AVX512_H
#define GT_PTX_AVX512_H

#include "ptx/native/general.h"
#include "ptx/native/segment.h"

/* Registers that hold no value. The last one is 0x7fffffff in every lane of 32 bits. */
enum { GT_ZMM_FIRST = 28, GT_ZMM_SECOND, GT_ZMM_THIRD, GT_ZMM_NAN };

void gt_native_set_nan(struct gt_native_code *code);

#endif
