/* SPDX-License-Identifier: MIT */
/* Factorizations of many matrices at once: LU, what is solved and inverted by it, QR and least squares; and triangles with and without gaps. CBLAS
 * has none of it. A matrix is worked on in doubles, and rounded once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"

#define LARGEST_INVERTED 32 /* rows of a matrix that matinvBatched takes */

/* What the calls of one letter share: a name, and the type of elements. */
struct kind {
	const char *name;
	enum gt_element type;
	struct gt_cublas *handle;
	int n, batches;
};

/* One matrix of a batch: where it lies, and its numbers, one column behind the other. */
struct matrix {
	void *at;
	enum gt_element type;
	int64_t m, n, leading;
	double complex *of;
};

static uint64_t cube(int64_t n)
{
	return (uint64_t)n * (uint64_t)n * (uint64_t)n;
}

/* Real operations that take the place of so many of this type's numbers. */
static uint64_t operations_of(const struct kind *kind, uint64_t n)
{
	return (gt_is_complex(kind->type) ? 4 : 1) * (uint64_t)kind->batches * n;
}

static bool is_valid(const struct kind *kind)
{
	return kind->n >= 0 && kind->batches >= 0;
}

static struct matrix matrix_at(const struct gt_call *call, const struct kind *kind, void *at, int64_t m, int64_t n, int64_t leading, bool written)
{
	struct matrix matrix = {gt_matrix_of(call, at, gt_element_bytes(kind->type), m, n, leading, written), kind->type, m, n, leading, NULL};

	matrix.of = malloc(((size_t)m * (size_t)n + 1) * sizeof *matrix.of);
	for (int64_t j = 0; matrix.of && j < n; j++)
		for (int64_t i = 0; i < m; i++)
			matrix.of[j * m + i] = gt_number_read(matrix.at, kind->type, j * leading + i);
	return matrix;
}

/* Number i of those whose addresses lie in device memory. */
static struct matrix matrix_of(const struct gt_call *call, const struct kind *kind, const void *addresses, int i, int64_t m, int64_t n, int64_t leading,
			       bool written)
{
	return matrix_at(call, kind, gt_address_of(call, (const char *)addresses + (size_t)i * sizeof(void *)), m, n, leading, written);
}

/* Writes its numbers back. */
static void put(const struct matrix *matrix)
{
	for (int64_t j = 0; j < matrix->n; j++)
		for (int64_t i = 0; i < matrix->m; i++)
			gt_number_write(matrix->at, matrix->type, j * matrix->leading + i, matrix->of[j * matrix->m + i]);
}

/* ---- LU ---- */

/* The absolute value by which LAPACK chooses a pivot. */
static double size_of(double complex z)
{
	return fabs(creal(z)) + fabs(cimag(z));
}

static void exchange(double complex *a, double complex *b)
{
	const double complex old = *a;

	*a = *b;
	*b = old;
}

static int64_t largest_below(const double complex *column, int64_t first, int64_t n)
{
	int64_t found = first;

	for (int64_t i = first + 1; i < n; i++)
		if (size_of(column[i]) > size_of(column[found]))
			found = i;
	return found;
}

/* LU of n by n numbers in place, with rows exchanged if there are pivots. Returns 0, or the number of the first pivot that is 0. */
static int factor(double complex *a, int64_t n, int32_t *pivots)
{
	int first_zero = 0;

	for (int64_t j = 0; j < n; j++) {
		double complex *column = a + j * n;
		const int64_t pivot = pivots ? largest_below(column, j, n) : j;
		if (pivots)
			pivots[j] = (int32_t)pivot + 1;
		if (column[pivot] == 0) {
			first_zero = first_zero ? first_zero : (int)j + 1;
			continue;
		}
		for (int64_t k = 0; pivot != j && k < n; k++)
			exchange(&a[k * n + j], &a[k * n + pivot]);
		for (int64_t i = j + 1; i < n; i++)
			column[i] /= column[j];
		for (int64_t k = j + 1; k < n; k++)
			for (int64_t i = j + 1; i < n; i++)
				a[k * n + i] -= column[i] * a[k * n + j];
	}
	return first_zero;
}

