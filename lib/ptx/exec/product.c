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
	double numbers[UNITS_MAX];
};

/* e4m3 has no infinities, and a bias of 7; e5m2 is the upper half of an f16. */
GT_INLINE double from_e4m3(uint64_t x)
{
	float value = gt_ptx_from_bits((uint32_t)(x & 0x7f) << 20) * 0x1p120f;

	value = (x & 0x7f) == 0x7f ? NAN : value;
	return (double)(x & 0x80 ? -value : value);
}

/* The values of n elements. */
GT_INLINE void to_numbers(union matrix *matrix, enum gt_ptx_element element, unsigned n)
{
#define VALUES(EXPRESSION)                                                                                   \
	for (unsigned i = 0; i < n; i++) {                                                                   \
		const uint64_t x = matrix->bits[i];                                                          \
		matrix->numbers[i] = (double)(EXPRESSION);                                                   \
	}                                                                                                    \
	break;
	switch (element) {
	case GT_PTX_ELEMENT_F16: VALUES(gt_ptx_from_half((uint16_t)x))
	case GT_PTX_ELEMENT_BF16: VALUES(gt_ptx_from_bfloat((uint16_t)x))
	case GT_PTX_ELEMENT_E4M3: VALUES(from_e4m3(x))
	case GT_PTX_ELEMENT_E5M2: VALUES(gt_ptx_from_half((uint16_t)(x << 8)))
	case GT_PTX_ELEMENT_TF32: VALUES(gt_ptx_from_bits(x & 0xffffe000))
	case GT_PTX_ELEMENT_F32: VALUES(gt_ptx_from_bits((uint32_t)x))
	case GT_PTX_ELEMENT_S8: VALUES((int8_t)x)
	case GT_PTX_ELEMENT_S4: VALUES((int32_t)(x ^ 8) - 8)
	case GT_PTX_ELEMENT_U8:
	case GT_PTX_ELEMENT_U4: VALUES((int32_t)x)
	case GT_PTX_ELEMENT_S32: VALUES((int32_t)x)
	default: break; /* f64; bits, which are counted as they are */
	}
#undef VALUES
}

static uint32_t to_word(double value, enum gt_ptx_element element, bool saturates)
{
	float single = (float)value;
	uint32_t word;

	if (element == GT_PTX_ELEMENT_F16)
		return gt_ptx_to_half(value, GT_PTX_RN);
	if (element == GT_PTX_ELEMENT_S32) {
		value = saturates && value > INT32_MAX ? INT32_MAX : value;
		value = saturates && value < INT32_MIN ? INT32_MIN : value;
		return (uint32_t)(int64_t)value;
	}
	memcpy(&word, &single, sizeof word);
	return single != single ? 0x7fffffff : word;
}

/* d += a b, eight columns at a time. Numbers: sums of integers are exact in double precision too. */
GT_INLINE void multiply(const struct gt_ptx_shape *shape, unsigned depth, const union matrix *a, const union matrix *b,
			union matrix *d)
{
	const unsigned columns = shape->n, rows = shape->m * (shape->quads ? 4U : 1U);

	for (unsigned i = 0; i < rows; i++) {
		const double *right = b->numbers + (shape->quads ? i / 8 * depth * columns : 0);
		for (unsigned j = 0; j < columns; j += 8) {
			double sums[8];
			memcpy(sums, d->numbers + i * columns + j, sizeof sums);
			for (unsigned k = 0; k < depth; k++) {
				const double x = a->numbers[i * depth + k];
				for (unsigned e = 0; e < 8; e++)
					sums[e] = fma(x, right[k * columns + j + e], sums[e]);
			}
			memcpy(d->numbers + i * columns + j, sums, sizeof sums);
		}
	}
}

/* The same for words of bits: those that both have, or that differ, are counted. */
GT_INLINE void count_bits(const struct gt_ptx_product *this, unsigned depth, const union matrix *a, const union matrix *b,
			  union matrix *d)
{
	const unsigned columns = this->shape.n;

	for (unsigned i = 0; i < this->shape.m; i++)
		for (unsigned j = 0; j < columns; j++)
			for (unsigned k = 0; k < depth; k++) {
				const uint64_t x = a->bits[i * depth + k], y = b->bits[k * columns + j];
				d->numbers[i * columns + j] += __builtin_popcountll(this->differs ? x ^ y : x & y);
			}
}

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
	to_numbers(&a, this->a.element, (unsigned)this->a.rows * depth);
	to_numbers(&b, this->b.element, (unsigned)this->b.rows * this->b.columns);
	to_numbers(&d, this->c.element, n);
	if (this->a.element == GT_PTX_ELEMENT_B1)
		count_bits(this, depth, &a, &b, &d);
	else
		multiply(shape, depth, &a, &b, &d);
	for (unsigned i = 0; i < n && this->d.element != GT_PTX_ELEMENT_F64; i++)
		d.bits[i] = to_word(d.numbers[i], this->d.element, this->saturates);
	gt_ptx_fragment_scatter(&this->d, warp, d.bits);
	return op + 1;
}
GT_BOTH(product)

gt_ptx_step *gt_ptx_product_step(void)
{
	return gt_ptx_fast() ? product_fast : product_plain;
}
