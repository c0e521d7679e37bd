/* SPDX-License-Identifier: MIT */
/* Products of complex matrices, and of a complex matrix and a vector. */
#include "cuda/plugins/cublas/complex.h"

static int multiply(const struct gt_call *call, const struct gt_gemm *gemm, const void *const at[3])
{
	struct gt_parts of[3];

	if (gemm->m == 0 || gemm->n == 0)
		return GT_CUBLAS_SUCCESS;
	for (unsigned i = 0; i < 3; i++) {
		of[i] = gt_complex_matrix(call, at[i], gemm->scale, gt_gemm_rows(gemm, i), gt_gemm_columns(gemm, i), gemm->leading[i],
					  i == 2);
		if (i < 2 && gemm->operations[i] != GT_CUBLAS_N)
			of[i] = gt_complex_transposed(of[i], gemm->operations[i] == GT_CUBLAS_C);
	}
	return gt_complex_product(gemm->m, gemm->n, gemm->k, gt_complex_factor(call, gemm->alpha, gemm->scale), &of[0], &of[1],
				  gt_complex_factor(call, gemm->beta, gemm->scale), &of[2]);
}

static int multiply_vector(const char *name, void *handle, int operation, int64_t m, int64_t n, const void *alpha, const void *a,
			   int64_t lda, const void *x, int64_t x_step, const void *beta, void *y, int64_t y_step, enum gt_element type)
{
	const bool turned = operation != GT_CUBLAS_N;
	const int64_t rows = turned ? n : m, columns = turned ? m : n;
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   operation >= GT_CUBLAS_N && operation <= GT_CUBLAS_C && m >= 0 && n >= 0 &&
					   lda >= gt_least_leading(m) && x_step != 0 && y_step != 0 && alpha && beta);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (m == 0 || n == 0)
		return gt_call_end();
	struct gt_parts matrix = gt_complex_matrix(&call, a, type, m, n, lda, false), from = gt_complex_vector(&call, x, type, columns, x_step, false);
	struct gt_parts to = gt_complex_vector(&call, y, type, rows, y_step, true);
	matrix = turned ? gt_complex_transposed(matrix, operation == GT_CUBLAS_C) : matrix;
	status = gt_complex_product(rows, 1, columns, gt_complex_factor(&call, alpha, type), &matrix, &from, gt_complex_factor(&call, beta, type), &to);
	gt_call_end();
	return status;
}

/* A = alpha x y^T + A, or with y conjugated. */
static int add_product(const char *name, void *handle, bool conjugate, int64_t m, int64_t n, const void *alpha, const void *x,
		       int64_t x_step, const void *y, int64_t y_step, void *a, int64_t lda, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   m >= 0 && n >= 0 && lda >= gt_least_leading(m) && x_step != 0 && y_step != 0 && alpha);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (m == 0 || n == 0)
		return gt_call_end();
	struct gt_parts column = gt_complex_vector(&call, x, type, m, x_step, false), row = gt_complex_vector(&call, y, type, n, y_step, false);
	struct gt_parts matrix = gt_complex_matrix(&call, a, type, m, n, lda, true);
	row = gt_complex_transposed(row, conjugate);
	status = gt_complex_product(m, n, 1, gt_complex_factor(&call, alpha, type), &column, &row, (struct gt_complex){1, 0}, &matrix);
	gt_call_end();
	return status;
}

#define COMMON(TYPE) {{ta, tb}, m, n, k, {lda, ldb, ldc}, {TYPE, TYPE, TYPE}, TYPE, true, alpha, beta, multiply}
#define GEMM(NAME, FULL, TYPE, INT)									   \
	API int cublas##FULL(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *a, INT lda,     \
			     const void *b, INT ldb, const void *beta, void *c, INT ldc)				   \
	{												   \
		const struct gt_gemm gemm = COMMON(TYPE);							   \
		return gt_gemm_many(NAME, handle, &gemm, (const void *const[]){a, b, c}, (const int64_t[]){0, 0, 0}, 1);  \
	}

#define MATRICES(L, MIXED, REDUCED, TYPE, INT, END)							   \
	GEMM("cublas" #L "gemm" #END, L##gemm_v2##END, TYPE, INT)					   \
	GEMM("cublas" #L "gemm3m" #END, L##gemm3m##END, TYPE, INT)					   \
	API int cublas##L##gemmStridedBatched##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,   \
						   const void *a, INT lda, long long int stride_a, const void *b, INT ldb, \
						   long long int stride_b, const void *beta, void *c, INT ldc,		   \
						   long long int stride_c, INT batches)					   \
	{												   \
		const struct gt_gemm gemm = COMMON(TYPE);							   \
		return gt_gemm_many("cublas" #L "gemmStridedBatched" #END, handle, &gemm, (const void *const[]){a, b, c}, \
				     (const int64_t[]){stride_a, stride_b, stride_c}, batches);			   \
	}												   \
	API int cublas##L##gemmBatched##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,	   \
					    const void *const *a, INT lda, const void *const *b, INT ldb, const void *beta, \
					    const void *const *c, INT ldc, INT batches)				   \
	{												   \
		const struct gt_gemm gemm = COMMON(TYPE);							   \
		return gt_gemm_many("cublas" #L "gemmBatched" #END, handle, &gemm, (const void *const[]){a, b, c}, NULL,  \
				     batches);									   \
	}												   \
	API int cublas##L##gemv_v2##END(void *handle, int operation, INT m, INT n, const void *alpha, const void *a, INT lda, \
					const void *x, INT x_step, const void *beta, void *y, INT y_step)		   \
	{												   \
		return multiply_vector("cublas" #L "gemv" #END, handle, operation, m, n, alpha, a, lda, x, x_step, beta, y, \
				       y_step, TYPE);								   \
	}												   \
	API int cublas##L##geru_v2##END(void *handle, INT m, INT n, const void *alpha, const void *x, INT x_step,	   \
					const void *y, INT y_step, void *a, INT lda)				   \
	{												   \
		return add_product("cublas" #L "geru" #END, handle, false, m, n, alpha, x, x_step, y, y_step, a, lda, TYPE); \
	}												   \
	API int cublas##L##gerc_v2##END(void *handle, INT m, INT n, const void *alpha, const void *x, INT x_step,	   \
					const void *y, INT y_step, void *a, INT lda)				   \
	{												   \
		return add_product("cublas" #L "gerc" #END, handle, true, m, n, alpha, x, x_step, y, y_step, a, lda, TYPE); \
	}
GT_CUBLAS_COMPLEX_ENTRIES(MATRICES)