/* x of a x = b, where b is given in x. */
static void solve(const double complex *lu, int64_t n, const int32_t *pivots, double complex *x)
{
	for (int64_t i = 0; pivots && i < n; i++)
		exchange(&x[i], &x[pivots[i] - 1]);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			x[i] -= lu[j * n + i] * x[j];
	for (int64_t j = n; j-- > 0;) {
		x[j] /= lu[j * n + j];
		for (int64_t i = 0; i < j; i++)
			x[i] -= lu[j * n + i] * x[j];
	}
}

/* The same of the transposed matrix, or the conjugate of it. */
static void solve_turned(const double complex *lu, int64_t n, const int32_t *pivots, bool conjugate, double complex *x)
{
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < i; j++)
			x[i] -= (conjugate ? conj(lu[i * n + j]) : lu[i * n + j]) * x[j];
		x[i] /= conjugate ? conj(lu[i * n + i]) : lu[i * n + i];
	}
	for (int64_t i = n; i-- > 0;)
		for (int64_t j = i + 1; j < n; j++)
			x[i] -= (conjugate ? conj(lu[i * n + j]) : lu[i * n + j]) * x[j];
	for (int64_t i = n; pivots && i-- > 0;)
		exchange(&x[i], &x[pivots[i] - 1]);
}

/* The inverse of what is factored. Returns 0, or the number of the first pivot that is 0; then there is none. */
static int invert(const double complex *lu, int64_t n, const int32_t *pivots, double complex *inverse)
{
	for (int64_t i = 0; i < n; i++)
		if (lu[i * n + i] == 0)
			return (int)i + 1;
	memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
	for (int64_t j = 0; j < n; j++) {
		inverse[j * n + j] = 1;
		solve(lu, n, pivots, inverse + j * n);
	}
	return 0;
}

/* The pivots of a batch, or NULL. */
static int32_t *pivots_of(const struct gt_call *call, const struct kind *kind, const int *pivots, bool written)
{
	return pivots ? gt_vector_of(call, pivots, sizeof *pivots, (int64_t)kind->n * kind->batches, 1, written) : NULL;
}

/* Those of matrix i. */
static int32_t *pivots_at(int32_t *pivots, const struct kind *kind, int i)
{
	return pivots ? pivots + (int64_t)kind->n * i : NULL;
}

/* Whether each names a row that is there. */
static bool pivots_are_rows(const int32_t *pivots, const struct kind *kind)
{
	for (int64_t i = 0; pivots && i < (int64_t)kind->n * kind->batches; i++)
		if (pivots[i] < 1 || pivots[i] > kind->n)
			return false;
	return true;
}

static int getrf(const struct kind *kind, void *const *a, int lda, int *pivots, int *info)
{
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle, is_valid(kind) && gt_leads(lda, kind->n) && a && info,
				   operations_of(kind, cube(kind->n) * 2 / 3));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	int32_t *const all = pivots_of(&call, kind, pivots, true), *const infos = gt_vector_of(&call, info, sizeof *info, kind->batches, 1, true);
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++) {
		struct matrix matrix = matrix_of(&call, kind, a, i, kind->n, kind->n, lda, true);
		if (matrix.of) {
			infos[i] = factor(matrix.of, kind->n, pivots_at(all, kind, i));
			put(&matrix);
		}
		status = matrix.of ? status : GT_CUBLAS_ALLOC_FAILED;
		free(matrix.of);
	}
	gt_call_end();
	return status;
}

/* Inverts matrix i, which is factored first unless its pivots say that it is. */
static int invert_one(const struct gt_call *call, const struct kind *kind, const void *const *a, int lda, int32_t *pivots, bool factored, void *const *c, int ldc,
		      int i, int32_t *info)
{
	struct matrix from = matrix_of(call, kind, a, i, kind->n, kind->n, lda, false), to = matrix_of(call, kind, c, i, kind->n, kind->n, ldc, true);
	const int status = from.of && to.of ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;

	if (status == GT_CUBLAS_SUCCESS) {
		*info = factored ? 0 : factor(from.of, kind->n, pivots);
		*info = *info ? *info : invert(from.of, kind->n, pivots, to.of);
		if (*info == 0)
			put(&to);
	}
	free(from.of);
	free(to.of);
	return status;
}

