/* SPDX-License-Identifier: MIT */
#include "ptx/exec/product.h"

#include <math.h>
#include <string.h>

#include "ptx/exec/half.h"
#include "ptx/exec/lanes.h"
#include "ptx/exec/matrix.h"

/* Units of a matrix: 16 x 64 of 4 bits, the quads' 32 x 8, wmma's 32 x 16. */
#define UNITS_MAX 1024

union matrix {
	uint64_t bits[UNITS_MAX];
	double floats[UNITS_MAX];
	int64_t integers[UNITS_MAX];
};

/* e4m3 has no infinities, and a bias of 7; e5m2 is the upper half of an f16. */
static double from_e4m3(uint64_t x)
{
	unsigned exponent = x >> 3 & 15, fraction = x & 7;
	double value = exponent ? ldexp(8 + fraction, (int)exponent - 10) : ldexp(fraction, -9);

	if ((x & 0x7f) == 0x7f)
		return NAN;
	return x & 0x80 ? -value : value;
}

static void to_doubles(union matrix *matrix, enum gt_ptx_element element, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t x = matrix->bits[i];
		switch (element) {
		case GT_PTX_ELEMENT_F16: matrix->floats[i] = (double)gt_ptx_from_half((uint16_t)x); break;
		case GT_PTX_ELEMENT_BF16: matrix->floats[i] = (double)gt_ptx_from_bfloat((uint16_t)x); break;
		case GT_PTX_ELEMENT_E4M3: matrix->floats[i] = from_e4m3(x); break;
		case GT_PTX_ELEMENT_E5M2: matrix->floats[i] = (double)gt_ptx_from_half((uint16_t)(x << 8)); break;
		case GT_PTX_ELEMENT_TF32: matrix->floats[i] = (double)gt_ptx_from_bits(x & 0xffffe000); break;
		case GT_PTX_ELEMENT_F32: matrix->floats[i] = (double)gt_ptx_from_bits((uint32_t)x); break;
		default: break; /* f64 */
		}
	}
}

static void from_doubles(union matrix *matrix, enum gt_ptx_element element, unsigned n)
{
	for (unsigned i = 0; i < n && element != GT_PTX_ELEMENT_F64; i++) {
		float single = (float)matrix->floats[i];
		uint32_t word;
		memcpy(&word, &single, sizeof word);
		if (element == GT_PTX_ELEMENT_F16)
			word = gt_ptx_to_half(matrix->floats[i], GT_PTX_RN);
		else if (single != single)
			word = 0x7fffffff;
		matrix->bits[i] = word;
	}
}

static void to_integers(union matrix *matrix, enum gt_ptx_element element, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t x = matrix->bits[i];
		switch (element) {
		case GT_PTX_ELEMENT_S8: matrix->integers[i] = (int8_t)x; break;
		case GT_PTX_ELEMENT_S4: matrix->integers[i] = (int64_t)(x ^ 8) - 8; break;
		case GT_PTX_ELEMENT_S32: matrix->integers[i] = (int32_t)x; break;
		default: break; /* unsigned, and bits */
		}
	}
}

static void from_integers(union matrix *matrix, bool saturates, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int64_t x = matrix->integers[i];
		if (saturates)
			x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
		matrix->bits[i] = (uint32_t)x;
	}
}

/* d += a b for one row of d, eight columns at a time. TERM: of x and y. */
#define ROWS(ID, T, MEMBER, TERM)                                                                            \
	GT_INLINE void ID(const struct gt_ptx_shape *shape, unsigned depth, const union matrix *a,           \
			  const union matrix *b, union matrix *d)                                            \
	{                                                                                                    \
		const unsigned columns = shape->n, rows = shape->m * (shape->quads ? 4U : 1U);               \
		for (unsigned i = 0; i < rows; i++) {                                                        \
			const T *right = b->MEMBER + (shape->quads ? i / 8 * depth * columns : 0);           \
			for (unsigned j = 0; j < columns; j += 8) {                                          \
				T sums[8];                                                                   \
				memcpy(sums, d->MEMBER + i * columns + j, sizeof sums);                      \
				for (unsigned k = 0; k < depth; k++) {                                       \
					const T x = a->MEMBER[i * depth + k];                                \
					for (unsigned e = 0; e < 8; e++) {                                   \
						const T y = right[k * columns + j + e];                      \
						sums[e] = TERM;                                              \
					}                                                                    \
				}                                                                            \
				memcpy(d->MEMBER + i * columns + j, sums, sizeof sums);                      \
			}                                                                                    \
		}                                                                                            \
	}
ROWS(multiply_floats, double, floats, fma(x, y, sums[e]))
ROWS(multiply_integers, int64_t, integers, sums[e] + (int64_t)(int32_t)x * (int32_t)y)
ROWS(count_common, int64_t, integers, sums[e] + __builtin_popcountll((uint64_t)(x & y)))
ROWS(count_different, int64_t, integers, sums[e] + __builtin_popcountll((uint64_t)(x ^ y)))

GT_INLINE const struct gt_ptx_op *product(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const struct gt_ptx_shape *shape = &this->shape;
	const unsigned n = (unsigned)this->d.rows * this->d.columns, depth = this->a.columns;
	union matrix a, b, d;

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	gt_ptx_fragment_gather(&this->a, warp, a.bits);
	gt_ptx_fragment_gather(&this->b, warp, b.bits);
	gt_ptx_fragment_gather(&this->c, warp, d.bits);
	if (this->a.element >= GT_PTX_ELEMENT_S8) {
		to_integers(&a, this->a.element, (unsigned)this->a.rows * depth);
		to_integers(&b, this->b.element, (unsigned)this->b.rows * this->b.columns);
		to_integers(&d, this->c.element, n);
		if (this->a.element != GT_PTX_ELEMENT_B1)
			multiply_integers(shape, depth, &a, &b, &d);
		else if (this->differs)
			count_different(shape, depth, &a, &b, &d);
		else
			count_common(shape, depth, &a, &b, &d);
		from_integers(&d, this->saturates, n);
	} else {
		to_doubles(&a, this->a.element, (unsigned)this->a.rows * depth);
		to_doubles(&b, this->b.element, (unsigned)this->b.rows * this->b.columns);
		to_doubles(&d, this->c.element, n);
		multiply_floats(shape, depth, &a, &b, &d);
		from_doubles(&d, this->d.element, n);
	}
	gt_ptx_fragment_scatter(&this->d, warp, d.bits);
	return op + 1;
}
GT_BOTH(product)

gt_ptx_step *gt_ptx_product_step(void)
{
	return gt_ptx_fast() ? product_fast : product_plain;
}
