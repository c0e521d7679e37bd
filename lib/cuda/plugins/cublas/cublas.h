/* SPDX-License-Identifier: MIT */
/* The stand-in for cuBLAS, whose kernels come as machine code alone: a CBLAS does the work on the host, so that a program goes on.
 * Operands go to it as they lie in memory, by columns and with their leading dimensions. It knows floats, doubles and complex numbers
 * of both; products of other types are made of floats or doubles, and rounded at the end. */
#ifndef GT_CUBLAS_H
#define GT_CUBLAS_H

#include <complex.h>
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
enum gt_element { GT_F32 = 0, GT_F64 = 1, GT_F16 = 2, GT_I8 = 3, GT_C32 = 4, GT_C64 = 5, GT_I32 = 10, GT_BF16 = 14,
		  GT_E4M3 = 28, GT_E5M2 = 29 };

enum { GT_CUBLAS_N, GT_CUBLAS_T, GT_CUBLAS_C }; /* cublasOperation_t */
enum { GT_CUBLAS_LOWER, GT_CUBLAS_UPPER };	/* cublasFillMode_t */
enum { GT_CUBLAS_LEFT, GT_CUBLAS_RIGHT };	/* cublasSideMode_t */
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
	int emulation[5]; /* how doubles are made of integers; products are those of doubles whatever it says */
};

/* A side, a triangle, a diagonal: one of two. */
static inline bool gt_is_flag(int value)
{
	return value == 0 || value == 1;
}

static inline bool gt_is_operation(int value)
{
	return value >= GT_CUBLAS_N && value <= GT_CUBLAS_C;
}

static inline bool gt_is_complex(enum gt_element type)
{
	return type == GT_C32 || type == GT_C64;
}

/* Floats of 8 bits, which cuBLASLt alone has. */
static inline bool gt_is_byte_float(enum gt_element type)
{
	return type == GT_E4M3 || type == GT_E5M2;
}

/* Whether it may be the leading dimension of a matrix of so many rows, whose number may be none. */
static inline bool gt_leads(int64_t leading, int64_t rows)
{
	return rows >= 0 && leading >= rows && leading >= 1;
}

/* Bytes of an element; 0 if the type is not known. */
uint64_t gt_element_bytes(enum gt_element type);
/* Element number i; its real part if it is complex. */
double gt_element_read(const void *at, enum gt_element type, int64_t i);
void gt_element_write(void *at, enum gt_element type, int64_t i, double value);

/* The same of a number that may be complex. */
double complex gt_number_read(const void *at, enum gt_element type, int64_t i);
void gt_number_write(void *at, enum gt_element type, int64_t i, double complex value);

/* So many elements on. */
static inline void *gt_elements_on(const void *at, uint64_t bytes, int64_t elements)
{
	return (void *)((uintptr_t)at + (uint64_t)elements * bytes);
}

/* The place of element 0 of a vector, which begins with the last one if the step is negative. */
static inline int64_t gt_first_of(int64_t n, int64_t step)
{
	return step < 0 ? (1 - n) * step : 0;
}

/* A call that is being made. */
struct gt_call {
	const char *name;
	struct gt_cublas *handle;
};

/* Begins a call that does so much work. Returns a status; if it is not success, the call is over. */
int gt_call_begin(struct gt_call *call, const char *name, void *handle, bool valid, uint64_t flops);
int gt_call_end(void);
/* Where an operand lies in this process: a matrix of rows by columns as they are stored; a vector of n elements, `step` apart. NULL of
 * one without elements. */
void *gt_matrix_of(const struct gt_call *call, const void *at, uint64_t bytes, int64_t rows, int64_t columns, int64_t leading,
		   bool written);
void *gt_vector_of(const struct gt_call *call, const void *at, uint64_t bytes, int64_t n, int64_t step, bool written);
/* A factor, or a result: on the host or the device, by the handle's mode. */
void *gt_scalar_of(const struct gt_call *call, const void *at, uint64_t bytes, bool written);
/* The address that lies there in device memory. */
void *gt_address_of(const struct gt_call *call, const void *at);

/* c = alpha op(a) op(b) + beta c, of m by k and k by n elements; neither c nor the factors' matrices are read if a factor is 0. */
struct gt_gemm {
	int operations[2];
	int64_t m, n, k, leading[3];
	enum gt_element types[3], scale; /* of a, b, c; of the factors */
};

/* Whether its types are known here, but for floats of 8 bits. */
bool gt_gemm_knows(const struct gt_gemm *gemm);
bool gt_gemm_is_valid(const struct gt_gemm *gemm);
uint64_t gt_gemm_flops(const struct gt_gemm *gemm);
/* The type of the sums. */
enum gt_element gt_gemm_computes(const struct gt_gemm *gemm);
/* The rows and columns of an operand as it is stored. */
int64_t gt_gemm_rows(const struct gt_gemm *gemm, unsigned operand);
int64_t gt_gemm_columns(const struct gt_gemm *gemm, unsigned operand);
/* Does it, with everything where it lies in this process. Returns a status. */
int gt_gemm_run(const struct gt_gemm *gemm, const void *alpha, const void *a, const void *b, const void *beta, void *c);

#endif
