/* SPDX-License-Identifier: MIT */
/* The calls of BLAS's three levels and cuBLAS's additions to them: each checks its arguments and operands as cuBLAS does, and hands
 * them to CBLAS. What CBLAS has not is made of what it has: a batch of single calls, syrkx of columns, geam and dgmm of vectors. */
#include <cblas.h>
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "cuda/plugins/cublas/cublas.h"

/* Writes the entries of a call: CALL(letter, small letter, letters of a call with a real result, small, type, type of its parts, whether
 * it is complex, how CBLAS takes a factor, type of sizes, end of the name). */
#define SIZES(CALL, ...)    CALL(__VA_ARGS__, int, ) CALL(__VA_ARGS__, int64_t, _64)
#define REAL_CALLS(CALL)    SIZES(CALL, S, s, S, s, float, float, 0, VALUE) SIZES(CALL, D, d, D, d, double, double, 0, VALUE)
#define COMPLEX_CALLS(CALL) SIZES(CALL, C, c, Sc, sc, void, float, 1, ADDRESS) SIZES(CALL, Z, z, Dz, dz, void, double, 1, ADDRESS)
#define ALL_CALLS(CALL)	    REAL_CALLS(CALL) COMPLEX_CALLS(CALL)

#define VALUE(T, AT)	 *(const T *)(AT)
#define ADDRESS(T, AT)	 (AT)
#define VALUE_BYTES(T)	 sizeof(T)
#define ADDRESS_BYTES(T) bytes

/* What an entry says of its operands; it has `call`, and is of R and CX. */
#define BYTES(R, CX)		    ((uint64_t)sizeof(R) << (CX))
#define MATRIX(AT, ROWS, COLUMNS, LEADING) gt_matrix_of(&call, AT, bytes, ROWS, COLUMNS, LEADING, false), (int)(LEADING)
#define TO_MATRIX(AT, ROWS, COLUMNS, LEADING) gt_matrix_of(&call, AT, bytes, ROWS, COLUMNS, LEADING, true), (int)(LEADING)
#define VECTOR(AT, N, STEP)	    gt_vector_of(&call, AT, bytes, N, STEP, false), (int)(STEP)
#define TO_VECTOR(AT, N, STEP)	    gt_vector_of(&call, AT, bytes, N, STEP, true), (int)(STEP)
#define FACTOR(F, T, AT)	    F(T, gt_scalar_of(&call, AT, F##_BYTES(T), false))
#define REAL_FACTOR(R, AT)	    VALUE(R, gt_scalar_of(&call, AT, sizeof(R), false))
#define OPERATION(VALUE)	    ((CBLAS_TRANSPOSE)(CblasNoTrans + (VALUE)))
#define TRIANGLE(VALUE)		    ((CBLAS_UPLO)(CblasLower - (VALUE)))
#define SIDE(VALUE)		    ((CBLAS_SIDE)(CblasLeft + (VALUE)))
#define DIAGONAL(VALUE)		    ((CBLAS_DIAG)(CblasNonUnit + (VALUE)))
/* Flops of so many products that are added up. */
#define SUMS(CX, N) ((CX ? 8 : 2) * (uint64_t)(N))

/* Begins an entry; behind the flops, its sizes, leading dimensions and steps, which CBLAS takes as an int each. */
#define ENTER(L, NAME, R, CX, END, VALID, FLOPS, ...)                                                   \
	const uint64_t bytes = BYTES(R, CX);                                                            \
	struct gt_call call;                                                                            \
	int status = begin(&call, "cublas" #L #NAME #END, "cublas" #L #NAME #END " beyond 2^31 - 1", handle, VALID, FLOPS, \
			   (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)); \
	(void)bytes;                                                                                    \
	if (status != GT_CUBLAS_SUCCESS)                                                                \
	return status

static int begin(struct gt_call *call, const char *name, const char *beyond, void *handle, bool valid, uint64_t flops,
		 const int64_t *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sizes[i] > INT_MAX || sizes[i] < -INT_MAX) {
			gt_stub_refuse(beyond);
			return GT_CUBLAS_NOT_SUPPORTED;
		}
	return gt_call_begin(call, name, handle, valid, flops);
}

/* Element i of a vector, which begins with the last one if the step is negative. */
static void *element_of(const void *at, uint64_t bytes, int64_t n, int64_t step, int64_t i)
{
	return gt_elements_on(at, bytes, gt_first_of(n, step) + i * step);
}

/* ---- vectors ---- */

/* A vector of any type. Its elements are numbered from 0 whatever the sign of the step. */
struct typed {
	void *at;
	enum gt_element type;
	int64_t first, step;
};

static struct typed typed_of(const struct gt_call *call, const void *at, int type, int64_t n, int64_t step, bool written)
{
	return (struct typed){gt_vector_of(call, at, gt_element_bytes((enum gt_element)type), n, step, written), (enum gt_element)type,
			      gt_first_of(n, step), step};
}

static double complex typed_get(const struct typed *x, int64_t i)
{
	return gt_number_read(x->at, x->type, x->first + i * x->step);
}

static void typed_put(const struct typed *x, int64_t i, double complex value)
{
	gt_number_write(x->at, x->type, x->first + i * x->step, value);
}

/* Counted from 1: the first element whose absolute value is the largest, or the least. */
static int64_t extreme(const struct typed *x, int64_t n, int sign)
{
	int64_t found = 0;
	double best = 0;

	for (int64_t i = 0; i < n; i++) {
		const double complex value = typed_get(x, i);
		const double size = sign * (fabs(creal(value)) + fabs(cimag(value)));
		if (found == 0 || size > best) {
			best = size;
			found = i + 1;
		}
	}
	return found;
}

#define TYPE_OF(R, CX) (sizeof(R) == sizeof(float) ? (CX ? GT_C32 : GT_F32) : CX ? GT_C64 : GT_F64)
#define RESULT(TYPE) *(TYPE *)gt_scalar_of(&call, result, sizeof(TYPE), true)

