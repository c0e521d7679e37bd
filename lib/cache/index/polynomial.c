/* SPDX-License-Identifier: MIT */
#include "cache/index/polynomial.h"

#include <stdbool.h>

static uint64_t remainder_of(uint64_t value, uint64_t divisor)
{
	int degree = 63 - __builtin_clzll(divisor);

	while (value >> degree != 0)
		value ^= divisor << (63 - __builtin_clzll(value) - degree);
	return value;
}

static bool irreducible(uint64_t polynomial, unsigned degree)
{
	for (uint64_t divisor = 2; divisor >> (degree / 2 + 1) == 0; divisor++)
		if (remainder_of(polynomial, divisor) == 0)
			return false;
	return true;
}

uint64_t gt_polynomial_irreducible(unsigned degree)
{
	uint64_t polynomial = UINT64_C(1) << degree;

	while (degree > 0 && !irreducible(polynomial, degree))
		polynomial++;
	return polynomial;
}
