/* SPDX-License-Identifier: MIT */
/* Complex square matrices of which one triangle is stored: systems of equations, and updates of a triangle. */
#include <stdlib.h>

#include "cuda/plugins/cublas/complex.h"

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
