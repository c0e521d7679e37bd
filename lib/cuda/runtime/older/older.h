/* SPDX-License-Identifier: MIT */
/* The runtimes of CUDA 11 and 12 have most calls as CUDA 13 has them. Those that differ have a version each, by which the
 * loader tells them apart: a call of CUDA 13 that is not the same as before is marked SINCE_13 behind its definition, and what
 * it was before stands here. */
#ifndef GT_CUDART_OLDER_OLDER_H
#define GT_CUDART_OLDER_OLDER_H

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/since.h"

/* The function IS is what programs of CUDA 11, or of CUDA 12, call NAME. */
#define IN_11(NAME, IS)                                                                            \
	extern API __typeof__(IS) gt_in_11_##NAME __attribute__((alias(#IS)));                      \
	__asm__(".symver gt_in_11_" #NAME ", " #NAME "@libcudart.so.11.0")
#define IN_12(NAME, IS)                                                                            \
	extern API __typeof__(IS) gt_in_12_##NAME __attribute__((alias(#IS)));                      \
	__asm__(".symver gt_in_12_" #NAME ", " #NAME "@libcudart.so.12")
#define BEFORE_13(NAME, IS)                                                                        \
	IN_11(NAME, IS);                                                                            \
	IN_12(NAME, IS)

#endif
