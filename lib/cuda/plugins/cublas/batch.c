/* SPDX-License-Identifier: MIT */
/* Calls of many matrices: products, in batches and in groups; LU, what is solved and inverted by it, QR and least squares. And triangles with and
 * without gaps. What CBLAS has not is worked on in doubles, and rounded once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"

/* ---- products of matrices ---- */

/* Where operand number i begins: so many strides on, or at the i-th address that lies in device memory. */
static const void *operand_of(const struct gt_call *call, const void *at, uint64_t bytes, const int64_t *stride, int64_t i)
{
	return stride ? gt_elements_on(at, bytes, (int64_t)((uint64_t)i * (uint64_t)*stride)) : gt_address_of(call, (const void *const *)at + i);
}

/* `n` products of matrices that lie `strides` elements apart; without strides, of those whose addresses lie in device memory. Returns a status. */
static int multiply_all(const struct gt_call *call, const struct gt_gemm *gemm, const void *alpha, const void *beta, const void *const at[3],
			const int64_t *strides, int64_t n)
{
	int status = GT_CUBLAS_SUCCESS;

	for (int64_t i = 0; i < n && status == GT_CUBLAS_SUCCESS; i++) {
		void *of[3];
		for (unsigned o = 0; o < 3; o++) {
			const uint64_t bytes = gt_element_bytes(gemm->types[o]);
			const void *one = operand_of(call, at[o], bytes, strides ? &strides[o] : NULL, i);
			of[o] = gt_matrix_of(call, one, bytes, gt_gemm_rows(gemm, o), gt_gemm_columns(gemm, o), gemm->leading[o], o == 2);
		}
		status = gt_gemm_run(gemm, alpha, of[0], of[1], beta, of[2]);
	}
	return status;
}

/* A call of such products alone. */
static int many(const char *name, const char *unknown, void *handle, const struct gt_gemm *gemm, const void *alpha, const void *beta,
		const void *const at[3], const int64_t *strides, int64_t n)
{
	struct gt_call call;

	if (!gt_gemm_knows(gemm)) {
		gt_stub_refuse(unknown);
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	int status = gt_call_begin(&call, name, handle, n >= 0 && gt_gemm_is_valid(gemm) && alpha && beta, (uint64_t)n * gt_gemm_flops(gemm));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	const uint64_t scale = gt_element_bytes(gemm->scale);
	status = multiply_all(&call, gemm, gt_scalar_of(&call, alpha, scale, false), gt_scalar_of(&call, beta, scale, false), at, strides, n);
	gt_call_end();
	return status;
}

#define GEMM(A, B, C, SCALE) \
	&(const struct gt_gemm){{ta, tb}, m, n, k, {lda, ldb, ldc}, {(enum gt_element)(A), (enum gt_element)(B), (enum gt_element)(C)}, SCALE}
#define OF(NAME) "cublas" #NAME, "cublas" #NAME " of these types or sizes"
#define SAME(L) GEMM(OF_##L, OF_##L, OF_##L, (enum gt_element)OF_##L)
#define PLACES	(const void *const[]){a, b, c}
enum { OF_S = GT_F32, OF_D = GT_F64, OF_C = GT_C32, OF_Z = GT_C64, OF_H = GT_F16 };

#define PRODUCT(L, NAME, FULL, INT)                                                                     \
	API int cublas##FULL(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *a, INT lda, \
			     const void *b, INT ldb, const void *beta, void *c, INT ldc)                \
	{                                                                                               \
		return many(OF(NAME), handle, SAME(L), alpha, beta, PLACES, (const int64_t[]){0, 0, 0}, 1); \
	}
