/* SPDX-License-Identifier: MIT */
/* Complex numbers. A matrix of them is two of real numbers, between each other in memory; a product is four of those. */
#include <math.h>
#include <stdlib.h>

#include "cuda/plugins/cublas/cublas.h"

struct gt_complex {
	double re, im;
};

/* A matrix, or a vector as its one column: its real and its imaginary parts. */
struct gt_parts {
	struct gt_view re, im;
	double sign; /* of the imaginary parts: -1 of a conjugate */
};

/* Writes the entries of a call: CALL(letter, letters of a call with real factors, of one with a real result, type, type of sizes,
 * end of the name). */
#define GT_CUBLAS_COMPLEX_ENTRIES(CALL)                     \
	CALL(C, Cs, Sc, GT_F32, int, )            \
	CALL(C, Cs, Sc, GT_F32, int64_t, _64)     \
	CALL(Z, Zd, Dz, GT_F64, int, )            \
	CALL(Z, Zd, Dz, GT_F64, int64_t, _64)

static struct gt_complex gt_complex_read(const struct gt_parts *x, int64_t i, int64_t j)
{
	return (struct gt_complex){gt_view_read(&x->re, i, j), x->sign * gt_view_read(&x->im, i, j)};
}

static void gt_complex_write(const struct gt_parts *x, int64_t i, int64_t j, struct gt_complex value)
{
	gt_view_write(&x->re, i, j, value.re);
	gt_view_write(&x->im, i, j, value.im);
}

static struct gt_complex gt_complex_times(struct gt_complex a, struct gt_complex b)
{
	return (struct gt_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct gt_parts parts_of(struct gt_view both, int64_t down, int64_t across)
{
	struct gt_parts parts = {{both.at, both.type, 2 * down, 2 * across}, {NULL, both.type, 2 * down, 2 * across}, 1};

	parts.im.at = both.at ? both.at + gt_element_bytes(both.type) : NULL;
	return parts;
}

/* The operands of a call, as gt_matrix_of, gt_vector_of and gt_factor_of have them; type: of the parts. */
static struct gt_parts gt_complex_matrix(const struct gt_call *call, const void *at, enum gt_element type, int64_t rows, int64_t columns,
			      int64_t leading, bool written)
{
	return parts_of(gt_matrix_of(call, at, type, 2 * rows, columns, 2 * leading, written), 1, leading);
}

static struct gt_parts gt_complex_vector(const struct gt_call *call, const void *at, enum gt_element type, int64_t n, int64_t step, bool written)
{
	const int64_t between = llabs(step);
	struct gt_view both = gt_matrix_of(call, at, type, 2, n, 2 * between, written);

	if (step < 0 && n > 0)
		both.at += (uint64_t)(2 * (n - 1) * between) * gt_element_bytes(type);
	return parts_of(both, step, 0);
}

static struct gt_parts gt_complex_transposed(struct gt_parts parts, bool conjugate)
{
	return (struct gt_parts){gt_transposed(parts.re), gt_transposed(parts.im), conjugate ? -parts.sign : parts.sign};
}

static struct gt_complex gt_complex_factor(const struct gt_call *call, const void *at, enum gt_element type)
{
	const unsigned char *second = (const unsigned char *)at + gt_element_bytes(type);

	return (struct gt_complex){gt_factor_of(call, at, type), gt_factor_of(call, second, type)};
}

/* c = alpha a b + beta c, of m by k and k by n elements; c is not read if beta is 0. Returns a status. */
static int gt_complex_product(int64_t m, int64_t n, int64_t k, struct gt_complex alpha, const struct gt_parts *a, const struct gt_parts *b,
		   struct gt_complex beta, const struct gt_parts *c)
{
	const size_t each = (size_t)(m * n) * sizeof(double);
	double *sums = (uint64_t)m < UINT32_MAX && (uint64_t)n < UINT32_MAX ? malloc(2 * each + 1) : NULL;
	struct gt_view re = {(unsigned char *)sums, GT_F64, 1, m}, im = re;
	int status = GT_CUBLAS_ALLOC_FAILED;

	if (sums) {
		im.at += each;
		status = gt_product(m, n, k, 1, &a->re, &b->re, 0, &re);
	}
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, -a->sign * b->sign, &a->im, &b->im, 1, &re) : status;
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, b->sign, &a->re, &b->im, 0, &im) : status;
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, a->sign, &a->im, &b->re, 1, &im) : status;
	for (int64_t j = 0; status == GT_CUBLAS_SUCCESS && j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			struct gt_complex sum = gt_complex_times(alpha, (struct gt_complex){gt_view_read(&re, i, j), gt_view_read(&im, i, j)});
			if (beta.re != 0 || beta.im != 0) {
				struct gt_complex old = gt_complex_times(beta, gt_complex_read(c, i, j));
				sum = (struct gt_complex){sum.re + old.re, sum.im + old.im};
			}
			gt_complex_write(c, i, j, sum);
		}
	free(sums);
	return status;
}

