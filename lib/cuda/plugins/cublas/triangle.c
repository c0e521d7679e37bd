/* SPDX-License-Identifier: MIT */
/* Square matrices of which one triangle is stored: products with them, systems of equations, and updates of a triangle. */
#include <stdlib.h>

#include "cuda/plugins/cublas/cublas.h"

/* What the calls have in common. The other matrix may be a vector, a column whose elements are `leading` apart. */
struct triangle {
	struct gt_half half;
	bool right, turned; /* the matrix is on the right; its transpose is meant */
	int64_t m, n;	    /* of the other matrix */
	bool vector;
	enum gt_element type;
};

static bool is_operation(int value)
{
	return value >= GT_CUBLAS_N && value <= GT_CUBLAS_C;
}

static int64_t order_of(const struct triangle *with)
{
	return with->right ? with->n : with->m;
}

/* The other matrix, so that the square one is on its left. */
static struct gt_view other_of(const struct gt_call *call, const struct triangle *with, const void *at, int64_t leading,
			       bool written)
{
	struct gt_view view = with->vector ? gt_vector_of(call, at, with->type, with->m, leading, written)
					   : gt_matrix_of(call, at, with->type, with->m, with->n, leading, written);

	return with->right ? gt_transposed(view) : view;
}

/* The square matrix as it multiplies from the left, in doubles at *memory, which the caller frees; without memory, nowhere. */
static struct gt_view square_of(const struct gt_call *call, const struct triangle *with, const void *a, int64_t lda,
				double **memory)
{
	const int64_t n = order_of(with);
	const struct gt_view stored = gt_matrix_of(call, a, with->type, n, n, lda, false);
	struct gt_view view = {NULL, GT_F64, 1, n};

	*memory = (uint64_t)n < UINT32_MAX ? malloc((size_t)n * (size_t)n * sizeof **memory + 1) : NULL;
	for (int64_t j = 0; *memory && j < n; j++)
		for (int64_t i = 0; i < n; i++)
			(*memory)[j * n + i] = gt_half_read(&stored, &with->half, i, j);
	view.at = (unsigned char *)*memory;
	return with->turned != with->right ? gt_transposed(view) : view;
}

/* c = alpha A b + beta c, or with A on the right. */
static int multiply(const char *name, void *handle, const struct triangle *with, bool valid, const void *alpha, const void *a,
		    int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
	struct gt_call call;
	double *memory;
	int status = gt_call_begin(&call, name, handle, valid && with->m >= 0 && with->n >= 0 && lda >= gt_least_leading(order_of(with)));

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (with->m == 0 || with->n == 0)
		return gt_call_end();
	struct gt_view from = other_of(&call, with, b, ldb, false), to = other_of(&call, with, c, ldc, true);
	struct gt_view square = square_of(&call, with, a, lda, &memory);
	const int64_t n = order_of(with), columns = with->right ? with->m : with->n;
	status = memory ? gt_product(n, columns, n, alpha ? gt_factor_of(&call, alpha, with->type) : 1, &square, &from,
				     beta ? gt_factor_of(&call, beta, with->type) : 0, &to)
			: GT_CUBLAS_ALLOC_FAILED;
	free(memory);
	gt_call_end();
	return status;
}

/* One column of X in A X = B, from the row on that has one unknown. */
static void substitute(const double *a, int64_t down, int64_t across, bool lower, int64_t n, double *x)
{
	for (int64_t step = 0; step < n; step++) {
		int64_t i = lower ? step : n - 1 - step;
		for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); k++)
			x[i] -= a[i * down + k * across] * x[k];
		x[i] /= a[i * down + i * across];
	}
}

/* b = alpha A^-1 b, or with A on the right. */
static int solve_one(const struct gt_call *call, const struct triangle *with, double factor, const void *a, int64_t lda, void *b,
		     int64_t ldb)
{
	const int64_t n = order_of(with), columns = with->right ? with->m : with->n;
	struct gt_view view = other_of(call, with, b, ldb, true);
	double *memory, *x = (uint64_t)n < UINT32_MAX ? malloc((size_t)n * sizeof *x + 1) : NULL;
	struct gt_view square = square_of(call, with, a, lda, &memory);
	const bool lower = (with->half.uplo == GT_CUBLAS_LOWER) == (with->turned == with->right);

	for (int64_t j = 0; memory && x && j < columns; j++) {
		for (int64_t i = 0; i < n; i++)
			x[i] = factor * gt_view_read(&view, i, j);
		substitute(memory, square.down, square.across, lower, n, x);
		for (int64_t i = 0; i < n; i++)
			gt_view_write(&view, i, j, x[i]);
	}
	int status = memory && x ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;
	free(memory);
	free(x);
	return status;
}

