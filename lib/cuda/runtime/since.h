/* SPDX-License-Identifier: MIT */
/* For a call that programs of before CUDA 13 know otherwise: see older/older.h. */
#ifndef GT_CUDART_SINCE_H
#define GT_CUDART_SINCE_H

#include "cuda/runtime/runtime.h"

#define SINCE_13(NAME) __asm__(".symver " #NAME ", " #NAME "@@@libcudart.so.13")

/* The same for one that programs of before CUDA 12 know otherwise. */
#define SINCE_12(NAME)                                                                             \
	extern API __typeof__(NAME) gt_in_12_##NAME __attribute__((alias(#NAME)));                  \
	__asm__(".symver gt_in_12_" #NAME ", " #NAME "@libcudart.so.12");                           \
	SINCE_13(NAME)

#endif
