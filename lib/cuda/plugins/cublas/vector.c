/* SPDX-License-Identifier: MIT */
/* Vectors: the calls of BLAS's first level, for floats and doubles. */
#include <math.h>

#include "cuda/plugins/cublas/cublas.h"

/* The first element, counted from 1, whose absolute value is the largest or the least; 0 if there is none. */
static int64_t extreme(const struct gt_view *x, int64_t n, bool largest)
{
	int64_t found = 0;
	double best = 0;

	for (int64_t i = 0; i < n; i++) {
		double value = fabs(gt_view_read(x, i, 0));
		if (found == 0 || (largest ? value > best : value < best)) {
			best = value;
			found = i + 1;
		}
	}
	return found;
}

static double sum_of_magnitudes(const struct gt_view *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += fabs(gt_view_read(x, i, 0));
	return sum;
}

static double dot(const struct gt_view *x, const struct gt_view *y, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += gt_view_read(x, i, 0) * gt_view_read(y, i, 0);
	return sum;
}

/* Scaled, so that no square overflows. */
static double norm(const struct gt_view *x, int64_t n)
{
	int64_t at = extreme(x, n, true);
	double largest = at ? fabs(gt_view_read(x, at - 1, 0)) : 0, sum = 0;

	if (largest == 0 || !isfinite(largest))
		return largest;
	for (int64_t i = 0; i < n; i++) {
		double part = gt_view_read(x, i, 0) / largest;
		sum += part * part;
	}
	return largest * sqrt(sum);
}

/* ---- calls that give one number ---- */

typedef double reduction(const struct gt_view *x, int64_t n);

static double index_of_largest(const struct gt_view *x, int64_t n)
{
	return (double)extreme(x, n, true);
}

static double index_of_least(const struct gt_view *x, int64_t n)
{
	return (double)extreme(x, n, false);
}

static int reduce(const char *name, void *handle, int64_t n, const void *x, enum gt_element type, int64_t step, void *result,
		  enum gt_element result_type, reduction *value)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, result != NULL);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (step <= 0) /* as BLAS has it, there are no elements then */
		n = 0;
	struct gt_view vector = gt_vector_of(&call, x, type, n, step, false), to = gt_result_of(&call, result, result_type);
	gt_view_write(&to, 0, 0, value(&vector, n));
	return gt_call_end();
}

static int dot_of(const char *name, void *handle, int64_t n, const void *x, int64_t x_step, const void *y, int64_t y_step,
		  enum gt_element type, void *result)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, result != NULL);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view from = gt_vector_of(&call, x, type, n, x_step, false), by = gt_vector_of(&call, y, type, n, y_step, false);
	struct gt_view to = gt_result_of(&call, result, type);
	gt_view_write(&to, 0, 0, dot(&from, &by, n));
	return gt_call_end();
}