/* Products with a complex square matrix of which one triangle is stored: a symmetric, a Hermitian, a triangular one. */

/* c = alpha op(A) b + beta c, or b op(A), with m by n elements in b and c. */
struct stored {
	struct gt_half half;
	bool hermitian; /* the other triangle is the conjugate, and the diagonal is real */
	bool right;
	int operation;
	int64_t m, n;
	enum gt_element type;
};

static struct gt_complex stored_element(const struct stored *this, const struct gt_parts *a, int64_t i, int64_t j)
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
			gt_complex_write(&whole, i, j, stored_element(this, a, i, j));
	return this->operation == GT_CUBLAS_N ? whole : gt_complex_transposed(whole, this->operation == GT_CUBLAS_C);
}

/* `beta`: NULL is 0. */
static int multiply_stored(const char *name, void *handle, const struct stored *this, bool valid, const void *alpha, const void *a, int64_t lda,
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
		return multiply_stored(NAME, handle, &this, gt_is_flag(side) && beta, alpha, a, lda, b, ldb, beta, c, ldc);                \
	}
#define STORED(L, MIXED, REDUCED, TYPE, INT, END)                                                                                \
	MIRRORED("cublas" #L "symm" #END, L##symm_v2##END, false, TYPE, INT)                                                     \
	MIRRORED("cublas" #L "hemm" #END, L##hemm_v2##END, true, TYPE, INT)                                                      \
	API int cublas##L##trmm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n,                 \
					const void *alpha, const void *a, INT lda, const void *b, INT ldb, void *c, INT ldc)     \
	{                                                                                                                        \
		const struct stored this = {{uplo, false, diag == GT_CUBLAS_UNIT}, false, side == GT_CUBLAS_RIGHT, operation, m, n, TYPE}; \
		return multiply_stored("cublas" #L "trmm" #END, handle, &this,                                                          \
				gt_is_flag(side) && gt_is_flag(diag) && operation >= GT_CUBLAS_N && operation <= GT_CUBLAS_C, alpha, a, \
				lda, b, ldb, NULL, c, ldc);                                                                      \
	}
GT_CUBLAS_COMPLEX_ENTRIES(STORED)

/* Products of complex matrices, and of a complex matrix and a vector. */

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

/* Complex vectors. */

static struct gt_complex with_addend(struct gt_complex factor, struct gt_complex x, struct gt_complex y)
{
	struct gt_complex scaled = gt_complex_times(factor, x);

	return (struct gt_complex){scaled.re + y.re, scaled.im + y.im};
}

static struct gt_complex scaled(struct gt_complex factor, struct gt_complex x, struct gt_complex y)
{
	(void)y;
	return gt_complex_times(factor, x);
}

/* y[i] = change(factor, x[i], y[i]); real: the factor is a real number; NULL: 1. */
static int change(const char *name, void *handle, int64_t n, const void *factor, bool real, const void *x, int64_t x_step, void *y,
		  int64_t y_step, struct gt_complex (*with)(struct gt_complex, struct gt_complex, struct gt_complex), enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && x_step != 0 && y_step != 0);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_complex by = {1, 0};
	if (factor)
		by = real ? (struct gt_complex){gt_factor_of(&call, factor, type), 0} : gt_complex_factor(&call, factor, type);
	struct gt_parts from = gt_complex_vector(&call, x, type, n, x_step, false), to = gt_complex_vector(&call, y, type, n, y_step, true);
	for (int64_t i = 0; i < n; i++)
		gt_complex_write(&to, i, 0, with(by, gt_complex_read(&from, i, 0), gt_complex_read(&to, i, 0)));
	return gt_call_end();
}