#define VECTOR_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                              \
	API int cublas##L##axpy_v2##END(void *handle, INT n, const T *alpha, const T *x, INT incx, T *y, INT incy) \
	{                                                                                               \
		ENTER(L, axpy, R, CX, END, alpha, SUMS(CX, n > 0 ? n : 0), n, incx, incy);              \
		cblas_##l##axpy((int)n, FACTOR(F, T, alpha), VECTOR(x, n, incx), TO_VECTOR(y, n, incy)); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##copy_v2##END(void *handle, INT n, const T *x, INT incx, T *y, INT incy)      \
	{                                                                                               \
		ENTER(L, copy, R, CX, END, true, 0, n, incx, incy);                                     \
		cblas_##l##copy((int)n, VECTOR(x, n, incx), TO_VECTOR(y, n, incy));                     \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##swap_v2##END(void *handle, INT n, T *x, INT incx, T *y, INT incy)            \
	{                                                                                               \
		ENTER(L, swap, R, CX, END, true, 0, n, incx, incy);                                     \
		cblas_##l##swap((int)n, TO_VECTOR(x, n, incx), TO_VECTOR(y, n, incy));                  \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##scal_v2##END(void *handle, INT n, const T *alpha, T *x, INT incx)            \
	{                                                                                               \
		ENTER(L, scal, R, CX, END, alpha, (CX ? 6 : 1) * (uint64_t)(n > 0 ? n : 0), n, incx);    \
		n = incx > 0 ? n : 0;                                                                   \
		cblas_##l##scal((int)n, FACTOR(F, T, alpha), TO_VECTOR(x, n, incx));                    \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublasI##l##amax_v2##END(void *handle, INT n, const T *x, INT incx, INT *result)        \
	{                                                                                               \
		ENTER(I, l##amax, R, CX, END, result, 0, n, incx);                                      \
		n = incx > 0 && n > 0 ? n : 0;                                                          \
		RESULT(INT) = n > 0 ? (INT)cblas_i##l##amax((int)n, VECTOR(x, n, incx)) + 1 : 0;        \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublasI##l##amin_v2##END(void *handle, INT n, const T *x, INT incx, INT *result)        \
	{                                                                                               \
		ENTER(I, l##amin, R, CX, END, result, 0, n, incx);                                      \
		n = incx > 0 && n > 0 ? n : 0;                                                          \
		const struct typed from = typed_of(&call, x, TYPE_OF(R, CX), n, incx, false);           \
		RESULT(INT) = (INT)extreme(&from, n, -1);                                               \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##UP##asum_v2##END(void *handle, INT n, const T *x, INT incx, R *result)          \
	{                                                                                               \
		ENTER(UP, asum, R, CX, END, result, (1 + CX) * (uint64_t)(n > 0 ? n : 0), n, incx);      \
		n = incx > 0 && n > 0 ? n : 0;                                                          \
		RESULT(R) = cblas_##low##asum((int)n, VECTOR(x, n, incx));                              \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##UP##nrm2_v2##END(void *handle, INT n, const T *x, INT incx, R *result)          \
	{                                                                                               \
		ENTER(UP, nrm2, R, CX, END, result, (1 + CX) * SUMS(0, n > 0 ? n : 0), n, incx);         \
		n = incx > 0 && n > 0 ? n : 0;                                                          \
		RESULT(R) = cblas_##low##nrm2((int)n, VECTOR(x, n, incx));                              \
		return gt_call_end();                                                                   \
	}
ALL_CALLS(VECTOR_CALLS)

#define REAL_VECTOR_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                         \
	API int cublas##L##dot_v2##END(void *handle, INT n, const T *x, INT incx, const T *y, INT incy, T *result) \
	{                                                                                               \
		ENTER(L, dot, R, CX, END, result, SUMS(CX, n > 0 ? n : 0), n, incx, incy);              \
		RESULT(T) = cblas_##l##dot((int)n, VECTOR(x, n, incx), VECTOR(y, n, incy));             \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##rot_v2##END(void *handle, INT n, T *x, INT incx, T *y, INT incy, const T *c, const T *s) \
	{                                                                                               \
		ENTER(L, rot, R, CX, END, c && s, 6 * (uint64_t)(n > 0 ? n : 0), n, incx, incy);         \
		cblas_##l##rot((int)n, TO_VECTOR(x, n, incx), TO_VECTOR(y, n, incy), FACTOR(F, T, c), FACTOR(F, T, s)); \
		return gt_call_end();                                                                   \
	}
REAL_CALLS(REAL_VECTOR_CALLS)

#define DOT(L, l, NAME, R, INT, END)                                                                    \
	API int cublas##L##NAME##_v2##END(void *handle, INT n, const void *x, INT incx, const void *y, INT incy, void *result) \
	{                                                                                               \
		ENTER(L, NAME, R, 1, END, result, SUMS(1, n > 0 ? n : 0), n, incx, incy);               \
		cblas_##l##NAME##_sub((int)n, VECTOR(x, n, incx), VECTOR(y, n, incy), gt_scalar_of(&call, result, bytes, true)); \
		return gt_call_end();                                                                   \
	}
#define COMPLEX_VECTOR_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                      \
	DOT(L, l, dotu, R, INT, END)                                                                    \
	DOT(L, l, dotc, R, INT, END)
COMPLEX_CALLS(COMPLEX_VECTOR_CALLS)

/* A real factor of complex numbers. */
#define REALLY_SCALED(L, l, R, INT, END)                                                                \
	API int cublas##L##scal_v2##END(void *handle, INT n, const R *alpha, void *x, INT incx)         \
	{                                                                                               \
		ENTER(L, scal, R, 1, END, alpha, SUMS(0, n > 0 ? n : 0), n, incx);                      \
		n = incx > 0 ? n : 0;                                                                   \
		cblas_##l##scal((int)n, REAL_FACTOR(R, alpha), TO_VECTOR(x, n, incx));                  \
		return gt_call_end();                                                                   \
	}
SIZES(REALLY_SCALED, Cs, cs, float)
SIZES(REALLY_SCALED, Zd, zd, double)

/* Givens rotations, plain and modified, and their parameters. */
#define ROTATION_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                            \
	API int cublas##L##rotm_v2##END(void *handle, INT n, T *x, INT incx, T *y, INT incy, const T *param) \
	{                                                                                               \
		ENTER(L, rotm, R, CX, END, param, 6 * (uint64_t)(n > 0 ? n : 0), n, incx, incy);         \
		cblas_##l##rotm((int)n, TO_VECTOR(x, n, incx), TO_VECTOR(y, n, incy), gt_scalar_of(&call, param, 5 * bytes, false)); \
		return gt_call_end();                                                                   \
	}
#define ROTATIONS(L, l, R, INT, END)                                                                    \
	API int cublas##L##rotg_v2##END(void *handle, R *a, R *b, R *c, R *s)                           \
	{                                                                                               \
		ENTER(L, rotg, R, 0, END, a && b && c && s, 0, 0);                                      \
		cblas_##l##rotg(gt_scalar_of(&call, a, bytes, true), gt_scalar_of(&call, b, bytes, true), \
				gt_scalar_of(&call, c, bytes, true), gt_scalar_of(&call, s, bytes, true)); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##rotmg_v2##END(void *handle, R *d1, R *d2, R *x1, const R *y1, R *param)      \
	{                                                                                               \
		ENTER(L, rotmg, R, 0, END, d1 && d2 && x1 && y1 && param, 0, 0);                        \
		cblas_##l##rotmg(gt_scalar_of(&call, d1, bytes, true), gt_scalar_of(&call, d2, bytes, true), \
				 gt_scalar_of(&call, x1, bytes, true), REAL_FACTOR(R, y1), gt_scalar_of(&call, param, 5 * bytes, true)); \
		return gt_call_end();                                                                   \
	}
REAL_CALLS(ROTATION_CALLS)
SIZES(ROTATIONS, S, s, float)
SIZES(ROTATIONS, D, d, double)

/* Vectors of types that the call names, computed in double and rounded once. */

/* Whether all are types of floats. */
static bool float_types(const int *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (gt_element_bytes((enum gt_element)types[i]) == 0 || types[i] == GT_I8 || types[i] == GT_I32 ||
		    gt_is_byte_float((enum gt_element)types[i]))
			return false;
	return true;
}

#define TYPES(...) float_types((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
#define ENTER_TYPED(NAME, END, KNOWN, VALID, FLOPS)                                                     \
	struct gt_call call;                                                                            \
	n = n > 0 ? n : 0;                                                                              \
	(void)execution;                                                                                \
	if (!(KNOWN)) {                                                                                 \
		gt_stub_refuse("cublas" #NAME #END " of these types");                                  \
		return GT_CUBLAS_NOT_SUPPORTED;                                                         \
	}                                                                                               \
	int status = gt_call_begin(&call, "cublas" #NAME #END, handle, VALID, (FLOPS) * (uint64_t)n);    \
	if (status != GT_CUBLAS_SUCCESS)                                                                \
	return status
/* Flops of an element, by whether its type is complex. */
#define OF_TYPE(TYPE, REAL, COMPLEX) (gt_is_complex((enum gt_element)(TYPE)) ? (COMPLEX) : (REAL))
#define SCALAR(AT, TYPE, WRITTEN) gt_scalar_of(&call, AT, gt_element_bytes((enum gt_element)(TYPE)), WRITTEN)

#define TYPED_DOT(NAME, CONJUGATE, INT, END)                                                            \
	API int cublas##NAME##END(void *handle, INT n, const void *x, int of_x, INT incx, const void *y, int of_y, INT incy, void *result, \
				  int of_result, int execution)                                         \
	{                                                                                               \
		double complex sum = 0;                                                                 \
		ENTER_TYPED(NAME, END, TYPES(of_x, of_y, of_result), result, OF_TYPE(of_x, 2, 8));       \
		const struct typed from[2] = {typed_of(&call, x, of_x, n, incx, false), typed_of(&call, y, of_y, n, incy, false)}; \
		for (INT i = 0; i < n; i++)                                                             \
			sum += (CONJUGATE ? conj(typed_get(&from[0], i)) : typed_get(&from[0], i)) * typed_get(&from[1], i); \
		gt_number_write(SCALAR(result, of_result, true), (enum gt_element)of_result, 0, sum);        \
		return gt_call_end();                                                                   \
	}
/* Of one vector into a number: the sum of TERM, and its FINAL. */
#define TYPED_SUM(NAME, TERM, FINAL, FLOPS_EACH, INT, END)                                              \
	API int cublas##NAME##END(void *handle, INT n, const void *x, int of_x, INT incx, void *result, int of_result, int execution) \
	{                                                                                               \
		double sum = 0;                                                                         \
		ENTER_TYPED(NAME, END, TYPES(of_x, of_result), result, OF_TYPE(of_x, FLOPS_EACH, 2 * (FLOPS_EACH))); \
		n = incx > 0 ? n : 0;                                                                   \
		const struct typed from = typed_of(&call, x, of_x, n, incx, false);                     \
		for (INT i = 0; i < n; i++) {                                                           \
			const double complex value = typed_get(&from, i);                               \
			sum += TERM;                                                                    \
		}                                                                                       \
		gt_number_write(SCALAR(result, of_result, true), (enum gt_element)of_result, 0, FINAL);      \
		return gt_call_end();                                                                   \
	}
#define TYPED_VECTORS(INT, END)                                                                         \
	API int cublasAxpyEx##END(void *handle, INT n, const void *alpha, int of_alpha, const void *x, int of_x, INT incx, void *y, int of_y, \
				  INT incy, int execution)                                              \
	{                                                                                               \
		ENTER_TYPED(AxpyEx, END, TYPES(of_alpha, of_x, of_y), alpha, OF_TYPE(of_x, 2, 8)); \
		const double complex by = gt_number_read(SCALAR(alpha, of_alpha, false), (enum gt_element)of_alpha, 0); \
		const struct typed from = typed_of(&call, x, of_x, n, incx, false), to = typed_of(&call, y, of_y, n, incy, true); \
		for (INT i = 0; i < n; i++)                                                             \
			typed_put(&to, i, typed_get(&to, i) + by * typed_get(&from, i));                \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublasScalEx##END(void *handle, INT n, const void *alpha, int of_alpha, void *x, int of_x, INT incx, int execution) \
	{                                                                                               \
		ENTER_TYPED(ScalEx, END, TYPES(of_alpha, of_x), alpha, OF_TYPE(of_x, 1, OF_TYPE(of_alpha, 2, 6))); \
		n = incx > 0 ? n : 0;                                                                   \
		const double complex by = gt_number_read(SCALAR(alpha, of_alpha, false), (enum gt_element)of_alpha, 0); \
		const struct typed to = typed_of(&call, x, of_x, n, incx, true);                        \
		for (INT i = 0; i < n; i++)                                                             \
			typed_put(&to, i, by * typed_get(&to, i));                                      \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublasCopyEx##END(void *handle, INT n, const void *x, int of_x, INT incx, void *y, int of_y, INT incy) \
	{                                                                                               \
		const int execution = 0;                                                                \
		ENTER_TYPED(CopyEx, END, TYPES(of_x) && of_x == of_y, true, 0);                         \
		const struct typed from = typed_of(&call, x, of_x, n, incx, false), to = typed_of(&call, y, of_y, n, incy, true); \
		for (INT i = 0; i < n; i++)                                                             \
			typed_put(&to, i, typed_get(&from, i));                                         \
		return gt_call_end();                                                                   \
	}                                                                                               \
	TYPED_DOT(DotEx, false, INT, END)                                                               \
	TYPED_DOT(DotcEx, true, INT, END)                                                               \
	TYPED_SUM(Nrm2Ex, creal(value) * creal(value) + cimag(value) * cimag(value), sqrt(sum), 2, INT, END) \
	TYPED_SUM(AsumEx, fabs(creal(value)) + fabs(cimag(value)), sum, 1, INT, END)
TYPED_VECTORS(int, )
TYPED_VECTORS(int64_t, _64)

/* x = c x + s y and y = c y - conj(s) x, of two vectors in turn. */
static void rotate(const struct typed *x, const struct typed *y, int64_t n, double complex c, double complex s)
{
	for (int64_t i = 0; i < n; i++) {
		const double complex of_x = typed_get(x, i), of_y = typed_get(y, i);
		typed_put(x, i, c * of_x + s * of_y);
		typed_put(y, i, c * of_y - conj(s) * of_x);
	}
}

/* What a call is given: a vector, or a factor. */
struct operand {
	const void *at;
	int type;
	int64_t step;
};

/* Of x, y, c and s. */
static int rotate_vectors(const char *name, void *handle, int64_t n, const struct operand of[4])
{
	struct gt_call call;

	n = n > 0 ? n : 0;
	const uint64_t flops = OF_TYPE(of[0].type, 6, OF_TYPE(of[3].type, 12, 20));
	int status = gt_call_begin(&call, name, handle, of[2].at && of[3].at, flops * (uint64_t)n);
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	const struct typed x = typed_of(&call, of[0].at, of[0].type, n, of[0].step, true), y = typed_of(&call, of[1].at, of[1].type, n, of[1].step, true);
	const double complex c = gt_number_read(SCALAR(of[2].at, of[2].type, false), (enum gt_element)of[2].type, 0);
	rotate(&x, &y, n, c, gt_number_read(SCALAR(of[3].at, of[3].type, false), (enum gt_element)of[3].type, 0));
	return gt_call_end();
}

/* A rotation that makes (r, 0) of (a, b): c is real. Returns r. */
static double complex rotation_of(double complex a, double complex b, double *c, double complex *s)
{
	const double size_a = cabs(a), size = hypot(size_a, cabs(b));

	if (size_a == 0) {
		*c = 0;
		*s = 1;
		return b;
	}
	*c = size_a / size;
	*s = a / size_a * conj(b) / size;
	return a / size_a * size;
}

#define TYPED_EXTREME(NAME, SIGN, INT, END)                                                             \
	API int cublas##NAME##END(void *handle, INT n, const void *x, int of_x, INT incx, INT *result)  \
	{                                                                                               \
		const int execution = 0;                                                                \
		ENTER_TYPED(NAME, END, TYPES(of_x), result, 0);                                         \
		const struct typed from = typed_of(&call, x, of_x, incx > 0 ? n : 0, incx, false);      \
		RESULT(INT) = (INT)extreme(&from, incx > 0 ? n : 0, SIGN);                              \
		return gt_call_end();                                                                   \
	}
#define TYPED_PAIRS(INT, END)                                                                           \
	API int cublasRotEx##END(void *handle, INT n, void *x, int of_x, INT incx, void *y, int of_y, INT incy, const void *c, const void *s, \
				 int of_factors, int execution)                                         \
	{                                                                                               \
		(void)execution;                                                                        \
		if (!TYPES(of_x, of_y, of_factors)) {                                                   \
			gt_stub_refuse("cublasRotEx" #END " of these types");                           \
			return GT_CUBLAS_NOT_SUPPORTED;                                                 \
		}                                                                                       \
		return rotate_vectors("cublasRotEx" #END, handle, n, (struct operand[]){{x, of_x, incx}, {y, of_y, incy}, {c, of_factors, 0}, {s, of_factors, 0}}); \
	}                                                                                               \
	API int cublasSwapEx##END(void *handle, INT n, void *x, int of_x, INT incx, void *y, int of_y, INT incy) \
	{                                                                                               \
		const int execution = 0;                                                                \
		ENTER_TYPED(SwapEx, END, TYPES(of_x) && of_x == of_y, true, 0);                         \
		const struct typed from[2] = {typed_of(&call, x, of_x, n, incx, true), typed_of(&call, y, of_y, n, incy, true)}; \
		for (INT i = 0; i < n; i++) {                                                           \
			const double complex old = typed_get(&from[0], i);                              \
			typed_put(&from[0], i, typed_get(&from[1], i));                                 \
			typed_put(&from[1], i, old);                                                    \
		}                                                                                       \
		return gt_call_end();                                                                   \
	}                                                                                               \
	TYPED_EXTREME(IamaxEx, 1, INT, END)                                                             \
	TYPED_EXTREME(IaminEx, -1, INT, END)
TYPED_PAIRS(int, )
TYPED_PAIRS(int64_t, _64)

/* Rotations of complex vectors: c is real, and s a number of type S. */
#define COMPLEX_ROTATION(L, X, C, S, INT, END)                                                          \
	API int cublas##L##_v2##END(void *handle, INT n, void *x, INT incx, void *y, INT incy, const void *c, const void *s) \
	{                                                                                               \
		return rotate_vectors("cublas" #L "_v2" #END, handle, n, (struct operand[]){{x, X, incx}, {y, X, incy}, {c, C, 0}, {s, S, 0}}); \
	}
SIZES(COMPLEX_ROTATION, Crot, GT_C32, GT_F32, GT_C32)
SIZES(COMPLEX_ROTATION, Zrot, GT_C64, GT_F64, GT_C64)
SIZES(COMPLEX_ROTATION, Csrot, GT_C32, GT_F32, GT_F32)
SIZES(COMPLEX_ROTATION, Zdrot, GT_C64, GT_F64, GT_F64)

/* The rotation of two complex numbers of a type, whose c is of the type of its parts. */
static int make_rotation(const char *name, void *handle, enum gt_element type, void *a, const void *b, void *c, void *s)
{
	const enum gt_element part = type == GT_C64 ? GT_F64 : GT_F32;
	double complex of_s;
	double of_c;
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, a && b && c && s, 0);

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	void *const to = SCALAR(a, type, true);
	const double complex r = rotation_of(gt_number_read(to, type, 0), gt_number_read(SCALAR(b, type, false), type, 0), &of_c, &of_s);
	gt_number_write(to, type, 0, r);
	gt_number_write(SCALAR(s, type, true), type, 0, of_s);
	gt_number_write(SCALAR(c, part, true), part, 0, of_c);
	return gt_call_end();
}

API int cublasCrotg_v2(void *handle, void *a, const void *b, void *c, void *s)
{
	return make_rotation("cublasCrotg_v2", handle, GT_C32, a, b, c, s);
}

API int cublasZrotg_v2(void *handle, void *a, const void *b, void *c, void *s)
{
	return make_rotation("cublasZrotg_v2", handle, GT_C64, a, b, c, s);
}

/* ---- a matrix and vectors ---- */

#define COLUMN_VALID (n >= 0 && gt_is_flag(uplo) && gt_is_operation(operation) && gt_is_flag(diag) && gt_leads(lda, n) && incx != 0)

#define MATRIX_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                              \
	API int cublas##L##gemv_v2##END(void *handle, int operation, INT m, INT n, const T *alpha, const T *a, INT lda, const T *x, \
					INT incx, const T *beta, T *y, INT incy)                        \
	{                                                                                               \
		const bool turned = operation != GT_CUBLAS_N;                                           \
		ENTER(L, gemv, R, CX, END, gt_is_operation(operation) && n >= 0 && gt_leads(lda, m) && incx != 0 && incy != 0 && alpha && beta, \
		      SUMS(CX, (uint64_t)m * (uint64_t)n), m, n, lda, incx, incy);                      \
		if (m > 0 && n > 0)                                                                     \
			cblas_##l##gemv(CblasColMajor, OPERATION(operation), (int)m, (int)n, FACTOR(F, T, alpha), MATRIX(a, m, n, lda), \
					VECTOR(x, turned ? m : n, incx), FACTOR(F, T, beta), TO_VECTOR(y, turned ? n : m, incy)); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##trmv_v2##END(void *handle, int uplo, int operation, int diag, INT n, const T *a, INT lda, T *x, INT incx) \
	{                                                                                               \
		ENTER(L, trmv, R, CX, END, COLUMN_VALID, SUMS(CX, n) * (uint64_t)n / 2, n, lda, incx);   \
		cblas_##l##trmv(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)n, MATRIX(a, n, n, lda), \
				TO_VECTOR(x, n, incx));                                                 \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##trsv_v2##END(void *handle, int uplo, int operation, int diag, INT n, const T *a, INT lda, T *x, INT incx) \
	{                                                                                               \
		ENTER(L, trsv, R, CX, END, COLUMN_VALID, SUMS(CX, n) * (uint64_t)n / 2, n, lda, incx);   \
		cblas_##l##trsv(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)n, MATRIX(a, n, n, lda), \
				TO_VECTOR(x, n, incx));                                                 \
		return gt_call_end();                                                                   \
	}
ALL_CALLS(MATRIX_CALLS)

/* With a matrix of which one triangle is stored. */
#define HALF_TIMES_VECTOR(L, l, NAME, T, R, CX, F, INT, END)                                            \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *a, INT lda, const T *x, INT incx, \
					  const T *beta, T *y, INT incy)                                \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && incy != 0 && alpha && beta, \
		      SUMS(CX, n) * (uint64_t)n, n, lda, incx, incy);                                   \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, FACTOR(F, T, alpha), MATRIX(a, n, n, lda), VECTOR(x, n, incx), \
				FACTOR(F, T, beta), TO_VECTOR(y, n, incy));                             \
		return gt_call_end();                                                                   \
	}
#define TWO_VECTORS(L, l, NAME, T, R, CX, F, INT, END)                                                  \
	API int cublas##L##NAME##_v2##END(void *handle, INT m, INT n, const T *alpha, const T *x, INT incx, const T *y, INT incy, T *a, \
					  INT lda)                                                      \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, n >= 0 && gt_leads(lda, m) && incx != 0 && incy != 0 && alpha, \
		      SUMS(CX, (uint64_t)m * (uint64_t)n), m, n, incx, incy, lda);                      \
		if (m > 0 && n > 0)                                                                     \
			cblas_##l##NAME(CblasColMajor, (int)m, (int)n, FACTOR(F, T, alpha), VECTOR(x, m, incx), VECTOR(y, n, incy), \
					TO_MATRIX(a, m, n, lda));                                       \
		return gt_call_end();                                                                   \
	}
/* The factor is real: R of symmetric matrices, and of Hermitian ones. */
#define ONE_VECTOR(L, l, NAME, T, R, CX, INT, END)                                                      \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const R *alpha, const T *x, INT incx, T *a, INT lda) \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && alpha, SUMS(CX, n) * (uint64_t)n / 2, \
		      n, incx, lda);                                                                    \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, REAL_FACTOR(R, alpha), VECTOR(x, n, incx), TO_MATRIX(a, n, n, lda)); \
		return gt_call_end();                                                                   \
	}