#define REDUCTIONS(L, SMALL, T, TYPE, INT, INDEX, END)                                                                    \
	API int cublasI##SMALL##amax_v2##END(void *handle, INT n, const T *x, INT step, INT *result)                       \
	{                                                                                                                  \
		return reduce("cublasI" #SMALL "amax" #END, handle, n, x, TYPE, step, result, INDEX, index_of_largest);    \
	}                                                                                                                  \
	API int cublasI##SMALL##amin_v2##END(void *handle, INT n, const T *x, INT step, INT *result)                       \
	{                                                                                                                  \
		return reduce("cublasI" #SMALL "amin" #END, handle, n, x, TYPE, step, result, INDEX, index_of_least);      \
	}                                                                                                                  \
	API int cublas##L##asum_v2##END(void *handle, INT n, const T *x, INT step, T *result)                              \
	{                                                                                                                  \
		return reduce("cublas" #L "asum" #END, handle, n, x, TYPE, step, result, TYPE, sum_of_magnitudes);         \
	}                                                                                                                  \
	API int cublas##L##nrm2_v2##END(void *handle, INT n, const T *x, INT step, T *result)                              \
	{                                                                                                                  \
		return reduce("cublas" #L "nrm2" #END, handle, n, x, TYPE, step, result, TYPE, norm);                      \
	}                                                                                                                  \
	API int cublas##L##dot_v2##END(void *handle, INT n, const T *x, INT x_step, const T *y, INT y_step, T *result)     \
	{                                                                                                                  \
		return dot_of("cublas" #L "dot" #END, handle, n, x, x_step, y, y_step, TYPE, result);                      \
	}
GT_CUBLAS_ENTRIES(REDUCTIONS)

/* ---- calls that change vectors ---- */

static int scale(const char *name, void *handle, int64_t n, const void *alpha, void *x, int64_t step, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, alpha != NULL);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (step <= 0)
		n = 0;
	struct gt_view vector = gt_vector_of(&call, x, type, n, step, true);
	double factor = gt_factor_of(&call, alpha, type);
	for (int64_t i = 0; i < n; i++)
		gt_view_write(&vector, i, 0, factor * gt_view_read(&vector, i, 0));
	return gt_call_end();
}

/* y = alpha x + y, or y = x without alpha. */
static int add(const char *name, void *handle, int64_t n, const void *alpha, const void *x, int64_t x_step, void *y,
	       int64_t y_step, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, true);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view from = gt_vector_of(&call, x, type, n, x_step, false), to = gt_vector_of(&call, y, type, n, y_step, true);
	double factor = alpha ? gt_factor_of(&call, alpha, type) : 1;
	for (int64_t i = 0; i < n; i++)
		gt_view_write(&to, i, 0, factor * gt_view_read(&from, i, 0) + (alpha ? gt_view_read(&to, i, 0) : 0));
	return gt_call_end();
}

/* x and y become c x + s y and c y - s x; without c and s they change places. */
static int rotate(const char *name, void *handle, int64_t n, void *x, int64_t x_step, void *y, int64_t y_step, const void *c,
		  const void *s, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, true);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_view first = gt_vector_of(&call, x, type, n, x_step, true), second = gt_vector_of(&call, y, type, n, y_step, true);
	double cosine = c ? gt_factor_of(&call, c, type) : 0, sine = s ? gt_factor_of(&call, s, type) : 0;
	for (int64_t i = 0; i < n; i++) {
		double old_x = gt_view_read(&first, i, 0), old_y = gt_view_read(&second, i, 0);
		gt_view_write(&first, i, 0, c ? cosine * old_x + sine * old_y : old_y);
		gt_view_write(&second, i, 0, c ? cosine * old_y - sine * old_x : old_x);
	}
	return gt_call_end();
}

#define CHANGES(L, SMALL, T, TYPE, INT, INDEX, END)                                                                       \
	API int cublas##L##scal_v2##END(void *handle, INT n, const T *alpha, T *x, INT step)                               \
	{                                                                                                                  \
		return scale("cublas" #L "scal" #END, handle, n, alpha, x, step, TYPE);                                    \
	}                                                                                                                  \
	API int cublas##L##axpy_v2##END(void *handle, INT n, const T *alpha, const T *x, INT x_step, T *y, INT y_step)     \
	{                                                                                                                  \
		return alpha ? add("cublas" #L "axpy" #END, handle, n, alpha, x, x_step, y, y_step, TYPE)                  \
			     : GT_CUBLAS_INVALID_VALUE;                                                                    \
	}                                                                                                                  \
	API int cublas##L##copy_v2##END(void *handle, INT n, const T *x, INT x_step, T *y, INT y_step)                     \
	{                                                                                                                  \
		return add("cublas" #L "copy" #END, handle, n, NULL, x, x_step, y, y_step, TYPE);                          \
	}                                                                                                                  \
	API int cublas##L##swap_v2##END(void *handle, INT n, T *x, INT x_step, T *y, INT y_step)                           \
	{                                                                                                                  \
		return rotate("cublas" #L "swap" #END, handle, n, x, x_step, y, y_step, NULL, NULL, TYPE);                 \
	}                                                                                                                  \
	API int cublas##L##rot_v2##END(void *handle, INT n, T *x, INT x_step, T *y, INT y_step, const T *c, const T *s)    \
	{                                                                                                                  \
		return c && s ? rotate("cublas" #L "rot" #END, handle, n, x, x_step, y, y_step, c, s, TYPE)                \
			      : GT_CUBLAS_INVALID_VALUE;                                                                   \
	}
GT_CUBLAS_ENTRIES(CHANGES)

/* Sums of two matrices, and products with a diagonal one. */

/* c = alpha op(a) + beta op(b); a matrix whose factor is 0 is not read, and may be nowhere. */
static int add_matrices(const char *name, void *handle, const int operations[2], int64_t m, int64_t n, const void *const factors[2],
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
static int scale_diagonally(const char *name, void *handle, int side, int64_t m, int64_t n, const void *a, int64_t lda, const void *x,
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
		return add_matrices("cublas" #L "geam" #END, handle, (const int[]){ta, tb}, m, n, (const void *const[]){alpha, beta}, \
			   (const void *const[]){a, b}, (const int64_t[]){lda, ldb}, c, ldc, TYPE);                       \
	}                                                                                                                  \
	API int cublas##L##dgmm##END(void *handle, int side, INT m, INT n, const T *a, INT lda, const T *x, INT step, T *c, \
				     INT ldc)                                                                              \
	{                                                                                                                  \
		return scale_diagonally("cublas" #L "dgmm" #END, handle, side, m, n, a, lda, x, step, c, ldc, TYPE);                  \
	}
GT_CUBLAS_ENTRIES(ELEMENTWISE)
