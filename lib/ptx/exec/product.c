/* SPDX-License-Identifier: MIT */
#include "ptx/exec/product.h"

#include "ptx/exec/matrix.h"
#include "ptx/exec/numbers.h"

/* Units of a matrix: 16 x 64 of 4 bits, the quads' 32 x 8, wmma's 32 x 16. */
#define UNITS_MAX 1024

union matrix {
	uint64_t bits[UNITS_MAX];
	double numbers[UNITS_MAX];
};

/* The values of n elements. */
GT_INLINE void to_numbers(union matrix *matrix, enum gt_ptx_element element, unsigned n)
{
#define VALUES(ELEMENT)                                                                                      \
	case GT_PTX_ELEMENT_##ELEMENT:                                                                       \
		for (unsigned i = 0; i < n; i++) {                                                           \
			const uint64_t x = matrix->bits[i];                                                  \
			matrix->numbers[i] = gt_ptx_number_of(GT_PTX_ELEMENT_##ELEMENT, x);                  \
		}                                                                                            \
		break;
	switch (element) {
		VALUES(F16)
		VALUES(BF16)
		VALUES(E4M3)
		VALUES(E5M2)
		VALUES(TF32)
		VALUES(F32)
		VALUES(S8)
		VALUES(S4)
		VALUES(U8)
		VALUES(U4)
		VALUES(S32)
	default: break; /* f64; bits, which are counted as they are */
	}
#undef VALUES
}

GT_INLINE void multiply(const struct gt_ptx_shape *shape, unsigned depth, const union matrix *a, const union matrix *b,
			union matrix *d)
{
	/* Matrices of quads lie one below the other. */
	for (unsigned quad = 0; quad < (shape->quads ? 4U : 1U); quad++)
		gt_ptx_multiply(shape->m, shape->n, depth, a->numbers + quad * shape->m * depth, b->numbers + quad * depth * shape->n,
				d->numbers + quad * shape->m * shape->n);
}

/* Of words of bits those that both have, or that differ, are counted. */
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
		d.bits[i] = gt_ptx_element_of(d.numbers[i], this->d.element, this->saturates);
	gt_ptx_fragment_scatter(&this->d, warp, d.bits);
	return op + 1;
}
GT_EVERY(product)

gt_ptx_step *gt_ptx_product_step(void)
{
	static gt_ptx_step *const steps[] = GT_STEPS(product);

	return steps[gt_ptx_level()];
}
