/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef GT_BASE_RANDOM_H
#define GT_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t gt_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The initial state of generator n of a seed. */
static inline uint64_t gt_random_state(uint64_t seed, uint64_t n)
{
	uint64_t state = seed ^ n * UINT64_C(0xd1342543de82ef95);

	return gt_random(&state);
}

#endif