/* The sum of x[i] y[i], or with x conjugated. */
static int dot(const char *name, void *handle, bool conjugate, int64_t n, const void *x, int64_t x_step, const void *y, int64_t y_step,
	       void *result, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && result);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_parts left = gt_complex_vector(&call, x, type, n, x_step, false), right = gt_complex_vector(&call, y, type, n, y_step, false);
	struct gt_complex sum = {0, 0};
	left.sign = conjugate ? -1 : 1;
	for (int64_t i = 0; i < n; i++)
		sum = with_addend(gt_complex_read(&left, i, 0), gt_complex_read(&right, i, 0), sum);
	struct gt_view re = gt_result_of(&call, result, type);
	struct gt_view im = gt_result_of(&call, (unsigned char *)result + gt_element_bytes(type), type);
	gt_view_write(&re, 0, 0, sum.re);
	gt_view_write(&im, 0, 0, sum.im);
	return gt_call_end();
}

/* The square root of the sum of squares. */
static int norm(const char *name, void *handle, int64_t n, const void *x, int64_t step, void *result, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && result);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_parts from = gt_complex_vector(&call, x, type, n, step, false);
	double length = 0;
	for (int64_t i = 0; i < n; i++) {
		struct gt_complex value = gt_complex_read(&from, i, 0);
		length = hypot(length, hypot(value.re, value.im));
	}
	struct gt_view to = gt_result_of(&call, result, type);
	gt_view_write(&to, 0, 0, length);
	return gt_call_end();
}

