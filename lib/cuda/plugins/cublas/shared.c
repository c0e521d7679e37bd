/* SPDX-License-Identifier: MIT */
/* The names of statuses and the version, which cuBLAS and cuBLASLt share. */
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"
#include "cuda/ptx/exec/numbers.h"

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

/* Operands: elements of several types as doubles. */

uint64_t gt_element_bytes(enum gt_element type)
{
	switch (type) {
	case GT_F64:
	case GT_I64:
		return 8;
	case GT_F32:
	case GT_I32:
		return 4;
	case GT_F16:
	case GT_BF16:
		return 2;
	case GT_I8:
		return 1;
	default:
		return 0;
	}
}

static unsigned char *element_at(const struct gt_view *view, int64_t i, int64_t j)
{
	return view->at + (i * view->down + j * view->across) * (int64_t)gt_element_bytes(view->type);
}

double gt_view_read(const struct gt_view *view, int64_t i, int64_t j)
{
	const unsigned char *at = element_at(view, i, j);
	double f64;
	float f32;
	int32_t i32;
	int64_t i64;
	uint16_t half;

	switch (view->type) {
	case GT_F64:
		memcpy(&f64, at, sizeof f64);
		return f64;
	case GT_F32:
		memcpy(&f32, at, sizeof f32);
		return (double)f32;
	case GT_I32:
		memcpy(&i32, at, sizeof i32);
		return i32;
	case GT_I64:
		memcpy(&i64, at, sizeof i64);
		return (double)i64;
	case GT_I8:
		return (int8_t)*at;
	case GT_F16:
		memcpy(&half, at, sizeof half);
		return (double)gt_ptx_from_half(half);
	default:
		memcpy(&half, at, sizeof half);
		return (double)gt_ptx_from_bfloat(half);
	}
}

void gt_view_write(const struct gt_view *view, int64_t i, int64_t j, double value)
{
	unsigned char *at = element_at(view, i, j);
	float f32 = (float)value;
	int32_t i32;
	int64_t i64;
	uint16_t half;

	switch (view->type) {
	case GT_F64:
		memcpy(at, &value, sizeof value);
		break;
	case GT_F32:
		memcpy(at, &f32, sizeof f32);
		break;
	case GT_I32:
		i32 = (int32_t)(int64_t)value;
		memcpy(at, &i32, sizeof i32);
		break;
	case GT_I64:
		i64 = (int64_t)value;
		memcpy(at, &i64, sizeof i64);
		break;
	case GT_I8:
		*at = (unsigned char)(int8_t)(int64_t)value;
		break;
	case GT_F16:
		half = gt_ptx_to_half(value, GT_PTX_RN);
		memcpy(at, &half, sizeof half);
		break;
	default:
		half = gt_ptx_to_bfloat(value, GT_PTX_RN);
		memcpy(at, &half, sizeof half);
	}
}

double gt_half_read(const struct gt_view *view, const struct gt_half *half, int64_t i, int64_t j)
{
	if (half->unit && i == j)
		return 1;
	if (gt_half_has(half, i, j))
		return gt_view_read(view, i, j);
	return half->mirrored ? gt_view_read(view, j, i) : 0;
}

/* ---- of a call ---- */

int gt_call_begin(struct gt_call *call, const char *name, void *handle, bool valid)
{
	*call = (struct gt_call){name, handle};
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!valid)
		return GT_CUBLAS_INVALID_VALUE;
	return gt_stub_begin(name, call->handle->stream) ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_SUPPORTED;
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

struct gt_view gt_matrix_of(const struct gt_call *call, const void *at, enum gt_element type, int64_t rows, int64_t columns,
			    int64_t leading, bool written)
{
	struct gt_view view = {NULL, type, 1, leading};

	if (rows > 0 && columns > 0)
		view.at = gt_stub_at(call->name, at, reach((uint64_t)columns, (uint64_t)leading, (uint64_t)rows), gt_element_bytes(type),
				     written);
	return view;
}

struct gt_view gt_vector_of(const struct gt_call *call, const void *at, enum gt_element type, int64_t n, int64_t step,
			    bool written)
{
	struct gt_view view = {NULL, type, step, 0};
	const uint64_t bytes = gt_element_bytes(type), between = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;

	if (n <= 0)
		return view;
	view.at = gt_stub_at(call->name, at, reach((uint64_t)n, between, 1), bytes, written);
	if (step < 0)
		view.at += (uint64_t)(n - 1) * between * bytes;
	return view;
}

double gt_factor_of(const struct gt_call *call, const void *at, enum gt_element type)
{
	struct gt_view view = {(unsigned char *)(uintptr_t)at, type, 0, 0};

	if (call->handle->pointer_mode == GT_CUBLAS_ON_DEVICE)
		view.at = gt_stub_at(call->name, at, 1, gt_element_bytes(type), false);
	return gt_view_read(&view, 0, 0);
}

struct gt_view gt_result_of(const struct gt_call *call, void *at, enum gt_element type)
{
	struct gt_view view = {at, type, 0, 0};

	if (call->handle->pointer_mode == GT_CUBLAS_ON_DEVICE)
		view.at = gt_stub_at(call->name, at, 1, gt_element_bytes(type), true);
	return view;
}

/* The product of two matrices. */

#define STRIP 2048 /* rows whose sums are formed together: they stay in this processor's cache */

/* The sums of `rows` rows from `first` on, of one column of b: sums[i] = a(first + i, 0) b(0) + a(first + i, 1) b(1) ... */
static void sum_strip(int64_t rows, int64_t k, const double *a, int64_t m, const double *b, double sums[STRIP])
{
	for (int64_t i = 0; i < rows; i++)
		sums[i] = 0;
	for (int64_t p = 0; p < k; p++) {
		const double *column = a + p * m, factor = b[p];
		for (int64_t i = 0; i < rows; i++)
			sums[i] += column[i] * factor;
	}
}

static double *unpack(const struct gt_view *view, int64_t rows, int64_t columns)
{
	uint64_t n = (uint64_t)rows * (uint64_t)columns;
	double *values = n < SIZE_MAX / sizeof *values ? malloc((n + 1) * sizeof *values) : NULL;

	for (int64_t j = 0; values && j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			values[j * rows + i] = gt_view_read(view, i, j);
	return values;
}

int gt_product(int64_t m, int64_t n, int64_t k, double alpha, const struct gt_view *a, const struct gt_view *b, double beta,
	       const struct gt_view *c)
{
	/* Neither is read if alpha is 0. */
	int64_t depth = alpha != 0 ? k : 0;
	double *left = unpack(a, m, depth), *right = unpack(b, depth, n), sums[STRIP];
	bool short_of_memory = !left || !right;

	for (int64_t first = 0; !short_of_memory && first < m; first += STRIP) {
		int64_t rows = m - first < STRIP ? m - first : STRIP;
		for (int64_t j = 0; j < n; j++) {
			sum_strip(rows, depth, left + first, m, right + j * depth, sums);
			for (int64_t i = 0; i < rows; i++)
				gt_view_write(c, first + i, j,
					      alpha * sums[i] + (beta != 0 ? beta * gt_view_read(c, first + i, j) : 0));
		}
	}
	free(left);
	free(right);
	return short_of_memory ? GT_CUBLAS_ALLOC_FAILED : GT_CUBLAS_SUCCESS;
}
