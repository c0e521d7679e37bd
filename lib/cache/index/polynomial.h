/* SPDX-License-Identifier: MIT */
/* Polynomials over GF(2), bit i the coefficient of x^i. */
#ifndef GT_CACHE_POLYNOMIAL_H
#define GT_CACHE_POLYNOMIAL_H

#include <stdint.h>

/* The smallest irreducible polynomial, read as a number, of a degree up to 32. Degree 0 gives 1. */
uint64_t gt_polynomial_irreducible(unsigned degree);

/* value * x modulo a polynomial of that degree; value is below that degree. */
static inline uint64_t gt_polynomial_times_x(uint64_t value, uint64_t polynomial, unsigned degree)
{
	value <<= 1;
	return value >> degree & 1 ? value ^ polynomial : value;
}

#endif