#define PRODUCTS(L, INT, END)                                                                           \
	API int cublas##L##gemmStridedBatched##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *a, \
						   INT lda, long long int stride_a, const void *b, INT ldb, long long int stride_b, \
						   const void *beta, void *c, INT ldc, long long int stride_c, INT batches) \
	{                                                                                               \
		return many(OF(L##gemmStridedBatched##END), handle, SAME(L), alpha, beta, PLACES,       \
			    (const int64_t[]){stride_a, stride_b, stride_c}, batches);                  \
	}                                                                                               \
	API int cublas##L##gemmBatched##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *const *a, \
					    INT lda, const void *const *b, INT ldb, const void *beta, const void *const *c, INT ldc, \
					    INT batches)                                                \
	{                                                                                               \
		return many(OF(L##gemmBatched##END), handle, SAME(L), alpha, beta, PLACES, NULL, batches); \
	}
#define PRODUCTS_OF(L, v2)                                                                              \
	PRODUCT(L, L##gemm, L##gemm##v2, int)                                                           \
	PRODUCT(L, L##gemm_64, L##gemm##v2##_64, int64_t)                                               \
	PRODUCTS(L, int, )                                                                              \
	PRODUCTS(L, int64_t, _64)
PRODUCTS_OF(S, _v2)
PRODUCTS_OF(D, _v2)
PRODUCTS_OF(C, _v2)
PRODUCTS_OF(Z, _v2)
PRODUCTS_OF(H, )
PRODUCT(C, Cgemm3m, Cgemm3m, int)
PRODUCT(C, Cgemm3m_64, Cgemm3m_64, int64_t)
PRODUCT(Z, Zgemm3m, Zgemm3m, int)
PRODUCT(Z, Zgemm3m_64, Zgemm3m_64, int64_t)

/* The type of alpha and beta for a cublasComputeType_t; a type without bytes if it is not known. */
static enum gt_element scale_of(int compute, int result)
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
		return result == GT_C32 ? GT_C32 : GT_F32;
	case 70: /* 64F, pedantic and emulated */
	case 71:
	case 79:
		return result == GT_C64 ? GT_C64 : GT_F64;
	case 72: /* 32I, and pedantic */
	case 73:
		return GT_I32;
	default:
		return (enum gt_element)-1;
	}
}

#define TYPED(INT, END)                                                                                 \
	API int cublasGemmEx##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *a, int of_a, INT lda, \
				  const void *b, int of_b, INT ldb, const void *beta, void *c, int of_c, INT ldc, int compute, \
				  int algorithm)                                                        \
	{                                                                                               \
		(void)algorithm;                                                                        \
		return many(OF(GemmEx##END), handle, GEMM(of_a, of_b, of_c, scale_of(compute, of_c)), alpha, beta, PLACES, \
			    (const int64_t[]){0, 0, 0}, 1);                                             \
	}                                                                                               \
	API int cublasGemmStridedBatchedEx##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *a, \
						int of_a, INT lda, long long int stride_a, const void *b, int of_b, INT ldb, \
						long long int stride_b, const void *beta, void *c, int of_c, INT ldc, \
						long long int stride_c, INT batches, int compute, int algorithm) \
	{                                                                                               \
		(void)algorithm;                                                                        \
		return many(OF(GemmStridedBatchedEx##END), handle, GEMM(of_a, of_b, of_c, scale_of(compute, of_c)), alpha, beta, PLACES, \
			    (const int64_t[]){stride_a, stride_b, stride_c}, batches);                  \
	}                                                                                               \
	API int cublasGemmBatchedEx##END(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha, const void *const *a, \
					 int of_a, INT lda, const void *const *b, int of_b, INT ldb, const void *beta, \
					 const void *const *c, int of_c, INT ldc, INT batches, int compute, int algorithm) \
	{                                                                                               \
		(void)algorithm;                                                                        \
		return many(OF(GemmBatchedEx##END), handle, GEMM(of_a, of_b, of_c, scale_of(compute, of_c)), alpha, beta, PLACES, NULL, \
			    batches);                                                                   \
	}                                                                                               \
	API int cublasSgemmEx##END(void *handle, int ta, int tb, INT m, INT n, INT k, const float *alpha, const void *a, int of_a, INT lda, \
				   const void *b, int of_b, INT ldb, const float *beta, void *c, int of_c, INT ldc) \
	{                                                                                               \
		return many(OF(SgemmEx##END), handle, GEMM(of_a, of_b, of_c, GT_F32), alpha, beta, PLACES, (const int64_t[]){0, 0, 0}, 1); \
	}
TYPED(int, )
TYPED(int64_t, _64)

/* ---- groups of products, each of its own sizes ---- */

/* What the host's arrays say of each group. */
struct groups {
	const int *operations[2];
	const void *sizes[3], *leading[3]; /* of m, n, k and a, b, c: int, or int64_t if they are wide */
	const void *lengths;
	bool wide;
	const void *alpha, *beta;
	enum gt_element types[3], scale;
};

static int64_t size_at(const struct groups *groups, const void *sizes, int64_t i)
{
	return groups->wide ? ((const int64_t *)sizes)[i] : ((const int *)sizes)[i];
}

static struct gt_gemm group_at(const struct groups *groups, int64_t i)
{
	struct gt_gemm gemm = {.m = size_at(groups, groups->sizes[0], i), .n = size_at(groups, groups->sizes[1], i),
			       .k = size_at(groups, groups->sizes[2], i), .scale = groups->scale};

	for (unsigned o = 0; o < 3; o++) {
		gemm.types[o] = groups->types[o];
		gemm.leading[o] = size_at(groups, groups->leading[o], i);
		if (o < 2)
			gemm.operations[o] = groups->operations[o][i];
	}
	return gemm;
}

/* `at`: arrays in device memory of the addresses of all matrices, group behind group. */
static int grouped(const char *name, const char *unknown, void *handle, const struct groups *groups, const void *const at[3], int64_t n)
{
	bool valid = n >= 0;
	uint64_t flops = 0;
	struct gt_call call;
	int64_t first = 0;

	for (int64_t g = 0; g < n; g++) {
		const struct gt_gemm gemm = group_at(groups, g);
		if (!gt_gemm_knows(&gemm)) {
			gt_stub_refuse(unknown);
			return GT_CUBLAS_NOT_SUPPORTED;
		}
		valid = valid && gt_gemm_is_valid(&gemm) && size_at(groups, groups->lengths, g) >= 0;
		flops += (uint64_t)size_at(groups, groups->lengths, g) * gt_gemm_flops(&gemm);
	}
	int status = gt_call_begin(&call, name, handle, valid, flops);
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	for (int64_t g = 0; g < n && status == GT_CUBLAS_SUCCESS; g++) {
		const struct gt_gemm gemm = group_at(groups, g);
		const uint64_t bytes = gt_element_bytes(gemm.scale);
		const void *const own[3] = {(const void *const *)at[0] + first, (const void *const *)at[1] + first, (const void *const *)at[2] + first};
		status = multiply_all(&call, &gemm, gt_scalar_of(&call, gt_elements_on(groups->alpha, bytes, g), bytes, false),
				      gt_scalar_of(&call, gt_elements_on(groups->beta, bytes, g), bytes, false), own, NULL,
				      size_at(groups, groups->lengths, g));
		first += size_at(groups, groups->lengths, g);
	}
	gt_call_end();
	return status;
}

#define GROUPS(INT, OF_A, OF_B, OF_C, SCALE)                                                            \
	&(const struct groups){{ta, tb}, {m, n, k}, {lda, ldb, ldc}, lengths, sizeof(INT) == sizeof(int64_t), alpha, beta, \
			       {(enum gt_element)(OF_A), (enum gt_element)(OF_B), (enum gt_element)(OF_C)}, (enum gt_element)(SCALE)}
#define GROUPED(L, INT, END)                                                                            \
	API int cublas##L##gemmGroupedBatched##END(void *handle, const int *ta, const int *tb, const INT *m, const INT *n, const INT *k, \
						   const void *alpha, const void *const *a, const INT *lda, const void *const *b, const INT *ldb, \
						   const void *beta, const void *const *c, const INT *ldc, INT groups, const INT *lengths) \
	{                                                                                               \
		return grouped(OF(L##gemmGroupedBatched##END), handle, GROUPS(INT, OF_##L, OF_##L, OF_##L, OF_##L), PLACES, groups); \
	}
#define GROUPED_TYPED(INT, END)                                                                         \
	API int cublasGemmGroupedBatchedEx##END(void *handle, const int *ta, const int *tb, const INT *m, const INT *n, const INT *k, \
						const void *alpha, const void *const *a, int of_a, const INT *lda, const void *const *b, int of_b, \
						const INT *ldb, const void *beta, const void *const *c, int of_c, const INT *ldc, INT groups, \
						const INT *lengths, int compute)                        \
	{                                                                                               \
		return grouped(OF(GemmGroupedBatchedEx##END), handle, GROUPS(INT, of_a, of_b, of_c, scale_of(compute, of_c)), PLACES, groups); \
	}
GROUPED(S, int, )
GROUPED(S, int64_t, _64)
GROUPED(D, int, )
GROUPED(D, int64_t, _64)
GROUPED_TYPED(int, )
GROUPED_TYPED(int64_t, _64)

/* ---- products of matrices and vectors ---- */

/* y = alpha op(a) x + beta y of one matrix of a batch. */
struct gemv {
	int operation;
	int64_t m, n, leading, steps[2];
	enum gt_element types[3], scale; /* of a, x, y; of the factors */
	double complex alpha, beta;
};

static void multiply_vector(const struct gemv *gemv, const void *a, const void *x, void *y)
{
	const bool turned = gemv->operation != GT_CUBLAS_N;
	const int64_t rows = turned ? gemv->n : gemv->m, columns = turned ? gemv->m : gemv->n;
	const int64_t first_x = gt_first_of(columns, gemv->steps[0]), first_y = gt_first_of(rows, gemv->steps[1]);

	for (int64_t i = 0; i < rows; i++) {
		const int64_t place = first_y + i * gemv->steps[1];
		double complex sum = 0;
		for (int64_t j = 0; gemv->alpha != 0 && j < columns; j++) {
			const double complex of_a = gt_number_read(a, gemv->types[0], turned ? i * gemv->leading + j : j * gemv->leading + i);
			sum += (gemv->operation == GT_CUBLAS_C ? conj(of_a) : of_a) * gt_number_read(x, gemv->types[1], first_x + j * gemv->steps[0]);
		}
		gt_number_write(y, gemv->types[2], place,
				gemv->alpha * sum + (gemv->beta != 0 ? gemv->beta * gt_number_read(y, gemv->types[2], place) : 0));
	}
}

/* `batches` of them, as multiply_all() has its matrices. */
static int many_vectors(const char *name, void *handle, struct gemv *gemv, const void *alpha, const void *beta, const void *const at[3],
			const int64_t *strides, int64_t batches)
{
	const bool turned = gemv->operation != GT_CUBLAS_N;
	const int64_t lengths[3] = {0, turned ? gemv->m : gemv->n, turned ? gemv->n : gemv->m};
	const uint64_t bytes = gt_element_bytes(gemv->scale);
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle,
				   gt_is_operation(gemv->operation) && gemv->n >= 0 && gt_leads(gemv->leading, gemv->m) && gemv->steps[0] != 0 &&
					   gemv->steps[1] != 0 && batches >= 0 && alpha && beta,
				   (gt_is_complex(gemv->types[2]) ? 8 : 2) * (uint64_t)gemv->m * (uint64_t)gemv->n * (uint64_t)batches);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	gemv->alpha = gt_number_read(gt_scalar_of(&call, alpha, bytes, false), gemv->scale, 0);
	gemv->beta = gt_number_read(gt_scalar_of(&call, beta, bytes, false), gemv->scale, 0);
	for (int64_t i = 0; gemv->m > 0 && gemv->n > 0 && i < batches; i++) {
		void *of[3];
		for (unsigned o = 0; o < 3; o++) {
			const uint64_t each = gt_element_bytes(gemv->types[o]);
			const void *one = operand_of(&call, at[o], each, strides ? &strides[o] : NULL, i);
			of[o] = o == 0 ? gt_matrix_of(&call, one, each, gemv->m, gemv->n, gemv->leading, false)
				       : gt_vector_of(&call, one, each, lengths[o], gemv->steps[o - 1], o == 2);
		}
		multiply_vector(gemv, of[0], of[1], of[2]);
	}
	return gt_call_end();
}

#define GEMV(A, Y, SCALE) &(struct gemv){operation, m, n, lda, {incx, incy}, {A, A, Y}, SCALE, 0, 0}
#define VECTOR_BATCHES(L, A, Y, SCALE, INT, END)                                                        \
	API int cublas##L##gemvBatched##END(void *handle, int operation, INT m, INT n, const void *alpha, const void *const *a, INT lda, \
					    const void *const *x, INT incx, const void *beta, const void *const *y, INT incy, INT batches) \
	{                                                                                               \
		const void *const at[3] = {a, x, y};                                                    \
		return many_vectors("cublas" #L "gemvBatched" #END, handle, GEMV(A, Y, SCALE), alpha, beta, at, NULL, batches); \
	}                                                                                               \
	API int cublas##L##gemvStridedBatched##END(void *handle, int operation, INT m, INT n, const void *alpha, const void *a, INT lda, \
						   long long int stride_a, const void *x, INT incx, long long int stride_x, const void *beta, \
						   void *y, INT incy, long long int stride_y, INT batches) \
	{                                                                                               \
		const void *const at[3] = {a, x, y};                                                    \
		const int64_t strides[3] = {stride_a, stride_x, stride_y};                              \
		return many_vectors("cublas" #L "gemvStridedBatched" #END, handle, GEMV(A, Y, SCALE), alpha, beta, at, strides, batches); \
	}
#define VECTOR_BATCHES_OF(L, A, Y, SCALE) VECTOR_BATCHES(L, A, Y, SCALE, int, ) VECTOR_BATCHES(L, A, Y, SCALE, int64_t, _64)
VECTOR_BATCHES_OF(S, GT_F32, GT_F32, GT_F32)
VECTOR_BATCHES_OF(D, GT_F64, GT_F64, GT_F64)
VECTOR_BATCHES_OF(C, GT_C32, GT_C32, GT_C32)
VECTOR_BATCHES_OF(Z, GT_C64, GT_C64, GT_C64)
VECTOR_BATCHES_OF(HSH, GT_F16, GT_F16, GT_F32)
VECTOR_BATCHES_OF(HSS, GT_F16, GT_F32, GT_F32)
VECTOR_BATCHES_OF(TST, GT_BF16, GT_BF16, GT_F32)
VECTOR_BATCHES_OF(TSS, GT_BF16, GT_F32, GT_F32)

/* ---- matrices that are factored ---- */

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