#define REAL_MATRIX_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                         \
	HALF_TIMES_VECTOR(L, l, symv, T, R, CX, F, INT, END)                                            \
	TWO_VECTORS(L, l, ger, T, R, CX, F, INT, END)                                                   \
	ONE_VECTOR(L, l, syr, T, R, CX, INT, END)
#define COMPLEX_MATRIX_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                      \
	HALF_TIMES_VECTOR(L, l, hemv, T, R, CX, F, INT, END)                                            \
	TWO_VECTORS(L, l, geru, T, R, CX, F, INT, END)                                                  \
	TWO_VECTORS(L, l, gerc, T, R, CX, F, INT, END)                                                  \
	ONE_VECTOR(L, l, her, T, R, CX, INT, END)
REAL_CALLS(REAL_MATRIX_CALLS)
COMPLEX_CALLS(COMPLEX_MATRIX_CALLS)

/* An update of a triangle by two vectors; Hermitian ones have another name. */
#define UPDATE_BY_TWO(L, l, NAME, T, R, CX, F, INT, END)                                                \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *x, INT incx, const T *y, INT incy, T *a, \
					  INT lda)                                                      \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && incy != 0 && alpha, \
		      SUMS(CX, n) * (uint64_t)n, n, incx, incy, lda);                                   \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, FACTOR(F, T, alpha), VECTOR(x, n, incx), VECTOR(y, n, incy), \
				TO_MATRIX(a, n, n, lda));                                               \
		return gt_call_end();                                                                   \
	}

