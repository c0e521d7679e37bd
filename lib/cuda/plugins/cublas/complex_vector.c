/* SPDX-License-Identifier: MIT */
/* Complex vectors. */
#include <math.h>

#include "cuda/plugins/cublas/complex.h"

static struct gt_complex with_addend(struct gt_complex factor, struct gt_complex x, struct gt_complex y)
{
	struct gt_complex scaled = gt_complex_times(factor, x);

	return (struct gt_complex){scaled.re + y.re, scaled.im + y.im};
}

static struct gt_complex scaled(struct gt_complex factor, struct gt_complex x, struct gt_complex y)
{
	(void)y;
	return gt_complex_times(factor, x);
}

/* y[i] = change(factor, x[i], y[i]); real: the factor is a real number; NULL: 1. */
static int change(const char *name, void *handle, int64_t n, const void *factor, bool real, const void *x, int64_t x_step, void *y,
		  int64_t y_step, struct gt_complex (*with)(struct gt_complex, struct gt_complex, struct gt_complex), enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && x_step != 0 && y_step != 0);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_complex by = {1, 0};
	if (factor)
		by = real ? (struct gt_complex){gt_factor_of(&call, factor, type), 0} : gt_complex_factor(&call, factor, type);
	struct gt_parts from = gt_complex_vector(&call, x, type, n, x_step, false), to = gt_complex_vector(&call, y, type, n, y_step, true);
	for (int64_t i = 0; i < n; i++)
		gt_complex_write(&to, i, 0, with(by, gt_complex_read(&from, i, 0), gt_complex_read(&to, i, 0)));
	return gt_call_end();
}

/* The sum of x[i] y[i], or with x conjugated. */
static int dot(const char *name, void *handle, bool conjugate, int64_t n, const void *x, int64_t x_step, const void *y, int64_t y_step,
	       void *result, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && result);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_parts left = gt_complex_vector(&call, x, type, n, x_step, false), right = gt_complex_vector(&call, y, type, n, y_step, false);
	struct gt_complex sum = {0, 0};
	left.sign = conjugate ? -1 : 1;
	for (int64_t i = 0; i < n; i++)
		sum = with_addend(gt_complex_read(&left, i, 0), gt_complex_read(&right, i, 0), sum);
	struct gt_view re = gt_result_of(&call, result, type);
	struct gt_view im = gt_result_of(&call, (unsigned char *)result + gt_element_bytes(type), type);
	gt_view_write(&re, 0, 0, sum.re);
	gt_view_write(&im, 0, 0, sum.im);
	return gt_call_end();
}

/* The square root of the sum of squares. */
static int norm(const char *name, void *handle, int64_t n, const void *x, int64_t step, void *result, enum gt_element type)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && result);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	struct gt_parts from = gt_complex_vector(&call, x, type, n, step, false);
	double length = 0;
	for (int64_t i = 0; i < n; i++) {
		struct gt_complex value = gt_complex_read(&from, i, 0);
		length = hypot(length, hypot(value.re, value.im));
	}
	struct gt_view to = gt_result_of(&call, result, type);
	gt_view_write(&to, 0, 0, length);
	return gt_call_end();
}

#define VECTORS(L, MIXED, REDUCED, TYPE, INT, END)							   \
	API int cublas##L##axpy_v2##END(void *handle, INT n, const void *alpha, const void *x, INT x_step, void *y, INT y_step) \
	{												   \
		return change("cublas" #L "axpy" #END, handle, n, alpha, false, x, x_step, y, y_step, with_addend, TYPE);  \
	}												   \
	API int cublas##L##scal_v2##END(void *handle, INT n, const void *alpha, void *x, INT step)			   \
	{												   \
		return change("cublas" #L "scal" #END, handle, n, alpha, false, x, step, x, step, scaled, TYPE);	   \
	}												   \
	API int cublas##MIXED##scal_v2##END(void *handle, INT n, const void *alpha, void *x, INT step)		   \
	{												   \
		return change("cublas" #MIXED "scal" #END, handle, n, alpha, true, x, step, x, step, scaled, TYPE);	   \
	}												   \
	API int cublas##L##copy_v2##END(void *handle, INT n, const void *x, INT x_step, void *y, INT y_step)		   \
	{												   \
		return change("cublas" #L "copy" #END, handle, n, NULL, false, x, x_step, y, y_step, scaled, TYPE);	   \
	}												   \
	API int cublas##L##dotu_v2##END(void *handle, INT n, const void *x, INT x_step, const void *y, INT y_step,	   \
					void *result)								   \
	{												   \
		return dot("cublas" #L "dotu" #END, handle, false, n, x, x_step, y, y_step, result, TYPE);		   \
	}												   \
	API int cublas##L##dotc_v2##END(void *handle, INT n, const void *x, INT x_step, const void *y, INT y_step,	   \
					void *result)								   \
	{												   \
		return dot("cublas" #L "dotc" #END, handle, true, n, x, x_step, y, y_step, result, TYPE);		   \
	}												   \
	API int cublas##REDUCED##nrm2_v2##END(void *handle, INT n, const void *x, INT step, void *result)		   \
	{												   \
		return norm("cublas" #REDUCED "nrm2" #END, handle, n, x, step, result, TYPE);			   \
	}
GT_CUBLAS_COMPLEX_ENTRIES(VECTORS)
