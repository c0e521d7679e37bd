/* SPDX-License-Identifier: MIT */
/* Operands: elements of several types as doubles. */
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"
#include "cuda/ptx/exec/half.h"

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