/* ---- the same of matrices of which a band is stored, or a triangle without gaps ---- */

#define PACKED(AT, WRITTEN) gt_vector_of(&call, AT, bytes, (int64_t)n * ((int64_t)n + 1) / 2, 1, WRITTEN)
#define PACKED_VALID	    (n >= 0 && gt_is_flag(uplo) && incx != 0)
#define TRIANGLE_KIND_VALID (PACKED_VALID && gt_is_operation(operation) && gt_is_flag(diag))

#define BAND_TIMES_VECTOR(L, l, NAME, T, R, CX, F, INT, END)                                            \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, INT k, const T *alpha, const T *a, INT lda, const T *x, INT incx, \
					  const T *beta, T *y, INT incy)                                \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, PACKED_VALID && incy != 0 && k >= 0 && lda > k && alpha && beta, \
		      SUMS(CX, n) * (2 * (uint64_t)k + 1), n, k, lda, incx, incy);                      \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, (int)k, FACTOR(F, T, alpha), MATRIX(a, k + 1, n, lda), \
				VECTOR(x, n, incx), FACTOR(F, T, beta), TO_VECTOR(y, n, incy));         \
		return gt_call_end();                                                                   \
	}
#define PACKED_TIMES_VECTOR(L, l, NAME, T, R, CX, F, INT, END)                                          \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *a, const T *x, INT incx, const T *beta, \
					  T *y, INT incy)                                               \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, PACKED_VALID && incy != 0 && alpha && beta, SUMS(CX, n) * (uint64_t)n, n, incx, incy); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, FACTOR(F, T, alpha), PACKED(a, false), VECTOR(x, n, incx), \
				FACTOR(F, T, beta), TO_VECTOR(y, n, incy));                             \
		return gt_call_end();                                                                   \
	}