#define VECTORS(L, MIXED, REDUCED, TYPE, INT, END)							   \
	API int cublas##L##axpy_v2##END(void *handle, INT n, const void *alpha, const void *x, INT x_step, void *y, INT y_step) \
	{												   \
		return change("cublas" #L "axpy" #END, handle, n, alpha, false, x, x_step, y, y_step, with_addend, TYPE);  \
	}												   \
	API int cublas##L##scal_v2##END(void *handle, INT n, const void *alpha, void *x, INT step)			   \
	{												   \
		return change("cublas" #L "scal" #END, handle, n, alpha, false, x, step, x, step, scaled, TYPE);	   \
	}												   \
	API int cublas##MIXED##scal_v2##END(void *handle, INT n, const void *alpha, void *x, INT step)		   \
	{												   \
		return change("cublas" #MIXED "scal" #END, handle, n, alpha, true, x, step, x, step, scaled, TYPE);	   \
	}												   \
	API int cublas##L##copy_v2##END(void *handle, INT n, const void *x, INT x_step, void *y, INT y_step)		   \
	{												   \
		return change("cublas" #L "copy" #END, handle, n, NULL, false, x, x_step, y, y_step, scaled, TYPE);	   \
	}												   \
	API int cublas##L##dotu_v2##END(void *handle, INT n, const void *x, INT x_step, const void *y, INT y_step,	   \
					void *result)								   \
	{												   \
		return dot("cublas" #L "dotu" #END, handle, false, n, x, x_step, y, y_step, result, TYPE);		   \
	}												   \
	API int cublas##L##dotc_v2##END(void *handle, INT n, const void *x, INT x_step, const void *y, INT y_step,	   \
					void *result)								   \
	{												   \
		return dot("cublas" #L "dotc" #END, handle, true, n, x, x_step, y, y_step, result, TYPE);		   \
	}												   \
	API int cublas##REDUCED##nrm2_v2##END(void *handle, INT n, const void *x, INT step, void *result)		   \
	{												   \
		return norm("cublas" #REDUCED "nrm2" #END, handle, n, x, step, result, TYPE);			   \
	}
GT_CUBLAS_COMPLEX_ENTRIES(VECTORS)

/* Complex square matrices of which one triangle is stored: systems of equations, and updates of a triangle. */

/* ---- updates ---- */

/* c = alpha a b^T + beta c in one triangle, of n by k elements, or with b conjugated: then a real beta and a real diagonal. Twice:
 * also alpha b a^T, where alpha is conjugated too. */
struct update {
	int uplo, operation;
	bool hermitian, twice;
	int64_t n, k;
	enum gt_element type;
};

/* sums = alpha a b^T + beta sums */
static int add_products(const struct update *this, struct gt_complex alpha, const struct gt_parts *a, const struct gt_parts *b,
			struct gt_complex beta, const struct gt_parts *sums)
{
	const struct gt_parts across = gt_complex_transposed(*b, this->hermitian);

	return gt_complex_product(this->n, this->n, this->k, alpha, a, &across, beta, sums);
}

static int update_with(const struct update *this, struct gt_complex alpha, const struct gt_parts of[2], struct gt_complex beta,
		       const struct gt_parts *c)
{
	const struct gt_half half = {this->uplo, false, false};
	const struct gt_complex turned = {alpha.re, this->hermitian ? -alpha.im : alpha.im};
	double *sums = (uint64_t)this->n < UINT32_MAX ? malloc(2 * (size_t)this->n * (size_t)this->n * sizeof *sums + 1) : NULL;
	const struct gt_view re = {(unsigned char *)sums, GT_F64, 2, 2 * this->n};
	const struct gt_parts to = {re, {(unsigned char *)(sums ? sums + 1 : NULL), GT_F64, 2, 2 * this->n}, 1};
	int status = sums ? add_products(this, alpha, &of[0], &of[1], (struct gt_complex){0, 0}, &to) : GT_CUBLAS_ALLOC_FAILED;

	if (status == GT_CUBLAS_SUCCESS && this->twice)
		status = add_products(this, turned, &of[1], &of[0], (struct gt_complex){1, 0}, &to);
	for (int64_t j = 0; status == GT_CUBLAS_SUCCESS && j < this->n; j++)
		for (int64_t i = 0; i < this->n; i++) {
			if (!gt_half_has(&half, i, j))
				continue;
			struct gt_complex sum = gt_complex_read(&to, i, j), old = {0, 0};
			if (beta.re != 0 || beta.im != 0)
				old = gt_complex_times(beta, gt_complex_read(c, i, j));
			sum = (struct gt_complex){sum.re + old.re, this->hermitian && i == j ? 0 : sum.im + old.im};
			gt_complex_write(c, i, j, sum);
		}
	free(sums);
	return status;
}

static struct gt_complex factor(const struct gt_call *call, const struct update *this, bool real, const void *at)
{
	return real ? (struct gt_complex){gt_factor_of(call, at, this->type), 0} : gt_complex_factor(call, at, this->type);
}

/* `b`: NULL is a; then a Hermitian update has a real alpha. */
static int update(const char *name, void *handle, const struct update *this, const void *alpha, const void *a, int64_t lda,
		  const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
	const bool turned = this->operation != GT_CUBLAS_N;
	const int64_t rows = turned ? this->k : this->n, columns = turned ? this->n : this->k;
	const int turn = this->hermitian ? GT_CUBLAS_C : GT_CUBLAS_T;
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   gt_is_flag(this->uplo) && (!turned || this->operation == turn) && this->n >= 0 && this->k >= 0 &&
					   lda >= gt_least_leading(rows) && (!b || ldb >= gt_least_leading(rows)) &&
					   ldc >= gt_least_leading(this->n) && alpha && beta);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (this->n == 0)
		return gt_call_end();
	struct gt_parts of[2];
	for (unsigned i = 0; i < 2; i++) {
		of[i] = gt_complex_matrix(&call, i && b ? b : a, this->type, rows, columns, i && b ? ldb : lda, false);
		of[i] = turned ? gt_complex_transposed(of[i], this->hermitian) : of[i];
	}
	struct gt_parts to = gt_complex_matrix(&call, c, this->type, this->n, this->n, ldc, true);
	status = update_with(this, factor(&call, this, this->hermitian && !b, alpha), of, factor(&call, this, this->hermitian, beta), &to);
	gt_call_end();
	return status;
}

/* ---- systems ---- */

/* op(A) X = alpha B, or X op(A) = alpha B, with m by n elements in B. */
struct system {
	struct gt_half half;
	bool right;
	int operation;
	int64_t m, n;
	enum gt_element type;
};

static struct gt_complex quotient(struct gt_complex a, struct gt_complex b)
{
	const double square = b.re * b.re + b.im * b.im;
	const struct gt_complex product = gt_complex_times(a, (struct gt_complex){b.re, -b.im});

	return (struct gt_complex){product.re / square, product.im / square};
}

/* The element (i, j) of the matrix that stands on the left of the unknowns; `stored` has the signs of op(A). */
static struct gt_complex element(const struct system *this, const struct gt_parts *stored, int64_t i, int64_t j)
{
	const bool turned = (this->operation != GT_CUBLAS_N) != this->right;

	if (this->half.unit && i == j)
		return (struct gt_complex){1, 0};
	return turned ? gt_complex_read(stored, j, i) : gt_complex_read(stored, i, j);
}

/* One column of X, from the row on that has one unknown, in place of B's. */
static void substitute(const struct system *this, const struct gt_parts *stored, const struct gt_parts *b, int64_t order)
{
	const bool lower = (this->half.uplo == GT_CUBLAS_LOWER) == ((this->operation != GT_CUBLAS_N) == this->right);

	for (int64_t step = 0; step < order; step++) {
		int64_t i = lower ? step : order - 1 - step;
		struct gt_complex x = gt_complex_read(b, i, 0);
		for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : order); k++) {
			struct gt_complex term = gt_complex_times(element(this, stored, i, k), gt_complex_read(b, k, 0));
			x = (struct gt_complex){x.re - term.re, x.im - term.im};
		}
		gt_complex_write(b, i, 0, quotient(x, element(this, stored, i, i)));
	}
}

/* A column is kept in doubles while it is solved. */
static int solve_columns(const struct system *this, const struct gt_parts *stored, struct gt_complex alpha, const struct gt_parts *b,
			 int64_t order, int64_t columns)
{
	double *values = (uint64_t)order < UINT32_MAX ? malloc(2 * (size_t)order * sizeof *values + 1) : NULL;

	if (!values)
		return GT_CUBLAS_ALLOC_FAILED;
	const struct gt_parts x = {{(unsigned char *)values, GT_F64, 2, 0}, {(unsigned char *)(values + 1), GT_F64, 2, 0}, 1};
	for (int64_t j = 0; j < columns; j++) {
		for (int64_t i = 0; i < order; i++)
			gt_complex_write(&x, i, 0, gt_complex_times(alpha, gt_complex_read(b, i, j)));
		substitute(this, stored, &x, order);
		for (int64_t i = 0; i < order; i++)
			gt_complex_write(b, i, j, gt_complex_read(&x, i, 0));
	}
	free(values);
	return GT_CUBLAS_SUCCESS;
}

static int solve(const char *name, void *handle, const struct system *this, bool valid, const void *alpha, const void *a, int64_t lda,
		 void *b, int64_t ldb)
{
	const int64_t order = this->right ? this->n : this->m, columns = this->right ? this->m : this->n;
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, valid && this->m >= 0 && this->n >= 0 && lda >= gt_least_leading(order) &&
								ldb >= gt_least_leading(this->m) && alpha);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (this->m == 0 || this->n == 0)
		return gt_call_end();
	struct gt_parts stored = gt_complex_matrix(&call, a, this->type, order, order, lda, false);
	struct gt_parts to = gt_complex_matrix(&call, b, this->type, this->m, this->n, ldb, true);
	stored.sign = this->operation == GT_CUBLAS_C ? -1 : 1;
	to = this->right ? gt_complex_transposed(to, false) : to;
	status = solve_columns(this, &stored, gt_complex_factor(&call, alpha, this->type), &to, order, columns);
	gt_call_end();
	return status;
}

/* ---- entries ---- */

#define UPDATE(NAME, FULL, HERMITIAN, TYPE, INT)                                                                                \
	API int cublas##FULL(void *handle, int uplo, int operation, INT n, INT k, const void *alpha, const void *a, INT lda,     \
			     const void *beta, void *c, INT ldc)                                                                 \
	{                                                                                                                        \
		const struct update this = {uplo, operation, HERMITIAN, false, n, k, TYPE};                                      \
		return update(NAME, handle, &this, alpha, a, lda, NULL, 0, beta, c, ldc);                                        \
	}
