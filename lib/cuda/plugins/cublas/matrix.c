/* SPDX-License-Identifier: MIT */
/* A matrix and vectors: calls of BLAS's second level, for floats and doubles. */
#include <stdlib.h>

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

/* Square matrices of which one triangle is stored: products with them, systems of equations, and updates of a triangle. */

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
static int multiply_triangle(const char *name, void *handle, const struct triangle *with, bool valid, const void *alpha, const void *a,
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
		return multiply_triangle("cublas" #L "symm" #END, handle, &with,							   \
				gt_is_flag(side) && gt_is_flag(uplo) && ldb >= gt_least_leading(m) && ldc >= gt_least_leading(m) && alpha && beta, alpha, a,   \
				lda, b, ldb, beta, c, ldc);								   \
	}											   \
	API int cublas##L##trmm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha,   \
					const T *a, INT lda, const T *b, INT ldb, T *c, INT ldc)				   \
	{											   \
		TRIANGLE(TYPE);									   \
		return multiply_triangle("cublas" #L "trmm" #END, handle, &with, valid && ldc >= gt_least_leading(m) && alpha, alpha, a, lda, b, ldb,  \
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
		return multiply_triangle("cublas" #L "trmv" #END, handle, &with, valid, NULL, a, lda, x, step, NULL, x, step);		   \
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

/* Products of matrices, one or many, real or complex. */

int64_t gt_gemm_rows(const struct gt_gemm *gemm, unsigned operand)
{
	if (operand == 2)
		return gemm->m;
	bool turned = gemm->operations[operand] != GT_CUBLAS_N;
	return operand == 0 ? (turned ? gemm->k : gemm->m) : (turned ? gemm->n : gemm->k);
}

int64_t gt_gemm_columns(const struct gt_gemm *gemm, unsigned operand)
{
	if (operand == 2)
		return gemm->n;
	return (operand == 0 ? gemm->m + gemm->k : gemm->k + gemm->n) - gt_gemm_rows(gemm, operand);
}

static bool is_valid(const struct gt_gemm *gemm)
{
	bool valid = gemm->m >= 0 && gemm->n >= 0 && gemm->k >= 0 && gemm->alpha && gemm->beta;

	for (unsigned i = 0; i < 2; i++)
		valid = valid && gemm->operations[i] >= GT_CUBLAS_N && gemm->operations[i] <= GT_CUBLAS_C;
	for (unsigned i = 0; i < 3 && valid; i++)
		valid = gemm->leading[i] >= 1 && gemm->leading[i] >= gt_gemm_rows(gemm, i);
	return valid;
}

/* An operand so many elements on, which may be anywhere: where it is is looked at when it is read. */
static const void *matrix_at(const struct gt_gemm *gemm, unsigned operand, const void *first, uint64_t elements)
{
	const uint64_t bytes = (uint64_t)gt_element_bytes(gemm->types[operand]) * (gemm->complex ? 2 : 1);

	return (const void *)((uintptr_t)first + elements * bytes);
}

int gt_gemm_many(const char *name, void *handle, const struct gt_gemm *gemm, const void *const at[3], const int64_t *strides,
		 int64_t n)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && is_valid(gemm));

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	for (int64_t i = 0; i < n && status == GT_CUBLAS_SUCCESS; i++) {
		const void *of[3];
		for (unsigned o = 0; o < 3; o++)
			of[o] = strides ? matrix_at(gemm, o, at[o], (uint64_t)i * (uint64_t)strides[o])
					: *(const void *const *)gt_stub_at(name, (const void *const *)at[o] + i, 1, sizeof(void *), false);
		status = gemm->product(&call, gemm, of);
	}
	gt_call_end();
	return status;
}

/* Products of matrices: gemm in its forms. */

/* One product. */
static int run(const struct gt_call *call, const struct gt_gemm *gemm, const void *const at[3])
{
	struct gt_view of[3];

	if (gemm->m == 0 || gemm->n == 0)
		return GT_CUBLAS_SUCCESS;
	for (unsigned i = 0; i < 3; i++) {
		of[i] = gt_matrix_of(call, at[i], gemm->types[i], gt_gemm_rows(gemm, i), gt_gemm_columns(gemm, i), gemm->leading[i], i == 2);
		if (i < 2 && gemm->operations[i] != GT_CUBLAS_N)
			of[i] = gt_transposed(of[i]);
	}
	return gt_product(gemm->m, gemm->n, gemm->k, gt_factor_of(call, gemm->alpha, gemm->scale), &of[0], &of[1],
			  gt_factor_of(call, gemm->beta, gemm->scale), &of[2]);
}

#define SIZES(INT)    int ta, int tb, INT m, INT n, INT k
#define COMMON(TYPE) {{ta, tb}, m, n, k, {lda, ldb, ldc}, {TYPE, TYPE, TYPE}, TYPE, false, alpha, beta, run}

#define PRODUCTS(L, T, TYPE, INT, PLAIN, END)                                                                             \
	API int cublas##L##gemm##PLAIN##END(void *handle, SIZES(INT), const T *alpha, const T *a, INT lda, const T *b,     \
					    INT ldb, const T *beta, T *c, INT ldc)                                         \
	{                                                                                                                  \
		const struct gt_gemm gemm = COMMON(TYPE);                                                                     \
		return gt_gemm_many("cublas" #L "gemm" #END, handle, &gemm, (const void *const[]){a, b, c},                 \
				   (const int64_t[]){0, 0, 0}, 1);                                                         \
	}                                                                                                                  \
	API int cublas##L##gemmStridedBatched##END(void *handle, SIZES(INT), const T *alpha, const T *a, INT lda,          \
						   long long int stride_a, const T *b, INT ldb, long long int stride_b,    \
						   const T *beta, T *c, INT ldc, long long int stride_c, INT batches)      \
	{                                                                                                                  \
		const struct gt_gemm gemm = COMMON(TYPE);                                                                     \
		return gt_gemm_many("cublas" #L "gemmStridedBatched" #END, handle, &gemm, (const void *const[]){a, b, c},   \
				   (const int64_t[]){stride_a, stride_b, stride_c}, batches);                              \
	}                                                                                                                  \
	API int cublas##L##gemmBatched##END(void *handle, SIZES(INT), const T *alpha, const void *const *a, INT lda,       \
					    const void *const *b, INT ldb, const T *beta, const void *const *c, INT ldc,   \
					    INT batches)                                                                   \
	{                                                                                                                  \
		const struct gt_gemm gemm = COMMON(TYPE);                                                                     \
		return gt_gemm_many("cublas" #L "gemmBatched" #END, handle, &gemm, (const void *const[]){a, b, c}, NULL,       \
				batches);                                                                                  \
	}
