/* SPDX-License-Identifier: MIT */
/* What cuBLAS and cuBLASLt share: statuses, the version, operands, and the product of two matrices of any types, by CBLAS. */
#include <cblas.h>
#include <complex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"
#include "cuda/ptx/exec/numbers.h"

/* OpenBLAS alone has this. With one thread its sums do not depend on the machine's cores. */
extern void openblas_set_num_threads(int n) __attribute__((weak));

__attribute__((constructor)) static void set_threads(void)
{
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
}

static const struct {
	int status;
	const char *name, *text;
} statuses[] = {
	{GT_CUBLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
	{GT_CUBLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
	{GT_CUBLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
	{GT_CUBLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
	{GT_CUBLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
	{GT_CUBLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
};

static size_t row_of(int status)
{
	size_t i = 0;

	while (i < sizeof statuses / sizeof *statuses && statuses[i].status != status)
		i++;
	return i;
}

const char *gt_cublas_status_name(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].name : "unknown status";
}

const char *gt_cublas_status_text(int status)
{
	size_t row = row_of(status);

	return row < sizeof statuses / sizeof *statuses ? statuses[row].text : "unknown status";
}

int gt_cublas_property(int which, int *value)
{
	static const int parts[] = {GT_CUBLAS_MAJOR, GT_CUBLAS_MINOR, GT_CUBLAS_PATCH};

	if (which < 0 || which > 2 || !value)
		return GT_CUBLAS_INVALID_VALUE;
	*value = parts[which];
	return GT_CUBLAS_SUCCESS;
}

/* ---- elements of several types ---- */

uint64_t gt_element_bytes(enum gt_element type)
{
	switch (type) {
	case GT_C64:
		return 16;
	case GT_F64:
	case GT_C32:
		return 8;
	case GT_F32:
	case GT_I32:
		return 4;
	case GT_F16:
	case GT_BF16:
		return 2;
	case GT_I8:
	case GT_E4M3:
	case GT_E5M2:
		return 1;
	default:
		return 0;
	}
}

double gt_element_read(const void *at, enum gt_element type, int64_t i)
{
	const uint16_t *halves = at;

	switch (type) {
	case GT_C64:
		return ((const double *)at)[2 * i];
	case GT_C32:
		return (double)((const float *)at)[2 * i];
	case GT_F64:
		return ((const double *)at)[i];
	case GT_F32:
		return (double)((const float *)at)[i];
	case GT_I32:
		return ((const int32_t *)at)[i];
	case GT_I8:
		return ((const int8_t *)at)[i];
	case GT_F16:
		return (double)gt_ptx_from_half(halves[i]);
	case GT_E4M3:
		return gt_ptx_from_e4m3(((const uint8_t *)at)[i]);
	case GT_E5M2:
		return (double)gt_ptx_from_half((uint16_t)(((const uint8_t *)at)[i] << 8));
	default:
		return (double)gt_ptx_from_bfloat(halves[i]);
	}
}

void gt_element_write(void *at, enum gt_element type, int64_t i, double value)
{
	switch (type) {
	case GT_F64:
		((double *)at)[i] = value;
		break;
	case GT_F32:
		((float *)at)[i] = (float)value;
		break;
	case GT_I32:
		((int32_t *)at)[i] = (int32_t)(int64_t)value;
		break;
	case GT_I8:
		((int8_t *)at)[i] = (int8_t)(int64_t)value;
		break;
	case GT_F16:
		((uint16_t *)at)[i] = gt_ptx_to_half(value, GT_PTX_RN);
		break;
	case GT_E4M3:
		((uint8_t *)at)[i] = gt_ptx_to_e4m3(value);
		break;
	case GT_E5M2:
		((uint8_t *)at)[i] = gt_ptx_to_e5m2(value);
		break;
	default:
		((uint16_t *)at)[i] = gt_ptx_to_bfloat(value, GT_PTX_RN);
	}
}

/* As CMPLX, which C libraries do not have for every compiler. */
static double complex of_parts(double real, double imaginary)
{
	const double parts[2] = {real, imaginary};
	double complex number;

	memcpy(&number, parts, sizeof number);
	return number;
}

double complex gt_number_read(const void *at, enum gt_element type, int64_t i)
{
	const enum gt_element part = type == GT_C64 ? GT_F64 : GT_F32;

	return gt_is_complex(type) ? of_parts(gt_element_read(at, part, 2 * i), gt_element_read(at, part, 2 * i + 1))
				   : of_parts(gt_element_read(at, type, i), 0);
}

void gt_number_write(void *at, enum gt_element type, int64_t i, double complex value)
{
	const enum gt_element part = type == GT_C64 ? GT_F64 : GT_F32;

	if (!gt_is_complex(type)) {
		gt_element_write(at, type, i, creal(value));
		return;
	}
	gt_element_write(at, part, 2 * i, creal(value));
	gt_element_write(at, part, 2 * i + 1, cimag(value));
}

/* ---- calls and their operands ---- */

int gt_call_begin(struct gt_call *call, const char *name, void *handle, bool valid, uint64_t flops)
{
	*call = (struct gt_call){name, handle};
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!valid)
		return GT_CUBLAS_INVALID_VALUE;
	return gt_stub_begin(name, call->handle->stream, flops) ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_SUPPORTED;
}

int gt_call_end(void)
{
	gt_stub_end();
	return GT_CUBLAS_SUCCESS;
}

/* Elements from the first to the last of `n` at a distance, and those of the last; of more than there can be, the most. */
static uint64_t reach(uint64_t n, uint64_t distance, uint64_t last)
{
	uint64_t elements;

	if (__builtin_mul_overflow(n - 1, distance, &elements) || __builtin_add_overflow(elements, last, &elements))
		return UINT64_MAX;
	return elements;
}

void *gt_matrix_of(const struct gt_call *call, const void *at, uint64_t bytes, int64_t rows, int64_t columns, int64_t leading,
		   bool written)
{
	if (rows <= 0 || columns <= 0)
		return NULL;
	return gt_stub_at(call->name, at, reach((uint64_t)columns, (uint64_t)leading, (uint64_t)rows), bytes, written);
}

void *gt_vector_of(const struct gt_call *call, const void *at, uint64_t bytes, int64_t n, int64_t step, bool written)
{
	return n > 0 ? gt_stub_at(call->name, at, reach((uint64_t)n, step < 0 ? 0 - (uint64_t)step : (uint64_t)step, 1), bytes, written)
		     : NULL;
}

void *gt_scalar_of(const struct gt_call *call, const void *at, uint64_t bytes, bool written)
{
	return call->handle->pointer_mode == GT_CUBLAS_ON_DEVICE ? gt_stub_at(call->name, at, 1, bytes, written) : (void *)(uintptr_t)at;
}

void *gt_address_of(const struct gt_call *call, const void *at)
{
	return *(void *const *)gt_stub_at(call->name, at, 1, sizeof(void *), false);
}

/* ---- the product of two matrices ---- */

int64_t gt_gemm_rows(const struct gt_gemm *gemm, unsigned operand)
{
	const bool turned = operand < 2 && gemm->operations[operand] != GT_CUBLAS_N;

	return operand == 1 ? (turned ? gemm->n : gemm->k) : turned ? gemm->k : gemm->m;
}

int64_t gt_gemm_columns(const struct gt_gemm *gemm, unsigned operand)
{
	return (operand == 0 ? gemm->m + gemm->k : operand == 1 ? gemm->k + gemm->n : gemm->m + gemm->n) - gt_gemm_rows(gemm, operand);
}

/* Complex numbers meet none of other types; CBLAS takes sizes as an int each. */
bool gt_gemm_knows(const struct gt_gemm *gemm)
{
	bool known = gt_element_bytes(gemm->scale) > 0 && gemm->m <= INT_MAX && gemm->n <= INT_MAX && gemm->k <= INT_MAX;

	for (unsigned i = 0; i < 3; i++)
		known = known && gt_element_bytes(gemm->types[i]) > 0 && !gt_is_byte_float(gemm->types[i]) && gemm->leading[i] <= INT_MAX &&
			(!gt_is_complex(gemm->types[i]) || (gemm->types[0] == gemm->types[i] && gemm->types[1] == gemm->types[i] &&
							    gemm->types[2] == gemm->types[i]));
	return known && gt_is_complex(gemm->scale) == gt_is_complex(gemm->types[2]);
}

bool gt_gemm_is_valid(const struct gt_gemm *gemm)
{
	bool valid = gemm->m >= 0 && gemm->n >= 0 && gemm->k >= 0;

	for (unsigned i = 0; i < 3; i++)
		valid = valid && (i == 2 || gt_is_operation(gemm->operations[i])) && gt_leads(gemm->leading[i], gt_gemm_rows(gemm, i));
	return valid;
}

uint64_t gt_gemm_flops(const struct gt_gemm *gemm)
{
	return (gt_is_complex(gemm->types[2]) ? 8 : 2) * (uint64_t)gemm->m * (uint64_t)gemm->n * (uint64_t)gemm->k;
}

/* Doubles hold the sums of integers. */
enum gt_element gt_gemm_computes(const struct gt_gemm *gemm)
{
	bool wide = gemm->scale == GT_I32 || gemm->scale == GT_F64;

	for (unsigned i = 0; i < 3; i++)
		wide = wide || gemm->types[i] == GT_F64 || gemm->types[i] == GT_I32 || gemm->types[i] == GT_I8;
	return gt_is_complex(gemm->types[2]) ? gemm->types[2] : wide ? GT_F64 : GT_F32;
}

/* The elements of an operand in another type, one column behind the other. NULL if there is no memory. */
static void *converted(const struct gt_gemm *gemm, unsigned operand, const void *at, enum gt_element to)
{
	const int64_t rows = gt_gemm_rows(gemm, operand), columns = gt_gemm_columns(gemm, operand);
	const uint64_t n = (uint64_t)rows * (uint64_t)columns;
	void *values = n < SIZE_MAX / sizeof(double) ? malloc((n + 1) * sizeof(double)) : NULL;

	for (int64_t j = 0; values && at && j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			gt_element_write(values, to, j * rows + i, gt_element_read(at, gemm->types[operand], j * gemm->leading[operand] + i));
	return values;
}

static void put_back(const struct gt_gemm *gemm, const void *values, enum gt_element from, void *c)
{
	for (int64_t j = 0; j < gemm->n; j++)
		for (int64_t i = 0; i < gemm->m; i++)
			gt_element_write(c, gemm->types[2], j * gemm->leading[2] + i, gt_element_read(values, from, j * gemm->m + i));
}

/* The product by CBLAS, of operands of one type that it has. */
static void multiply_in_place(const struct gt_gemm *gemm, enum gt_element type, const void *alpha, void *const at[3], const int leading[3],
			      const void *beta)
{
	const CBLAS_TRANSPOSE a = (CBLAS_TRANSPOSE)(CblasNoTrans + gemm->operations[0]), b = (CBLAS_TRANSPOSE)(CblasNoTrans + gemm->operations[1]);
	const int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;

	if (type == GT_F32)
		cblas_sgemm(CblasColMajor, a, b, m, n, k, *(const float *)alpha, at[0], leading[0], at[1], leading[1],
			    *(const float *)beta, at[2], leading[2]);
	else if (type == GT_F64)
		cblas_dgemm(CblasColMajor, a, b, m, n, k, *(const double *)alpha, at[0], leading[0], at[1], leading[1],
			    *(const double *)beta, at[2], leading[2]);
	else if (type == GT_C32)
		cblas_cgemm(CblasColMajor, a, b, m, n, k, alpha, at[0], leading[0], at[1], leading[1], beta, at[2], leading[2]);
	else
		cblas_zgemm(CblasColMajor, a, b, m, n, k, alpha, at[0], leading[0], at[1], leading[1], beta, at[2], leading[2]);
}

/* Whether a factor is that number. */
static bool is_factor(const void *factor, enum gt_element type, double number)
{
	return gt_element_read(factor, type, 0) == number && (!gt_is_complex(type) || gt_element_read(factor, type == GT_C32 ? GT_F32 : GT_F64, 1) == 0);
}

/* The same with sums that begin at 0 and are added to beta c at the end, as on a GPU: the reference BLAS adds each product to beta c, which rounds it if it
 * is large. Returns a status. */
static int multiply(const struct gt_gemm *gemm, enum gt_element type, const void *alpha, void *const at[3], const int leading[3], const void *beta)
{
	const union { float f32[2]; double f64[2]; } one_f32 = {.f32 = {1, 0}}, one_f64 = {.f64 = {1, 0}}, zero = {.f64 = {0, 0}};
	const void *one = type == GT_F32 || type == GT_C32 ? (const void *)&one_f32 : (const void *)&one_f64;
	const bool adds = !is_factor(beta, type, 0);

	if (gemm->k == 0 || is_factor(alpha, type, 0) || (!adds && is_factor(alpha, type, 1))) {
		multiply_in_place(gemm, type, alpha, at, leading, beta);
		return GT_CUBLAS_SUCCESS;
	}
	void *sums = calloc((size_t)gemm->m * (size_t)gemm->n, gt_element_bytes(type));
	if (!sums)
		return GT_CUBLAS_ALLOC_FAILED;
	multiply_in_place(gemm, type, one, (void *const[3]){at[0], at[1], sums}, (const int[3]){leading[0], leading[1], (int)gemm->m}, &zero);
#define ADD(TYPE, T)                                                                                                   \
	for (int64_t j = 0; type == (TYPE) && j < gemm->n; j++)                                                        \
		for (int64_t i = 0; i < gemm->m; i++) {                                                                \
			T *const c = (T *)at[2] + j * leading[2] + i, sum = *(const T *)alpha * ((T *)sums)[j * gemm->m + i]; \
			*c = adds ? sum + *(const T *)beta * *c : sum;                                                 \
		}
	ADD(GT_F32, float)
	ADD(GT_F64, double)
	ADD(GT_C32, float complex)
	ADD(GT_C64, double complex)
#undef ADD
	free(sums);
	return GT_CUBLAS_SUCCESS;
}

int gt_gemm_run(const struct gt_gemm *gemm, const void *alpha, const void *a, const void *b, const void *beta, void *c)
{
	const enum gt_element type = gt_gemm_computes(gemm);
	void *at[3] = {(void *)(uintptr_t)a, (void *)(uintptr_t)b, c}, *own[3] = {NULL};
	int leading[3], status = GT_CUBLAS_SUCCESS;
	double factors[2];

	if (gemm->m == 0 || gemm->n == 0)
		return status;
	for (unsigned i = 0; i < 3; i++) {
		const bool same = gemm->types[i] == type;
		own[i] = same ? NULL : converted(gemm, i, at[i], type);
		at[i] = same ? at[i] : own[i];
		leading[i] = (int)(same ? gemm->leading[i] : gt_gemm_rows(gemm, i) > 0 ? gt_gemm_rows(gemm, i) : 1);
		if (!same && !own[i])
			status = GT_CUBLAS_ALLOC_FAILED;
	}
	if (gemm->scale != type) {
		gt_element_write(&factors[0], type, 0, gt_element_read(alpha, gemm->scale, 0));
		gt_element_write(&factors[1], type, 0, gt_element_read(beta, gemm->scale, 0));
		alpha = &factors[0];
		beta = &factors[1];
	}
	if (status == GT_CUBLAS_SUCCESS)
		status = multiply(gemm, type, alpha, at, leading, beta);
	if (status == GT_CUBLAS_SUCCESS && own[2])
		put_back(gemm, own[2], type, c);
	for (unsigned i = 0; i < 3; i++)
		free(own[i]);
	return status;
}