#define PACKED_BY_ONE(L, l, NAME, T, R, CX, INT, END)                                                   \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const R *alpha, const T *x, INT incx, T *a) \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, PACKED_VALID && alpha, SUMS(CX, n) * (uint64_t)n / 2, n, incx); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, REAL_FACTOR(R, alpha), VECTOR(x, n, incx), PACKED(a, true)); \
		return gt_call_end();                                                                   \
	}
#define PACKED_BY_TWO(L, l, NAME, T, R, CX, F, INT, END)                                                \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, INT n, const T *alpha, const T *x, INT incx, const T *y, INT incy, T *a) \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, PACKED_VALID && incy != 0 && alpha, SUMS(CX, n) * (uint64_t)n, n, incx, incy); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), (int)n, FACTOR(F, T, alpha), VECTOR(x, n, incx), VECTOR(y, n, incy), \
				PACKED(a, true));                                                       \
		return gt_call_end();                                                                   \
	}
#define BAND_TRIANGLE(L, l, NAME, T, R, CX, INT, END)                                                   \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, int operation, int diag, INT n, INT k, const T *a, INT lda, T *x, INT incx) \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, TRIANGLE_KIND_VALID && k >= 0 && lda > k, SUMS(CX, n) * ((uint64_t)k + 1), n, k, lda, incx); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)n, (int)k, MATRIX(a, k + 1, n, lda), \
				TO_VECTOR(x, n, incx));                                                 \
		return gt_call_end();                                                                   \
	}
#define PACKED_TRIANGLE(L, l, NAME, T, R, CX, INT, END)                                                 \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, int operation, int diag, INT n, const T *a, T *x, INT incx) \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, TRIANGLE_KIND_VALID, SUMS(CX, n) * (uint64_t)n / 2, n, incx); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)n, PACKED(a, false), \
				TO_VECTOR(x, n, incx));                                                 \
		return gt_call_end();                                                                   \
	}
#define BAND_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                                \
	API int cublas##L##gbmv_v2##END(void *handle, int operation, INT m, INT n, INT kl, INT ku, const T *alpha, const T *a, INT lda, \
					const T *x, INT incx, const T *beta, T *y, INT incy)            \
	{                                                                                               \
		const bool turned = operation != GT_CUBLAS_N;                                           \
		ENTER(L, gbmv, R, CX, END,                                                              \
		      gt_is_operation(operation) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && lda - kl > ku && incx != 0 && incy != 0 && alpha && \
			      beta,                                                                     \
		      SUMS(CX, n) * ((uint64_t)kl + (uint64_t)ku + 1), m, n, kl, ku, lda, incx, incy);  \
		if (m > 0 && n > 0)                                                                     \
			cblas_##l##gbmv(CblasColMajor, OPERATION(operation), (int)m, (int)n, (int)kl, (int)ku, FACTOR(F, T, alpha), \
					MATRIX(a, kl + ku + 1, n, lda), VECTOR(x, turned ? m : n, incx), FACTOR(F, T, beta), \
					TO_VECTOR(y, turned ? n : m, incy));                            \
		return gt_call_end();                                                                   \
	}                                                                                               \
	BAND_TRIANGLE(L, l, tbmv, T, R, CX, INT, END)                                                   \
	BAND_TRIANGLE(L, l, tbsv, T, R, CX, INT, END)                                                   \
	PACKED_TRIANGLE(L, l, tpmv, T, R, CX, INT, END)                                                 \
	PACKED_TRIANGLE(L, l, tpsv, T, R, CX, INT, END)