/* batches < 0: one, at a and b themselves; else the addresses of so many are there. */
static int solve(const char *name, void *handle, const struct triangle *with, bool valid, const void *alpha, const void *a,
		 int64_t lda, void *b, int64_t ldb, int64_t batches)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, valid && with->m >= 0 && with->n >= 0 && lda >= gt_least_leading(order_of(with)));

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	double factor = alpha ? gt_factor_of(&call, alpha, with->type) : 1;
	if (batches < 0 && with->m > 0 && with->n > 0)
		status = solve_one(&call, with, factor, a, lda, b, ldb);
	for (int64_t i = 0; i < batches && status == GT_CUBLAS_SUCCESS && with->m > 0 && with->n > 0; i++) {
		const void *const *from = gt_stub_at(name, (const void *const *)a + i, 1, sizeof(void *), false);
		void *const *to = gt_stub_at(name, (void *const *)b + i, 1, sizeof(void *), false);
		status = solve_one(&call, with, factor, *from, lda, *to, ldb);
	}
	gt_call_end();
	return status;
}

/* ---- updates of a triangle ---- */

/* c = alpha (a b^T (+ b a^T)) + beta c in one triangle, of n by k elements; turned: of k by n. */
struct update {
	int uplo;
	bool turned, twice;
	int64_t n, k;
	enum gt_element type;
};

static struct gt_view factor_matrix(const struct gt_call *call, const struct update *this, const void *at, int64_t leading)
{
	struct gt_view view = gt_matrix_of(call, at, this->type, this->turned ? this->k : this->n, this->turned ? this->n : this->k,
					   leading, false);

	return this->turned ? gt_transposed(view) : view;
}

static int update_with(const struct update *this, double alpha, const struct gt_view *a, const struct gt_view *b, double beta,
		       const struct gt_view *c)
{
	const struct gt_half half = {this->uplo, false, false};
	double *sums = (uint64_t)this->n < UINT32_MAX ? calloc((size_t)this->n * (size_t)this->n + 1, sizeof *sums) : NULL;
	struct gt_view to = {(unsigned char *)sums, GT_F64, 1, this->n}, across[] = {gt_transposed(*a), gt_transposed(*b)};
	int status = sums ? gt_product(this->n, this->n, this->k, alpha, a, &across[1], 0, &to) : GT_CUBLAS_ALLOC_FAILED;

	if (status == GT_CUBLAS_SUCCESS && this->twice)
		status = gt_product(this->n, this->n, this->k, alpha, b, &across[0], 1, &to);
	for (int64_t j = 0; status == GT_CUBLAS_SUCCESS && j < this->n; j++)
		for (int64_t i = 0; i < this->n; i++)
			if (gt_half_has(&half, i, j))
				gt_view_write(c, i, j, sums[j * this->n + i] + (beta != 0 ? beta * gt_view_read(c, i, j) : 0));
	free(sums);
	return status;
}

static int update(const char *name, void *handle, const struct update *this, bool valid, const void *alpha, const void *a,
		  int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
	const int64_t rows = gt_least_leading(this->turned ? this->k : this->n);
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, valid && gt_is_flag(this->uplo) && this->n >= 0 && this->k >= 0 && lda >= rows &&
							ldb >= rows && ldc >= gt_least_leading(this->n) && alpha && beta);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (this->n == 0)
		return gt_call_end();
	struct gt_view from = factor_matrix(&call, this, a, lda), with = factor_matrix(&call, this, b, ldb);
	struct gt_view to = gt_matrix_of(&call, c, this->type, this->n, this->n, ldc, true);
	status = update_with(this, gt_factor_of(&call, alpha, this->type), &from, &with, gt_factor_of(&call, beta, this->type), &to);
	gt_call_end();
	return status;
}

/* A = alpha x x^T + A in one triangle. */
static int update_by_vector(const char *name, void *handle, const struct update *this, const void *alpha, const void *x,
			    int64_t step, void *a, int64_t lda)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   gt_is_flag(this->uplo) && this->n >= 0 && step != 0 && lda >= gt_least_leading(this->n) && alpha);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	if (this->n == 0)
		return gt_call_end();
	struct gt_view column = gt_vector_of(&call, x, this->type, this->n, step, false);
	struct gt_view to = gt_matrix_of(&call, a, this->type, this->n, this->n, lda, true);
	status = update_with(this, gt_factor_of(&call, alpha, this->type), &column, &column, 1, &to);
	gt_call_end();
	return status;
}

/* ---- entries ---- */

#define TRIANGLE(TYPE)									   \
	const struct triangle with = {{uplo, false, diag == GT_CUBLAS_UNIT}, side == GT_CUBLAS_RIGHT, operation != GT_CUBLAS_N, m, n, \
				      false, TYPE};					   \
	bool valid = gt_is_flag(side) && gt_is_flag(uplo) && is_operation(operation) && gt_is_flag(diag) && ldb >= gt_least_leading(m)