static int getri(const struct kind *kind, const void *const *a, int lda, const int *pivots, void *const *c, int ldc, int *info)
{
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle, is_valid(kind) && gt_leads(lda, kind->n) && gt_leads(ldc, kind->n) && a && c && info,
				   operations_of(kind, cube(kind->n) * 4 / 3));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	int32_t *const all = pivots_of(&call, kind, pivots, false), *const infos = gt_vector_of(&call, info, sizeof *info, kind->batches, 1, true);
	if (!pivots_are_rows(all, kind))
		status = GT_CUBLAS_INVALID_VALUE;
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = invert_one(&call, kind, a, lda, pivots_at(all, kind, i), true, c, ldc, i, &infos[i]);
	gt_call_end();
	return status;
}

static int matinv(const struct kind *kind, const void *const *a, int lda, void *const *inverse, int ldi, int *info)
{
	int32_t pivots[LARGEST_INVERTED];
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle,
				   is_valid(kind) && kind->n <= LARGEST_INVERTED && gt_leads(lda, kind->n) && gt_leads(ldi, kind->n) && a && inverse && info,
				   operations_of(kind, 2 * cube(kind->n)));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	int32_t *const infos = gt_vector_of(&call, info, sizeof *info, kind->batches, 1, true);
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = invert_one(&call, kind, a, lda, pivots, false, inverse, ldi, i, &infos[i]);
	gt_call_end();
	return status;
}

/* `info` is on the host, and of the arguments. */
static int getrs(const struct kind *kind, int operation, int rights, const void *const *a, int lda, const int *pivots, void *const *b, int ldb, int *info)
{
	const bool valid = is_valid(kind) && gt_is_operation(operation) && rights >= 0 && gt_leads(lda, kind->n) && gt_leads(ldb, kind->n) && a && b && info;
	const int64_t n = kind->n;
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle, valid, operations_of(kind, 2 * (uint64_t)(n * n) * (uint64_t)rights));

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	int32_t *const all = pivots_of(&call, kind, pivots, false);
	*info = 0;
	if (!pivots_are_rows(all, kind))
		status = GT_CUBLAS_INVALID_VALUE;
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++) {
		struct matrix lu = matrix_of(&call, kind, a, i, n, n, lda, false), x = matrix_of(&call, kind, b, i, n, rights, ldb, true);
		const int32_t *own = pivots_at(all, kind, i);
		for (int64_t j = 0; lu.of && x.of && j < rights; j++) {
			if (operation == GT_CUBLAS_N)
				solve(lu.of, n, own, x.of + j * n);
			else
				solve_turned(lu.of, n, own, operation == GT_CUBLAS_C, x.of + j * n);
		}
		if (lu.of && x.of)
			put(&x);
		else
			status = GT_CUBLAS_ALLOC_FAILED;
		free(lu.of);
		free(x.of);
	}
	gt_call_end();
	return status;
}

/* ---- QR ---- */

/* x - tau v (v^H x), where v is 1 and then what lies below. */
static void reflect(const double complex *below, int64_t n, double complex tau, double complex *x)
{
	double complex sum = x[0];

	for (int64_t i = 1; i < n; i++)
		sum += conj(below[i]) * x[i];
	sum *= tau;
	x[0] -= sum;
	for (int64_t i = 1; i < n; i++)
		x[i] -= below[i] * sum;
}

/* Replaces a column by what a reflection makes of it, a real number with the vector of the reflection below. Returns its tau. */
static double complex reflection_of(double complex *column, int64_t n)
{
	double below = 0;

	for (int64_t i = 1; i < n; i++)
		below += creal(column[i]) * creal(column[i]) + cimag(column[i]) * cimag(column[i]);
	if (below == 0 && cimag(column[0]) == 0)
		return 0;
	const double norm = sqrt(creal(column[0]) * creal(column[0]) + cimag(column[0]) * cimag(column[0]) + below);
	const double beta = creal(column[0]) < 0 ? norm : -norm;
	const double complex tau = (beta - column[0]) / beta, by = 1 / (column[0] - beta);

	for (int64_t i = 1; i < n; i++)
		column[i] *= by;
	column[0] = beta;
	return tau;
}