/* Calls of symmetric and of Hermitian matrices: SY begins the names of those of a whole matrix, S of the others. */
#define SYMMETRIC_BAND_CALLS(SY, S, L, l, T, R, CX, F, INT, END)                                        \
	UPDATE_BY_TWO(L, l, SY##r2, T, R, CX, F, INT, END)                                              \
	BAND_TIMES_VECTOR(L, l, S##bmv, T, R, CX, F, INT, END)                                          \
	PACKED_TIMES_VECTOR(L, l, S##pmv, T, R, CX, F, INT, END)                                        \
	PACKED_BY_ONE(L, l, S##pr, T, R, CX, INT, END)                                                  \
	PACKED_BY_TWO(L, l, S##pr2, T, R, CX, F, INT, END)
#define REAL_BAND_CALLS(L, l, UP, low, T, R, CX, F, INT, END)	 SYMMETRIC_BAND_CALLS(sy, s, L, l, T, R, CX, F, INT, END)
#define COMPLEX_BAND_CALLS(L, l, UP, low, T, R, CX, F, INT, END) SYMMETRIC_BAND_CALLS(he, h, L, l, T, R, CX, F, INT, END)
ALL_CALLS(BAND_CALLS)
REAL_CALLS(REAL_BAND_CALLS)
COMPLEX_CALLS(COMPLEX_BAND_CALLS)

/* ---- matrices of which one triangle is stored ---- */

#define SIDE_VALID	 (gt_is_flag(side) && gt_is_flag(uplo) && n >= 0 && gt_leads(ldb, m) && gt_leads(lda, order) && alpha)
#define TRIANGLE_VALID	 (SIDE_VALID && gt_is_operation(operation) && gt_is_flag(diag))
#define SQUARE_SUMS(CX)	 SUMS(CX, (uint64_t)m * (uint64_t)n * (uint64_t)order)
#define HALF_TIMES_MATRIX(L, l, NAME, T, R, CX, F, INT, END)                                            \
	API int cublas##L##NAME##_v2##END(void *handle, int side, int uplo, INT m, INT n, const T *alpha, const T *a, INT lda, \
					  const T *b, INT ldb, const T *beta, T *c, INT ldc)            \
	{                                                                                               \
		const INT order = side == GT_CUBLAS_RIGHT ? n : m;                                      \
		ENTER(L, NAME, R, CX, END, SIDE_VALID && gt_leads(ldc, m) && beta, SQUARE_SUMS(CX), m, n, lda, ldb, ldc); \
		if (m > 0 && n > 0)                                                                     \
			cblas_##l##NAME(CblasColMajor, SIDE(side), TRIANGLE(uplo), (int)m, (int)n, FACTOR(F, T, alpha), \
					MATRIX(a, order, order, lda), MATRIX(b, m, n, ldb), FACTOR(F, T, beta), TO_MATRIX(c, m, n, ldc)); \
		return gt_call_end();                                                                   \
	}

static void copy_columns(void *to, int64_t to_leading, const void *from, int64_t from_leading, int64_t m, int64_t n, uint64_t bytes)
{
	for (int64_t j = 0; to != from && m > 0 && j < n; j++)
		memmove(gt_elements_on(to, bytes, j * to_leading), gt_elements_on(from, bytes, j * from_leading), (uint64_t)m * bytes);
}

/* trmm of cuBLAS has a place of its own for the result. */
#define TRIANGLE_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                            \
	HALF_TIMES_MATRIX(L, l, symm, T, R, CX, F, INT, END)                                            \
	API int cublas##L##trmm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha, \
					const T *a, INT lda, const T *b, INT ldb, T *c, INT ldc)        \
	{                                                                                               \
		const INT order = side == GT_CUBLAS_RIGHT ? n : m;                                      \
		ENTER(L, trmm, R, CX, END, TRIANGLE_VALID && gt_leads(ldc, m), SQUARE_SUMS(CX) / 2, m, n, lda, ldb, ldc); \
		void *to = gt_matrix_of(&call, c, bytes, m, n, ldc, true);                              \
		copy_columns(to, ldc, gt_matrix_of(&call, b, bytes, m, n, ldb, false), ldb, m, n, bytes); \
		cblas_##l##trmm(CblasColMajor, SIDE(side), TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)m, (int)n, \
				FACTOR(F, T, alpha), MATRIX(a, order, order, lda), to, (int)ldc);       \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##trsm_v2##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha, \
					const T *a, INT lda, T *b, INT ldb)                             \
	{                                                                                               \
		const INT order = side == GT_CUBLAS_RIGHT ? n : m;                                      \
		ENTER(L, trsm, R, CX, END, TRIANGLE_VALID, SQUARE_SUMS(CX) / 2, m, n, lda, ldb);        \
		cblas_##l##trsm(CblasColMajor, SIDE(side), TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)m, (int)n, \
				FACTOR(F, T, alpha), MATRIX(a, order, order, lda), TO_MATRIX(b, m, n, ldb)); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##trsmBatched##END(void *handle, int side, int uplo, int operation, int diag, INT m, INT n, const T *alpha, \
					    const T *const *a, INT lda, T *const *b, INT ldb, INT batches) \
	{                                                                                               \
		const INT order = side == GT_CUBLAS_RIGHT ? n : m;                                      \
		ENTER(L, trsmBatched, R, CX, END, TRIANGLE_VALID && batches >= 0, (uint64_t)batches * (SQUARE_SUMS(CX) / 2), m, n, lda, \
		      ldb, batches);                                                                    \
		for (INT i = 0; i < batches; i++)                                                       \
			cblas_##l##trsm(CblasColMajor, SIDE(side), TRIANGLE(uplo), OPERATION(operation), DIAGONAL(diag), (int)m, (int)n, \
					FACTOR(F, T, alpha), MATRIX(gt_address_of(&call, a + i), order, order, lda), \
					TO_MATRIX(gt_address_of(&call, b + i), m, n, ldb));                   \
		return gt_call_end();                                                                   \
	}

ALL_CALLS(TRIANGLE_CALLS)

#define HERMITIAN_TIMES_MATRIX(L, l, UP, low, T, R, CX, F, INT, END) HALF_TIMES_MATRIX(L, l, hemm, T, R, CX, F, INT, END)
COMPLEX_CALLS(HERMITIAN_TIMES_MATRIX)

/* ---- updates of a triangle ---- */

/* The transposed operation of a symmetric update; a complex one has no conjugate. */
#define SYMMETRIC(CX)  (operation == GT_CUBLAS_N || operation == GT_CUBLAS_T || (!(CX) && operation == GT_CUBLAS_C))
#define HERMITIAN(CX)  (operation == GT_CUBLAS_N || operation == GT_CUBLAS_C)
#define ROWS	       (operation == GT_CUBLAS_N ? n : k)
#define COLUMNS	       (operation == GT_CUBLAS_N ? k : n)
#define UPDATE_VALID(KIND, CX) \
	(KIND(CX) && gt_is_flag(uplo) && n >= 0 && k >= 0 && gt_leads(lda, ROWS) && gt_leads(ldc, n) && alpha && beta)

/* A and B: types of alpha and beta, and how CBLAS takes them. */
#define RANK_K(L, l, NAME, KIND, T, R, CX, A, FA, INT, END)                                             \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, int operation, INT n, INT k, const A *alpha, const T *a, INT lda, \
					  const A *beta, T *c, INT ldc)                                 \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, UPDATE_VALID(KIND, CX), SUMS(CX, n) * (uint64_t)n * (uint64_t)k / 2, n, k, lda, ldc); \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), (int)n, (int)k, FACTOR(FA, A, alpha), \
				MATRIX(a, ROWS, COLUMNS, lda), FACTOR(FA, A, beta), TO_MATRIX(c, n, n, ldc)); \
		return gt_call_end();                                                                   \
	}