#define COLUMN(TYPE)									   \
	const struct triangle with = {{uplo, false, diag == GT_CUBLAS_UNIT}, false, operation != GT_CUBLAS_N, n, 1, true, TYPE}; \
	bool valid = gt_is_flag(uplo) && is_operation(operation) && gt_is_flag(diag) && step != 0

#define TRIANGLES(L, SMALL, T, TYPE, INT, INDEX, END)									   \
	API int cublas##L##symm_v2##END(void *handle, int side, int uplo, INT m, INT n, const T *alpha, const T *a, INT lda,       \
					const T *b, INT ldb, const T *beta, T *c, INT ldc)					   \
	{											   \
		const struct triangle with = {{uplo, true, false}, side == GT_CUBLAS_RIGHT, false, m, n, false, TYPE};		   \
		return multiply("cublas" #L "symm" #END, handle, &with,							   \
				gt_is_flag(side) && gt_is_flag(uplo) && ldb >= gt_least_leading(m) && ldc >= gt_least_leading(m) && alpha && beta, alpha, a,   \
				lda, b, ldb, beta, c, ldc);								   \
	}											   \
	API int cublas##L##trmm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha,   \
					const T *a, INT lda, const T *b, INT ldb, T *c, INT ldc)				   \
	{											   \
		TRIANGLE(TYPE);									   \
		return multiply("cublas" #L "trmm" #END, handle, &with, valid && ldc >= gt_least_leading(m) && alpha, alpha, a, lda, b, ldb,  \
				NULL, c, ldc);									   \
	}											   \
	API int cublas##L##trsm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha,   \
					const T *a, INT lda, T *b, INT ldb)						   \
	{											   \
		TRIANGLE(TYPE);									   \
		return solve("cublas" #L "trsm" #END, handle, &with, valid && alpha, alpha, a, lda, b, ldb, -1);		   \
	}											   \
	API int cublas##L##trsmBatched##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n,		   \
					    const T *alpha, const T *const *a, INT lda, T *const *b, INT ldb, INT batches)	   \
	{											   \
		TRIANGLE(TYPE);									   \
		return solve("cublas" #L "trsmBatched" #END, handle, &with, valid && alpha && batches >= 0, alpha, a, lda,	   \
			     (void *)(uintptr_t)b, ldb, batches);							   \
	}											   \
	API int cublas##L##trmv_v2##END(void *handle, int uplo, int operation, int diag, INT n, const T *a, INT lda, T *x, INT step) \
	{											   \
		COLUMN(TYPE);									   \
		return multiply("cublas" #L "trmv" #END, handle, &with, valid, NULL, a, lda, x, step, NULL, x, step);		   \
	}											   \
	API int cublas##L##trsv_v2##END(void *handle, int uplo, int operation, int diag, INT n, const T *a, INT lda, T *x, INT step) \
	{											   \
		COLUMN(TYPE);									   \
		return solve("cublas" #L "trsv" #END, handle, &with, valid, NULL, a, lda, x, step, -1);				   \
	}
GT_CUBLAS_ENTRIES(TRIANGLES)

#define UPDATES(L, SMALL, T, TYPE, INT, INDEX, END)									   \
	API int cublas##L##syrk_v2##END(void *handle, int uplo, int operation, INT n, INT k, const T *alpha, const T *a, INT lda,  \
					const T *beta, T *c, INT ldc)								   \
	{											   \
		const struct update this = {uplo, operation != GT_CUBLAS_N, false, n, k, TYPE};					   \
		return update("cublas" #L "syrk" #END, handle, &this, is_operation(operation), alpha, a, lda, a, lda, beta, c, ldc); \
	}											   \
	API int cublas##L##syr2k_v2##END(void *handle, int uplo, int operation, INT n, INT k, const T *alpha, const T *a, INT lda, \
					 const T *b, INT ldb, const T *beta, T *c, INT ldc)					   \
	{											   \
		const struct update this = {uplo, operation != GT_CUBLAS_N, true, n, k, TYPE};					   \
		return update("cublas" #L "syr2k" #END, handle, &this, is_operation(operation), alpha, a, lda, b, ldb, beta, c, ldc); \
	}											   \
	API int cublas##L##syrkx##END(void *handle, int uplo, int operation, INT n, INT k, const T *alpha, const T *a, INT lda,	   \
				      const T *b, INT ldb, const T *beta, T *c, INT ldc)					   \
	{											   \
		const struct update this = {uplo, operation != GT_CUBLAS_N, false, n, k, TYPE};					   \
		return update("cublas" #L "syrkx" #END, handle, &this, is_operation(operation), alpha, a, lda, b, ldb, beta, c, ldc); \
	}											   \
	API int cublas##L##syr_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *x, INT step, T *a, INT lda)	   \
	{											   \
		const struct update this = {uplo, false, false, n, 1, TYPE};							   \
		return update_by_vector("cublas" #L "syr" #END, handle, &this, alpha, x, step, a, lda);				   \
	}
GT_CUBLAS_ENTRIES(UPDATES)
