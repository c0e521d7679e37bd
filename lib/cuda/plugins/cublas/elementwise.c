/* SPDX-License-Identifier: MIT */
/* Sums of two matrices, and products with a diagonal one. */
#include "cuda/plugins/cublas/cublas.h"

/* c = alpha op(a) + beta op(b); a matrix whose factor is 0 is not read, and may be nowhere. */
static int add(const char *name, void *handle, const int operations[2], int64_t m, int64_t n, const void *const factors[2],
	       const void *const at[2], const int64_t leading[2], void *c, int64_t ldc, enum gt_element type)
{
	struct gt_call call;
	struct gt_view from[2] = {{0}};
	double by[2] = {0};
	bool valid = m >= 0 && n >= 0 && ldc >= gt_least_leading(m) && factors[0] && factors[1];

	for (unsigned i = 0; i < 2; i++)
		valid = valid && operations[i] >= GT_CUBLAS_N && operations[i] <= GT_CUBLAS_C &&
			leading[i] >= gt_least_leading(operations[i] == GT_CUBLAS_N ? m : n);
	int status = gt_call_begin(&call, name, handle, valid);
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (m == 0 || n == 0)
		return gt_call_end();
	for (unsigned i = 0; i < 2; i++) {
		bool turned = operations[i] != GT_CUBLAS_N;
		if ((by[i] = gt_factor_of(&call, factors[i], type)) == 0)
			continue;
		from[i] = gt_matrix_of(&call, at[i], type, turned ? n : m, turned ? m : n, leading[i], false);
		from[i] = turned ? gt_transposed(from[i]) : from[i];
	}
	struct gt_view to = gt_matrix_of(&call, c, type, m, n, ldc, true);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			gt_view_write(&to, i, j, (from[0].at ? by[0] * gt_view_read(&from[0], i, j) : 0) +
							 (from[1].at ? by[1] * gt_view_read(&from[1], i, j) : 0));
	return gt_call_end();
}

/* c = diag(x) a, or a diag(x). */
static int scale(const char *name, void *handle, int side, int64_t m, int64_t n, const void *a, int64_t lda, const void *x,
		 int64_t step, void *c, int64_t ldc, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   (side == GT_CUBLAS_LEFT || side == GT_CUBLAS_RIGHT) && m >= 0 && n >= 0 && lda >= gt_least_leading(m) &&
					   ldc >= gt_least_leading(m) && step != 0);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view from = gt_matrix_of(&call, a, type, m, n, lda, false), to = gt_matrix_of(&call, c, type, m, n, ldc, true);
	struct gt_view by = gt_vector_of(&call, x, type, side == GT_CUBLAS_LEFT ? m : n, step, false);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			gt_view_write(&to, i, j, gt_view_read(&from, i, j) * gt_view_read(&by, side == GT_CUBLAS_LEFT ? i : j, 0));
	return gt_call_end();
}

#define ELEMENTWISE(L, SMALL, T, TYPE, INT, INDEX, END)                                                                   \
	API int cublas##L##geam##END(void *handle, int ta, int tb, INT m, INT n, const T *alpha, const T *a, INT lda,      \
				     const T *beta, const T *b, INT ldb, T *c, INT ldc)                                   \
	{                                                                                                                  \
		return add("cublas" #L "geam" #END, handle, (const int[]){ta, tb}, m, n, (const void *const[]){alpha, beta}, \
			   (const void *const[]){a, b}, (const int64_t[]){lda, ldb}, c, ldc, TYPE);                       \
	}                                                                                                                  \
	API int cublas##L##dgmm##END(void *handle, int side, INT m, INT n, const T *a, INT lda, const T *x, INT step, T *c, \
				     INT ldc)                                                                              \
	{                                                                                                                  \
		return scale("cublas" #L "dgmm" #END, handle, side, m, n, a, lda, x, step, c, ldc, TYPE);                  \
	}
GT_CUBLAS_ENTRIES(ELEMENTWISE)
