/* SPDX-License-Identifier: MIT */
/* The stand-in for cuBLAS, whose kernels come as machine code alone: it does the work on the host, so that a program goes on.
 * Every operand becomes a view, which reads and writes elements of any type as doubles; sums are made of doubles, in the order
 * of the indices, and rounded once. */
#ifndef GT_CUBLAS_H
#define GT_CUBLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/runtime/stub.h"

#define API GT_STUB_API

/* cublasStatus_t */
enum gt_cublas_status {
	GT_CUBLAS_SUCCESS = 0,
	GT_CUBLAS_NOT_INITIALIZED = 1,
	GT_CUBLAS_ALLOC_FAILED = 3,
	GT_CUBLAS_INVALID_VALUE = 7,
	GT_CUBLAS_EXECUTION_FAILED = 13,
	GT_CUBLAS_NOT_SUPPORTED = 15
};

/* cudaDataType_t, as far as it is known here. */
enum gt_element { GT_F32 = 0, GT_F64 = 1, GT_F16 = 2, GT_I8 = 3, GT_I32 = 10, GT_BF16 = 14, GT_I64 = 24 };

enum { GT_CUBLAS_N, GT_CUBLAS_T, GT_CUBLAS_C }; /* cublasOperation_t */
enum { GT_CUBLAS_LOWER, GT_CUBLAS_UPPER };	/* cublasFillMode_t */
enum { GT_CUBLAS_LEFT, GT_CUBLAS_RIGHT };	/* cublasSideMode_t */
enum { GT_CUBLAS_UNIT = 1 };			/* cublasDiagType_t */
enum { GT_CUBLAS_ON_HOST, GT_CUBLAS_ON_DEVICE }; /* cublasPointerMode_t */

/* The version that the stand-ins say they are. */
enum { GT_CUBLAS_MAJOR = 13, GT_CUBLAS_MINOR = 1, GT_CUBLAS_PATCH = 0 };
#define GT_CUBLAS_VERSION (GT_CUBLAS_MAJOR * 10000 + GT_CUBLAS_MINOR * 100 + GT_CUBLAS_PATCH)
/* One of its parts. Returns a status. */
int gt_cublas_property(int which, int *value);
const char *gt_cublas_status_name(int status);
const char *gt_cublas_status_text(int status);

struct gt_cublas {
	void *stream;
	int pointer_mode, atomics_mode, math_mode, sm_count_target;
};

/* A column-major matrix, or a vector as its one row or column: element (i, j) is number i * down + j * across. */
struct gt_view {
	unsigned char *at;
	enum gt_element type;
	int64_t down, across;
};

/* A side, a triangle, a diagonal: one of two. */
static inline bool gt_is_flag(int value)
{
	return value == 0 || value == 1;
}

/* Of a square matrix one triangle is stored, and the diagonal with it. */
struct gt_half {
	int uplo;
	bool mirrored; /* the other triangle is the same; else it is 0 */
	bool unit;     /* the diagonal is 1, and is not read */
};
static inline bool gt_half_has(const struct gt_half *half, int64_t i, int64_t j)
{
	return half->uplo == GT_CUBLAS_LOWER ? i >= j : i <= j;
}

/* A call that is being made. */
struct gt_call {
	const char *name;
	struct gt_cublas *handle;
};

/* Bytes of an element; 0 if the type is not known. */
uint64_t gt_element_bytes(enum gt_element type);
double gt_view_read(const struct gt_view *view, int64_t i, int64_t j);
void gt_view_write(const struct gt_view *view, int64_t i, int64_t j, double value);

/* The element (i, j) of the whole matrix. */
double gt_half_read(const struct gt_view *view, const struct gt_half *half, int64_t i, int64_t j);

/* Begins a call. Returns a status; if it is not success, the call is over. */
int gt_call_begin(struct gt_call *call, const char *name, void *handle, bool valid);
int gt_call_end(void);
/* The operands of a call, in device memory: rows by columns as they are stored; n elements, `step` apart, from the last if
 * that is negative. An operand without elements is nowhere. */
struct gt_view gt_matrix_of(const struct gt_call *call, const void *at, enum gt_element type, int64_t rows, int64_t columns,
			    int64_t leading, bool written);
struct gt_view gt_vector_of(const struct gt_call *call, const void *at, enum gt_element type, int64_t n, int64_t step,
			    bool written);
/* A factor, and where a result goes: on the host or the device, by the handle's mode. */
double gt_factor_of(const struct gt_call *call, const void *at, enum gt_element type);
struct gt_view gt_result_of(const struct gt_call *call, void *at, enum gt_element type);

/* What the forms of gemm have in common. */
struct gt_gemm {
	int operations[2];
	int64_t m, n, k, leading[3];
	enum gt_element types[3], scale; /* of the parts, if elements are complex */
	bool complex;
	const void *alpha, *beta;
	/* One product, of matrices at these places. Returns a status. */
	int (*product)(const struct gt_call *call, const struct gt_gemm *gemm, const void *const at[3]);
};

/* The size of an operand as it is stored. */
int64_t gt_gemm_rows(const struct gt_gemm *gemm, unsigned operand);
int64_t gt_gemm_columns(const struct gt_gemm *gemm, unsigned operand);
/* A call: `n` products of matrices that lie `strides` elements apart; without strides, of those whose addresses lie in device
 * memory. */
int gt_gemm_many(const char *name, void *handle, const struct gt_gemm *gemm, const void *const at[3], const int64_t *strides,
		 int64_t n);

/* Writes the entries of a call: CALL(letter, small letter, C type, element, type of sizes, its element, end of the name). */
#define GT_CUBLAS_ENTRIES(CALL)                        \
	CALL(S, s, float, GT_F32, int, GT_I32, )       \
	CALL(S, s, float, GT_F32, int64_t, GT_I64, _64) \
	CALL(D, d, double, GT_F64, int, GT_I32, )      \
	CALL(D, d, double, GT_F64, int64_t, GT_I64, _64)

/* The least leading dimension of a matrix of so many rows. */
static inline int64_t gt_least_leading(int64_t rows)
{
	return rows > 1 ? rows : 1;
}

/* The same matrix with rows and columns exchanged. */
static inline struct gt_view gt_transposed(struct gt_view view)
{
	return (struct gt_view){view.at, view.type, view.across, view.down};
}

/* c = alpha a b + beta c, of m by k and k by n elements; c is not read if beta is 0. Returns a status. */
int gt_product(int64_t m, int64_t n, int64_t k, double alpha, const struct gt_view *a, const struct gt_view *b, double beta,
	       const struct gt_view *c);

#endif
