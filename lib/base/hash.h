/* SPDX-License-Identifier: MIT */
/* A hash of numbers that costs one product. Whoever knows it can choose numbers that collide. */
#ifndef GT_BASE_HASH_H
#define GT_BASE_HASH_H

#include <stdint.h>

/* Fibonacci hashing: the upper bits of the product with 2^64 / golden ratio are well mixed. */
static inline uint64_t gt_fibonacci(uint64_t number)
{
	return number * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
