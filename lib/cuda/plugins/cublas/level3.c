/* SPDX-License-Identifier: MIT */
/* Products of matrices: gemm in its forms. */
#include "cuda/plugins/cublas/cublas.h"

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