#define RANK_2K(L, l, NAME, KIND, T, R, CX, F, B, FB, INT, END)                                         \
	API int cublas##L##NAME##_v2##END(void *handle, int uplo, int operation, INT n, INT k, const T *alpha, const T *a, INT lda, \
					  const T *b, INT ldb, const B *beta, T *c, INT ldc)            \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, UPDATE_VALID(KIND, CX) && gt_leads(ldb, ROWS), SUMS(CX, n) * (uint64_t)n * (uint64_t)k, n, k, \
		      lda, ldb, ldc);                                                                   \
		cblas_##l##NAME(CblasColMajor, TRIANGLE(uplo), OPERATION(operation), (int)n, (int)k, FACTOR(F, T, alpha), \
				MATRIX(a, ROWS, COLUMNS, lda), MATRIX(b, ROWS, COLUMNS, ldb), FACTOR(FB, B, beta), \
				TO_MATRIX(c, n, n, ldc));                                               \
		return gt_call_end();                                                                   \
	}

/* A triangle of a b^T, or of a b^H, column by column. `at`: a, b and c, where they lie in this process. */
static void update_by_two(enum gt_element type, int uplo, int operation, bool hermitian, int64_t n, int64_t k, const void *alpha,
			  const void *const at[2], const int64_t leading[3], const void *beta, void *c)
{
	const bool turned = operation != GT_CUBLAS_N;
	const int across = hermitian ? GT_CUBLAS_C : GT_CUBLAS_T;
	const uint64_t bytes = gt_element_bytes(type), part = bytes / 2;

	for (int64_t j = 0; j < n; j++) {
		const int64_t first = uplo == GT_CUBLAS_LOWER ? j : 0, rows = uplo == GT_CUBLAS_LOWER ? n - j : j + 1;
		const struct gt_gemm gemm = {{turned ? across : GT_CUBLAS_N, turned ? GT_CUBLAS_N : across}, rows, 1, k,
					     {leading[0], leading[1], leading[2]}, {type, type, type}, type};
		gt_gemm_run(&gemm, alpha, gt_elements_on(at[0], bytes, turned ? first * leading[0] : first),
			    gt_elements_on(at[1], bytes, turned ? j * leading[1] : j), beta, gt_elements_on(c, bytes, j * leading[2] + first));
		if (hermitian)
			memset((char *)gt_elements_on(c, bytes, j * leading[2] + j) + part, 0, part);
	}
}

/* Of a Hermitian update beta is real. */
#define BY_TWO(L, NAME, KIND, IS_HERMITIAN, T, R, CX, B, INT, END)                                      \
	API int cublas##L##NAME##END(void *handle, int uplo, int operation, INT n, INT k, const T *alpha, const T *a, INT lda, \
				     const T *b, INT ldb, const B *beta, T *c, INT ldc)                 \
	{                                                                                               \
		ENTER(L, NAME, R, CX, END, UPDATE_VALID(KIND, CX) && gt_leads(ldb, ROWS), SUMS(CX, n) * (uint64_t)n * (uint64_t)k / 2, n, \
		      k, lda, ldb, ldc);                                                                \
		const void *const at[2] = {gt_matrix_of(&call, a, bytes, ROWS, COLUMNS, lda, false),    \
					   gt_matrix_of(&call, b, bytes, ROWS, COLUMNS, ldb, false)};   \
		const void *old = gt_scalar_of(&call, beta, IS_HERMITIAN ? sizeof(R) : bytes, false);   \
		const R real[2] = {*(const R *)old, 0};                                                 \
		update_by_two(TYPE_OF(R, CX), uplo, operation, IS_HERMITIAN, n, \
			      k, gt_scalar_of(&call, alpha, bytes, false), at, (const int64_t[]){lda, ldb, ldc}, \
			      IS_HERMITIAN ? real : old, gt_matrix_of(&call, c, bytes, n, n, ldc, true)); \
		return gt_call_end();                                                                   \
	}
#define SYMMETRIC_UPDATES(L, l, UP, low, T, R, CX, F, INT, END)                                         \
	RANK_K(L, l, syrk, SYMMETRIC, T, R, CX, T, F, INT, END)                                         \
	RANK_2K(L, l, syr2k, SYMMETRIC, T, R, CX, F, T, F, INT, END)                                    \
	BY_TWO(L, syrkx, SYMMETRIC, false, T, R, CX, T, INT, END)
#define HERMITIAN_UPDATES(L, l, UP, low, T, R, CX, F, INT, END)                                         \
	RANK_K(L, l, herk, HERMITIAN, T, R, CX, R, VALUE, INT, END)                                     \
	RANK_2K(L, l, her2k, HERMITIAN, T, R, CX, F, R, VALUE, INT, END)                                \
	BY_TWO(L, herkx, HERMITIAN, true, T, R, CX, R, INT, END)
ALL_CALLS(SYMMETRIC_UPDATES)
COMPLEX_CALLS(HERMITIAN_UPDATES)

/* ---- sums of two matrices, and products with a diagonal one ---- */

#define DIAGONAL_CALLS(L, l, UP, low, T, R, CX, F, INT, END)                                            \
	API int cublas##L##dgmm##END(void *handle, int side, INT m, INT n, const T *a, INT lda, const T *x, INT incx, T *c, INT ldc) \
	{                                                                                               \
		const bool left = side == GT_CUBLAS_LEFT;                                               \
		const INT order = left ? m : n, each = left ? n : m;                                    \
		ENTER(L, dgmm, R, CX, END, gt_is_flag(side) && n >= 0 && gt_leads(lda, m) && gt_leads(ldc, m) && incx != 0, \
		      (CX ? 6 : 1) * (uint64_t)m * (uint64_t)n, m, n, lda, incx, ldc);                  \
		void *from = gt_matrix_of(&call, a, bytes, m, n, lda, false), *to = gt_matrix_of(&call, c, bytes, m, n, ldc, true); \
		const void *by = gt_vector_of(&call, x, bytes, order, incx, false);                     \
		copy_columns(to, ldc, from, lda, m, n, bytes);                                          \
		for (INT i = 0; each > 0 && i < order; i++)                                             \
			cblas_##l##scal((int)each, F(T, element_of(by, bytes, order, incx, i)), gt_elements_on(to, bytes, left ? i : i * (int64_t)ldc), \
					left ? (int)ldc : 1);                                           \
		return gt_call_end();                                                                   \
	}
ALL_CALLS(DIAGONAL_CALLS)

