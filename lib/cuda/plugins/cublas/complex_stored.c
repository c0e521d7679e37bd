/* SPDX-License-Identifier: MIT */
/* Products with a complex square matrix of which one triangle is stored: a symmetric, a Hermitian, a triangular one. */
#include <stdlib.h>

#include "cuda/plugins/cublas/complex.h"

/* c = alpha op(A) b + beta c, or b op(A), with m by n elements in b and c. */
struct stored {
	struct gt_half half;
	bool hermitian; /* the other triangle is the conjugate, and the diagonal is real */
	bool right;
	int operation;
	int64_t m, n;
	enum gt_element type;
};

static struct gt_complex element(const struct stored *this, const struct gt_parts *a, int64_t i, int64_t j)
{
	const bool there = gt_half_has(&this->half, i, j);

	if (i == j && this->half.unit)
		return (struct gt_complex){1, 0};
	if (!there && !this->half.mirrored)
		return (struct gt_complex){0, 0};
	struct gt_complex value = there ? gt_complex_read(a, i, j) : gt_complex_read(a, j, i);
	if (this->hermitian && !there)
		value.im = -value.im;
	if (this->hermitian && i == j)
		value.im = 0;
	return value;
}

/* The whole of A, in doubles at `values`. */
static struct gt_parts expanded(const struct stored *this, const struct gt_parts *a, int64_t order, double *values)
{
	const struct gt_view re = {(unsigned char *)values, GT_F64, 2, 2 * order};
	const struct gt_parts whole = {re, {(unsigned char *)(values + 1), GT_F64, 2, 2 * order}, 1};

	for (int64_t j = 0; j < order; j++)
		for (int64_t i = 0; i < order; i++)
			gt_complex_write(&whole, i, j, element(this, a, i, j));
	return this->operation == GT_CUBLAS_N ? whole : gt_complex_transposed(whole, this->operation == GT_CUBLAS_C);
}

/* `beta`: NULL is 0. */
static int multiply(const char *name, void *handle, const struct stored *this, bool valid, const void *alpha, const void *a, int64_t lda,
		    const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
	const int64_t m = this->m, n = this->n, order = this->right ? n : m;
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   valid && m >= 0 && n >= 0 && gt_is_flag(this->half.uplo) && lda >= gt_least_leading(order) &&
					   ldb >= gt_least_leading(m) && ldc >= gt_least_leading(m) && alpha);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (m == 0 || n == 0)
		return gt_call_end();
	const struct gt_parts half = gt_complex_matrix(&call, a, this->type, order, order, lda, false);
	const struct gt_parts from = gt_complex_matrix(&call, b, this->type, m, n, ldb, false);
	const struct gt_parts to = gt_complex_matrix(&call, c, this->type, m, n, ldc, true);
	const struct gt_complex by = gt_complex_factor(&call, alpha, this->type);
	const struct gt_complex old = beta ? gt_complex_factor(&call, beta, this->type) : (struct gt_complex){0, 0};
	double *values = (uint64_t)order < UINT32_MAX ? malloc(2 * (size_t)order * (size_t)order * sizeof *values) : NULL;
	status = GT_CUBLAS_ALLOC_FAILED;
	if (values) {
		const struct gt_parts whole = expanded(this, &half, order, values);
		status = this->right ? gt_complex_product(m, n, n, by, &from, &whole, old, &to)
				     : gt_complex_product(m, n, m, by, &whole, &from, old, &to);
	}
	free(values);
	gt_call_end();
	return status;
}

#define MIRRORED(NAME, FULL, HERMITIAN, TYPE, INT)                                                                               \
	API int cublas##FULL(void *handle, int side, int uplo, INT m, INT n, const void *alpha, const void *a, INT lda,          \
			     const void *b, INT ldb, const void *beta, void *c, INT ldc)                                         \
	{                                                                                                                        \
		const struct stored this = {{uplo, true, false}, HERMITIAN, side == GT_CUBLAS_RIGHT, GT_CUBLAS_N, m, n, TYPE};   \
		return multiply(NAME, handle, &this, gt_is_flag(side) && beta, alpha, a, lda, b, ldb, beta, c, ldc);                \
	}
#define STORED(L, MIXED, REDUCED, TYPE, INT, END)                                                                                \
	MIRRORED("cublas" #L "symm" #END, L##symm_v2##END, false, TYPE, INT)                                                     \
	MIRRORED("cublas" #L "hemm" #END, L##hemm_v2##END, true, TYPE, INT)                                                      \
	API int cublas##L##trmm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n,                 \
					const void *alpha, const void *a, INT lda, const void *b, INT ldb, void *c, INT ldc)     \
	{                                                                                                                        \
		const struct stored this = {{uplo, false, diag == GT_CUBLAS_UNIT}, false, side == GT_CUBLAS_RIGHT, operation, m, n, TYPE}; \
		return multiply("cublas" #L "trmm" #END, handle, &this,                                                          \
				gt_is_flag(side) && gt_is_flag(diag) && operation >= GT_CUBLAS_N && operation <= GT_CUBLAS_C, alpha, a, \
				lda, b, ldb, NULL, c, ldc);                                                                      \
	}
GT_CUBLAS_COMPLEX_ENTRIES(STORED)