PRODUCTS(S, float, GT_F32, int, _v2, )
PRODUCTS(S, float, GT_F32, int64_t, _v2, _64)
PRODUCTS(D, double, GT_F64, int, _v2, )
PRODUCTS(D, double, GT_F64, int64_t, _v2, _64)
PRODUCTS(H, void, GT_F16, int, , )
PRODUCTS(H, void, GT_F16, int64_t, , _64)

/* ---- types that are given ---- */

/* The type of alpha and beta for a cublasComputeType_t; a type without bytes if it is not known. */
static enum gt_element scale_of(int compute)
{
	switch (compute) {
	case 64: /* 16F, and pedantic */
	case 65:
		return GT_F16;
	case 68: /* 32F, and pedantic */
	case 69:
	case 74: /* 32F fast by 16F, 16BF, TF32, 16BFX9 */
	case 75:
	case 77:
	case 78:
		return GT_F32;
	case 70: /* 64F, pedantic and emulated */
	case 71:
	case 79:
		return GT_F64;
	case 72: /* 32I, and pedantic */
	case 73:
		return GT_I32;
	default:
		return (enum gt_element)-1;
	}
}

/* Whether all types are known here; names the call if not. */
static bool knows(const char *name, const struct gt_gemm *gemm)
{
	bool known = gt_element_bytes(gemm->scale) > 0;

	for (unsigned i = 0; i < 3; i++)
		known = known && gt_element_bytes(gemm->types[i]) > 0;
	if (!known)
		gt_stub_refuse(name);
	return known;
}

#define TYPED(INT, END)                                                                                                   \
	API int cublasGemmEx##END(void *handle, SIZES(INT), const void *alpha, const void *a, int ta_, INT lda,            \
				  const void *b, int tb_, INT ldb, const void *beta, void *c, int tc_, INT ldc, int compute, \
				  int algorithm)                                                                           \
	{                                                                                                                  \
		const struct gt_gemm gemm = {{ta, tb}, m, n, k, {lda, ldb, ldc}, {(enum gt_element)ta_, (enum gt_element)tb_, \
					  (enum gt_element)tc_}, scale_of(compute), false, alpha, beta, run};                          \
		(void)algorithm;                                                                                           \
		if (!knows("cublasGemmEx" #END " of these types", &gemm))                                                  \
			return GT_CUBLAS_NOT_SUPPORTED;                                                                    \
		return gt_gemm_many("cublasGemmEx" #END, handle, &gemm, (const void *const[]){a, b, c},                     \
				   (const int64_t[]){0, 0, 0}, 1);                                                         \
	}                                                                                                                  \
	API int cublasGemmStridedBatchedEx##END(void *handle, SIZES(INT), const void *alpha, const void *a, int ta_,       \
						INT lda, long long int stride_a, const void *b, int tb_, INT ldb,          \
						long long int stride_b, const void *beta, void *c, int tc_, INT ldc,       \
						long long int stride_c, INT batches, int compute, int algorithm)           \
	{                                                                                                                  \
		const struct gt_gemm gemm = {{ta, tb}, m, n, k, {lda, ldb, ldc}, {(enum gt_element)ta_, (enum gt_element)tb_, \
					  (enum gt_element)tc_}, scale_of(compute), false, alpha, beta, run};                          \
		(void)algorithm;                                                                                           \
		if (!knows("cublasGemmStridedBatchedEx" #END " of these types", &gemm))                                    \
			return GT_CUBLAS_NOT_SUPPORTED;                                                                    \
		return gt_gemm_many("cublasGemmStridedBatchedEx" #END, handle, &gemm, (const void *const[]){a, b, c},       \
				   (const int64_t[]){stride_a, stride_b, stride_c}, batches);                              \
	}                                                                                                                  \
	API int cublasSgemmEx##END(void *handle, SIZES(INT), const float *alpha, const void *a, int ta_, INT lda,          \
				   const void *b, int tb_, INT ldb, const float *beta, void *c, int tc_, INT ldc)          \
	{                                                                                                                  \
		const struct gt_gemm gemm = {{ta, tb}, m, n, k, {lda, ldb, ldc}, {(enum gt_element)ta_, (enum gt_element)tb_, \
					  (enum gt_element)tc_}, GT_F32, false, alpha, beta, run};                                     \
		if (!knows("cublasSgemmEx" #END " of these types", &gemm))                                                 \
			return GT_CUBLAS_NOT_SUPPORTED;                                                                    \
		return gt_gemm_many("cublasSgemmEx" #END, handle, &gemm, (const void *const[]){a, b, c},                    \
				   (const int64_t[]){0, 0, 0}, 1);                                                         \
	}
TYPED(int, )
TYPED(int64_t, _64)