/* QR of m by n numbers in place, as LAPACK's geqrf has it: R above, and the vectors of the reflections below. */
static void factor_qr(double complex *a, int64_t m, int64_t n, double complex *taus)
{
	for (int64_t j = 0; j < m && j < n; j++) {
		double complex *column = a + j * m + j;
		taus[j] = reflection_of(column, m - j);
		for (int64_t k = j + 1; k < n; k++)
			reflect(column, m - j, conj(taus[j]), a + k * m + j);
	}
}

static int geqrf(const struct kind *kind, int m, void *const *a, int lda, void *const *taus, int *info)
{
	const int64_t n = kind->n, steps = m < n ? m : n;
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle, is_valid(kind) && gt_leads(lda, m) && a && taus && info,
				   operations_of(kind, 2 * (uint64_t)m * (uint64_t)(n * steps)));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	*info = 0;
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++) {
		struct matrix matrix = matrix_of(&call, kind, a, i, m, n, lda, true), tau = matrix_of(&call, kind, taus, i, steps, 1, steps, true);
		if (matrix.of && tau.of) {
			factor_qr(matrix.of, m, n, tau.of);
			put(&matrix);
			put(&tau);
		}
		status = matrix.of && tau.of ? status : GT_CUBLAS_ALLOC_FAILED;
		free(matrix.of);
		free(tau.of);
	}
	gt_call_end();
	return status;
}

/* The least squares of one column. */
static void fit(const double complex *qr, int64_t m, int64_t n, const double complex *taus, double complex *x)
{
	for (int64_t j = 0; j < n; j++)
		reflect(qr + j * m + j, m - j, conj(taus[j]), x + j);
	for (int64_t j = n; j-- > 0;) {
		x[j] /= qr[j * m + j];
		for (int64_t i = 0; i < j; i++)
			x[i] -= qr[j * m + i] * x[j];
	}
}

/* The number of the first diagonal element that is 0, from 1; 0 if there is none. */
static int first_zero_of(const struct matrix *matrix)
{
	for (int64_t j = 0; j < matrix->n; j++)
		if (matrix->of[j * matrix->m + j] == 0)
			return (int)j + 1;
	return 0;
}

/* Fits matrix i, which has full rank, to its right sides. */
static int fit_one(const struct gt_call *call, const struct kind *kind, int m, int rights, void *const *a, int lda, void *const *c, int ldc, int i, int32_t *info)
{
	const int64_t n = kind->n;
	struct matrix matrix = matrix_of(call, kind, a, i, m, n, lda, true), x = matrix_of(call, kind, c, i, m, rights, ldc, true);
	double complex *taus = calloc((size_t)n + 1, sizeof *taus);
	const int status = matrix.of && x.of && taus ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;

	if (status == GT_CUBLAS_SUCCESS) {
		factor_qr(matrix.of, m, n, taus);
		put(&matrix);
		const int zero = first_zero_of(&matrix);
		for (int64_t j = 0; zero == 0 && j < rights; j++)
			fit(matrix.of, m, n, taus, x.of + j * m);
		if (zero == 0)
			put(&x);
		if (info)
			*info = zero;
	}
	free(matrix.of);
	free(x.of);
	free(taus);
	return status;
}