/* c = alpha op(a) + beta op(b); a matrix whose factor is 0 is not read, and may be nowhere. Either may lie where c does. */
#define SUM_CALLS(L, V, R, CX, CONJUGATE, INT, END)                                                     \
	API int cublas##L##geam##END(void *handle, int ta, int tb, INT m, INT n, const V *alpha, const V *a, INT lda, const V *beta, \
				     const V *b, INT ldb, V *c, INT ldc)                                \
	{                                                                                               \
		const bool a_turned = ta != GT_CUBLAS_N, b_turned = tb != GT_CUBLAS_N;                  \
		ENTER(L, geam, R, CX, END,                                                              \
		      gt_is_operation(ta) && gt_is_operation(tb) && m >= 0 && n >= 0 && gt_leads(lda, a_turned ? n : m) && \
			      gt_leads(ldb, b_turned ? n : m) && gt_leads(ldc, m) && alpha && beta,     \
		      (CX ? 14 : 3) * (uint64_t)m * (uint64_t)n, m, n, lda, ldb, ldc);                              \
		const V by[2] = {REAL_FACTOR(V, alpha), REAL_FACTOR(V, beta)};                          \
		const V *from[2] = {NULL, NULL};                                                        \
		if (by[0] != 0)                                                                         \
			from[0] = gt_matrix_of(&call, a, bytes, a_turned ? n : m, a_turned ? m : n, lda, false); \
		if (by[1] != 0)                                                                         \
			from[1] = gt_matrix_of(&call, b, bytes, b_turned ? n : m, b_turned ? m : n, ldb, false); \
		V *to = gt_matrix_of(&call, c, bytes, m, n, ldc, true);                                 \
		for (int64_t j = 0; j < n; j++)                                                         \
			for (int64_t i = 0; i < m; i++)                                                 \
				to[j * ldc + i] = (from[0] ? by[0] * CONJUGATE(ta, from[0][a_turned ? i * lda + j : j * lda + i]) : 0) + \
						  (from[1] ? by[1] * CONJUGATE(tb, from[1][b_turned ? i * ldb + j : j * ldb + i]) : 0); \
		return gt_call_end();                                                                   \
	}
#define AS_IT_IS(OPERATION, X)		 (X)
#define CONJUGATED_F32(OPERATION, X)	 ((OPERATION) == GT_CUBLAS_C ? conjf(X) : (X))
#define CONJUGATED_F64(OPERATION, X)	 ((OPERATION) == GT_CUBLAS_C ? conj(X) : (X))
SIZES(SUM_CALLS, S, float, float, 0, AS_IT_IS)
SIZES(SUM_CALLS, D, double, double, 0, AS_IT_IS)
SIZES(SUM_CALLS, C, float complex, float, 1, CONJUGATED_F32)
SIZES(SUM_CALLS, Z, double complex, double, 1, CONJUGATED_F64)

/* ---- symmetric matrices of complex numbers, which CBLAS has not ---- */

/* Element (i, j) of a matrix of which one triangle is stored. */
static double complex symmetric_get(const void *a, enum gt_element type, int64_t leading, int uplo, int64_t i, int64_t j)
{
	return gt_number_read(a, type, (i >= j) == (uplo == GT_CUBLAS_LOWER) ? j * leading + i : i * leading + j);
}

/* y = alpha a x + beta y */
static void symv(int64_t n, int uplo, double complex alpha, const void *a, int64_t leading, const struct typed *x, double complex beta, const struct typed *y)
{
	for (int64_t i = 0; i < n; i++) {
		double complex sum = 0;
		for (int64_t j = 0; alpha != 0 && j < n; j++)
			sum += symmetric_get(a, x->type, leading, uplo, i, j) * typed_get(x, j);
		typed_put(y, i, alpha * sum + (beta != 0 ? beta * typed_get(y, i) : 0));
	}
}

/* a += alpha (x y^T), and of two vectors also alpha (y x^T), in its triangle. */
static void syr(int64_t n, int uplo, double complex alpha, const struct typed *x, const struct typed *y, bool both, void *a, int64_t leading)
{
	for (int64_t j = 0; alpha != 0 && j < n; j++)
		for (int64_t i = uplo == GT_CUBLAS_LOWER ? j : 0; i < (uplo == GT_CUBLAS_LOWER ? n : j + 1); i++) {
			const double complex turned = both ? typed_get(y, i) * typed_get(x, j) : 0;
			const double complex sum = typed_get(x, i) * typed_get(y, j) + turned;
			gt_number_write(a, x->type, j * leading + i, gt_number_read(a, x->type, j * leading + i) + alpha * sum);
		}
}

#define VECTOR_OF(AT, INC, WRITTEN)    typed_of(&call, AT, type, n, INC, WRITTEN)
#define NUMBER(AT)		       gt_number_read(gt_scalar_of(&call, AT, bytes, false), type, 0)
#define COMPLEX_SYMMETRIC(L, TYPE, R, INT, END)                                                         \
	API int cublas##L##symv_v2##END(void *handle, int uplo, INT n, const void *alpha, const void *a, INT lda, const void *x, INT incx, \
					const void *beta, void *y, INT incy)                            \
	{                                                                                               \
		const enum gt_element type = TYPE;                                                      \
		ENTER(L, symv, R, 1, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && incy != 0 && alpha && beta, \
		      SUMS(1, n) * (uint64_t)n, n, lda, incx, incy);                                    \
		const struct typed from = VECTOR_OF(x, incx, false), to = VECTOR_OF(y, incy, true);     \
		symv(n, uplo, NUMBER(alpha), gt_matrix_of(&call, a, bytes, n, n, lda, false), lda, &from, NUMBER(beta), &to); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##syr_v2##END(void *handle, int uplo, INT n, const void *alpha, const void *x, INT incx, void *a, INT lda) \
	{                                                                                               \
		const enum gt_element type = TYPE;                                                      \
		ENTER(L, syr, R, 1, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && alpha, SUMS(1, n) * (uint64_t)n / 2, n, incx, lda); \
		const struct typed from = VECTOR_OF(x, incx, false);                                    \
		syr(n, uplo, NUMBER(alpha), &from, &from, false, gt_matrix_of(&call, a, bytes, n, n, lda, true), lda); \
		return gt_call_end();                                                                   \
	}                                                                                               \
	API int cublas##L##syr2_v2##END(void *handle, int uplo, INT n, const void *alpha, const void *x, INT incx, const void *y, INT incy, \
					void *a, INT lda)                                               \
	{                                                                                               \
		const enum gt_element type = TYPE;                                                      \
		ENTER(L, syr2, R, 1, END, gt_is_flag(uplo) && gt_leads(lda, n) && incx != 0 && incy != 0 && alpha, SUMS(1, n) * (uint64_t)n, n, incx, \
		      incy, lda);                                                                       \
		const struct typed from = VECTOR_OF(x, incx, false), also = VECTOR_OF(y, incy, false);  \
		syr(n, uplo, NUMBER(alpha), &from, &also, true, gt_matrix_of(&call, a, bytes, n, n, lda, true), lda); \
		return gt_call_end();                                                                   \
	}
SIZES(COMPLEX_SYMMETRIC, C, GT_C32, float)
SIZES(COMPLEX_SYMMETRIC, Z, GT_C64, double)

/* Updates of complex matrices that name their types: floats alone are known. */
#define TYPED_UPDATE(NAME, PLAIN, S, INT, END)                                                          \
	API int cublas##NAME##END(void *handle, int uplo, int operation, INT n, INT k, const S *alpha, const void *a, int of_a, INT lda, \
				  const S *beta, void *c, int of_c, INT ldc)                            \
	{                                                                                               \
		if (of_a != GT_C32 || of_c != GT_C32) {                                                 \
			gt_stub_refuse("cublas" #NAME #END " of these types");                          \
			return GT_CUBLAS_NOT_SUPPORTED;                                                 \
		}                                                                                       \
		return cublas##PLAIN##_v2##END(handle, uplo, operation, n, k, alpha, a, lda, beta, c, ldc); \
	}
SIZES(TYPED_UPDATE, CsyrkEx, Csyrk, void)
SIZES(TYPED_UPDATE, Csyrk3mEx, Csyrk, void)
SIZES(TYPED_UPDATE, CherkEx, Cherk, float)
SIZES(TYPED_UPDATE, Cherk3mEx, Cherk, float)
