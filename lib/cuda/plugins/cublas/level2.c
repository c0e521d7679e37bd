/* SPDX-License-Identifier: MIT */
/* A matrix and vectors: calls of BLAS's second level, for floats and doubles. */
#include "cuda/plugins/cublas/cublas.h"

/* y = alpha op(A) x + beta y. */
static int multiply(const char *name, void *handle, int operation, int64_t m, int64_t n, const void *alpha, const void *a,
		    int64_t lda, const void *x, int64_t x_step, const void *beta, void *y, int64_t y_step, enum gt_element type)
{
	bool turned = operation != GT_CUBLAS_N;
	int64_t rows = turned ? n : m, columns = turned ? m : n;
	struct gt_call call;
	bool valid = operation >= GT_CUBLAS_N && operation <= GT_CUBLAS_C && m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1) &&
		     x_step != 0 && y_step != 0 && alpha && beta;
	int status = gt_call_begin(&call, name, handle, valid);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (m == 0 || n == 0)
		return gt_call_end();
	struct gt_view matrix = gt_matrix_of(&call, a, type, m, n, lda, false);
	struct gt_view from = gt_vector_of(&call, x, type, columns, x_step, false);
	struct gt_view to = gt_vector_of(&call, y, type, rows, y_step, true);
	if (turned)
		matrix = gt_transposed(matrix);
	status = gt_product(rows, 1, columns, gt_factor_of(&call, alpha, type), &matrix, &from, gt_factor_of(&call, beta, type), &to);
	gt_call_end();
	return status;
}

/* y = alpha A x + beta y, with A symmetric. */
static int multiply_symmetric(const char *name, void *handle, int uplo, int64_t n, const void *alpha, const void *a, int64_t lda,
			      const void *x, int64_t x_step, const void *beta, void *y, int64_t y_step, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   n >= 0 && lda >= (n > 1 ? n : 1) && x_step != 0 && y_step != 0 && alpha && beta);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view matrix = gt_matrix_of(&call, a, type, n, n, lda, false);
	struct gt_view from = gt_vector_of(&call, x, type, n, x_step, false), to = gt_vector_of(&call, y, type, n, y_step, true);
	const struct gt_half half = {uplo, true, false};
	double by = gt_factor_of(&call, alpha, type), old = gt_factor_of(&call, beta, type);
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		for (int64_t j = 0; j < n; j++)
			sum += gt_half_read(&matrix, &half, i, j) * gt_view_read(&from, j, 0);
		gt_view_write(&to, i, 0, by * sum + (old != 0 ? old * gt_view_read(&to, i, 0) : 0));
	}
	return gt_call_end();
}

/* A = alpha x y^T + A. */
static int add_product(const char *name, void *handle, int64_t m, int64_t n, const void *alpha, const void *x, int64_t x_step,
		       const void *y, int64_t y_step, void *a, int64_t lda, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1) && x_step != 0 && y_step != 0 && alpha);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view column = gt_vector_of(&call, x, type, m, x_step, false), row = gt_vector_of(&call, y, type, n, y_step, false);
	struct gt_view matrix = gt_matrix_of(&call, a, type, m, n, lda, true);
	row = gt_transposed(row);
	status = m > 0 && n > 0 ? gt_product(m, n, 1, gt_factor_of(&call, alpha, type), &column, &row, 1, &matrix) : status;
	gt_call_end();
	return status;
}

#define MATRIX_AND_VECTORS(L, SMALL, T, TYPE, INT, INDEX, END)                                                            \
	API int cublas##L##gemv_v2##END(void *handle, int operation, INT m, INT n, const T *alpha, const T *a, INT lda,    \
					const T *x, INT x_step, const T *beta, T *y, INT y_step)                           \
	{                                                                                                                  \
		return multiply("cublas" #L "gemv" #END, handle, operation, m, n, alpha, a, lda, x, x_step, beta, y,       \
				y_step, TYPE);                                                                             \
	}                                                                                                                  \
	API int cublas##L##symv_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *a, INT lda, const T *x,    \
					INT x_step, const T *beta, T *y, INT y_step)                                       \
	{                                                                                                                  \
		return multiply_symmetric("cublas" #L "symv" #END, handle, uplo, n, alpha, a, lda, x, x_step, beta, y,     \
					  y_step, TYPE);                                                                   \
	}                                                                                                                  \
	API int cublas##L##ger_v2##END(void *handle, INT m, INT n, const T *alpha, const T *x, INT x_step, const T *y,     \
				       INT y_step, T *a, INT lda)                                                          \
	{                                                                                                                  \
		return add_product("cublas" #L "ger" #END, handle, m, n, alpha, x, x_step, y, y_step, a, lda, TYPE);       \
	}
GT_CUBLAS_ENTRIES(MATRIX_AND_VECTORS)