/* More rows than columns, and not transposed: cuBLAS has no other. */
static int gels(const struct kind *kind, int operation, int m, int rights, void *const *a, int lda, void *const *c, int ldc, int *info, int *infos)
{
	struct gt_call call;

	if (operation != GT_CUBLAS_N || m < kind->n)
		return GT_CUBLAS_NOT_SUPPORTED;
	int status = gt_call_begin(&call, kind->name, kind->handle,
				   is_valid(kind) && rights >= 0 && gt_leads(lda, m) && gt_leads(ldc, m) && a && c && info,
				   operations_of(kind, 2 * (uint64_t)m * (uint64_t)kind->n * (uint64_t)(kind->n + 2 * rights)));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	int32_t *const all = infos ? gt_vector_of(&call, infos, sizeof *infos, kind->batches, 1, true) : NULL;
	*info = 0;
	for (int i = 0; i < kind->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = fit_one(&call, kind, m, rights, a, lda, c, ldc, i, all ? &all[i] : NULL);
	gt_call_end();
	return status;
}

/* ---- triangles with and without gaps ---- */

/* Copies a triangle of n columns: to or from a matrix whose columns are `leading` apart. */
static int copy_triangle(const struct kind *kind, int uplo, const void *from, void *to, int leading, bool packs)
{
	const uint64_t bytes = gt_element_bytes(kind->type);
	const int64_t n = kind->n;
	struct gt_call call;
	int status = gt_call_begin(&call, kind->name, kind->handle, is_valid(kind) && gt_is_flag(uplo) && gt_leads(leading, n), 0);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	char *packed = gt_vector_of(&call, packs ? to : from, bytes, n * (n + 1) / 2, 1, packs);
	char *whole = gt_matrix_of(&call, packs ? from : to, bytes, n, n, leading, !packs);
	for (int64_t j = 0; j < n; j++) {
		const int64_t first = uplo == GT_CUBLAS_LOWER ? j : 0, rows = uplo == GT_CUBLAS_LOWER ? n - j : j + 1;
		char *column = whole + (uint64_t)(j * leading + first) * bytes;
		memcpy(packs ? packed : column, packs ? column : packed, (uint64_t)rows * bytes);
		packed += (uint64_t)rows * bytes;
	}
	return gt_call_end();
}

/* ---- the calls ---- */

#define KIND(L, NAME, TYPE, N, BATCHES) (&(const struct kind){"cublas" #L #NAME, TYPE, handle, N, BATCHES})
#define CALLS(L, TYPE)                                                                                                           \
	API int cublas##L##getrfBatched(struct gt_cublas *handle, int n, void *const *a, int lda, int *pivots, int *info, int batches) \
	{                                                                                                                        \
		return getrf(KIND(L, getrfBatched, TYPE, n, batches), a, lda, pivots, info);                                     \
	}                                                                                                                        \
	API int cublas##L##getriBatched(struct gt_cublas *handle, int n, const void *const *a, int lda, const int *pivots, void *const *c, int ldc, \
					int *info, int batches)                                                                  \
	{                                                                                                                        \
		return getri(KIND(L, getriBatched, TYPE, n, batches), a, lda, pivots, c, ldc, info);                             \
	}                                                                                                                        \
	API int cublas##L##getrsBatched(struct gt_cublas *handle, int operation, int n, int rights, const void *const *a, int lda, const int *pivots, \
					void *const *b, int ldb, int *info, int batches)                                         \
	{                                                                                                                        \
		return getrs(KIND(L, getrsBatched, TYPE, n, batches), operation, rights, a, lda, pivots, b, ldb, info);          \
	}                                                                                                                        \
	API int cublas##L##matinvBatched(struct gt_cublas *handle, int n, const void *const *a, int lda, void *const *inverse, int ldi, int *info, \
					 int batches)                                                                            \
	{                                                                                                                        \
		return matinv(KIND(L, matinvBatched, TYPE, n, batches), a, lda, inverse, ldi, info);                             \
	}                                                                                                                        \
	API int cublas##L##geqrfBatched(struct gt_cublas *handle, int m, int n, void *const *a, int lda, void *const *taus, int *info, int batches) \
	{                                                                                                                        \
		return geqrf(KIND(L, geqrfBatched, TYPE, n, batches), m, a, lda, taus, info);                                    \
	}                                                                                                                        \
	API int cublas##L##gelsBatched(struct gt_cublas *handle, int operation, int m, int n, int rights, void *const *a, int lda, void *const *c, \
				       int ldc, int *info, int *infos, int batches)                                              \
	{                                                                                                                        \
		return gels(KIND(L, gelsBatched, TYPE, n, batches), operation, m, rights, a, lda, c, ldc, info, infos);          \
	}                                                                                                                        \
	API int cublas##L##tpttr(struct gt_cublas *handle, int uplo, int n, const void *packed, void *a, int lda)                \
	{                                                                                                                        \
		return copy_triangle(KIND(L, tpttr, TYPE, n, 1), uplo, packed, a, lda, false);                                   \
	}                                                                                                                        \
	API int cublas##L##trttp(struct gt_cublas *handle, int uplo, int n, const void *a, int lda, void *packed)                \
	{                                                                                                                        \
		return copy_triangle(KIND(L, trttp, TYPE, n, 1), uplo, a, packed, lda, true);                                    \
	}
CALLS(S, GT_F32)
CALLS(D, GT_F64)
CALLS(C, GT_C32)
CALLS(Z, GT_C64)