#define UPDATE_BY_TWO(NAME, FULL, HERMITIAN, TWICE, TYPE, INT)                                                                   \
	API int cublas##FULL(void *handle, int uplo, int operation, INT n, INT k, const void *alpha, const void *a, INT lda,     \
			     const void *b, INT ldb, const void *beta, void *c, INT ldc)                                         \
	{                                                                                                                        \
		const struct update this = {uplo, operation, HERMITIAN, TWICE, n, k, TYPE};                                      \
		return update(NAME, handle, &this, alpha, a, lda, b, ldb, beta, c, ldc);                                         \
	}
#define TRIANGLES(L, MIXED, REDUCED, TYPE, INT, END)                                                                             \
	UPDATE("cublas" #L "syrk" #END, L##syrk_v2##END, false, TYPE, INT)                                                       \
	UPDATE("cublas" #L "herk" #END, L##herk_v2##END, true, TYPE, INT)                                                        \
	UPDATE_BY_TWO("cublas" #L "syr2k" #END, L##syr2k_v2##END, false, true, TYPE, INT)                                        \
	UPDATE_BY_TWO("cublas" #L "her2k" #END, L##her2k_v2##END, true, true, TYPE, INT)                                         \
	UPDATE_BY_TWO("cublas" #L "syrkx" #END, L##syrkx##END, false, false, TYPE, INT)                                          \
	UPDATE_BY_TWO("cublas" #L "herkx" #END, L##herkx##END, true, false, TYPE, INT)                                           \
	API int cublas##L##trsm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n,                 \
					const void *alpha, const void *a, INT lda, void *b, INT ldb)                             \
	{                                                                                                                        \
		const struct system this = {{uplo, false, diag == GT_CUBLAS_UNIT}, side == GT_CUBLAS_RIGHT, operation, m, n, TYPE}; \
		return solve("cublas" #L "trsm" #END, handle, &this,                                                             \
			     gt_is_flag(side) && gt_is_flag(uplo) && gt_is_flag(diag) && operation >= GT_CUBLAS_N && operation <= GT_CUBLAS_C, \
			     alpha, a, lda, b, ldb);                                                                             \
	}
GT_CUBLAS_COMPLEX_ENTRIES(TRIANGLES)
