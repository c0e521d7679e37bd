/* SPDX-License-Identifier: MIT */
/* Complex numbers. A matrix of them is two of real numbers, between each other in memory; a product is four of those. */
#ifndef GT_CUBLAS_COMPLEX_H
#define GT_CUBLAS_COMPLEX_H

#include "cuda/plugins/cublas/cublas.h"

struct gt_complex {
	double re, im;
};

/* A matrix, or a vector as its one column: its real and its imaginary parts. */
struct gt_parts {
	struct gt_view re, im;
	double sign; /* of the imaginary parts: -1 of a conjugate */
};

struct gt_complex gt_complex_read(const struct gt_parts *x, int64_t i, int64_t j);
void gt_complex_write(const struct gt_parts *x, int64_t i, int64_t j, struct gt_complex value);
struct gt_complex gt_complex_times(struct gt_complex a, struct gt_complex b);

/* The operands of a call, as gt_matrix_of, gt_vector_of and gt_factor_of have them; type: of the parts. */
struct gt_parts gt_complex_matrix(const struct gt_call *call, const void *at, enum gt_element type, int64_t rows, int64_t columns,
				  int64_t leading, bool written);
struct gt_parts gt_complex_vector(const struct gt_call *call, const void *at, enum gt_element type, int64_t n, int64_t step,
				  bool written);
struct gt_complex gt_complex_factor(const struct gt_call *call, const void *at, enum gt_element type);
struct gt_parts gt_complex_transposed(struct gt_parts parts, bool conjugate);

/* c = alpha a b + beta c, of m by k and k by n elements; c is not read if beta is 0. Returns a status. */
int gt_complex_product(int64_t m, int64_t n, int64_t k, struct gt_complex alpha, const struct gt_parts *a, const struct gt_parts *b,
		       struct gt_complex beta, const struct gt_parts *c);

/* Writes the entries of a call: CALL(letter, letters of a call with real factors, of one with a real result, type, type of sizes,
 * end of the name). */
#define GT_CUBLAS_COMPLEX_ENTRIES(CALL)                     \
	CALL(C, Cs, Sc, GT_F32, int, )            \
	CALL(C, Cs, Sc, GT_F32, int64_t, _64)     \
	CALL(Z, Zd, Dz, GT_F64, int, )            \
	CALL(Z, Zd, Dz, GT_F64, int64_t, _64)

#endif
