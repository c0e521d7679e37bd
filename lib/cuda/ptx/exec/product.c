/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/product.h"

#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/runs.h"

#define ELEMENTS_MAX 1024 /* 16 x 64 of 4 bits */
#define QUADS 4
#define QUAD_UNITS (QUADS * 8 * 8)

/* The lines of a matrix, one behind the other, but of one of doubles. */
union lines {
	unsigned char bytes[GT_PTX_LINES_MAX];
	uint16_t halves[GT_PTX_LINES_MAX / 2];
	uint32_t words[GT_PTX_LINES_MAX / 4];
};

/* The values of n elements, element i of which is the expression BITS. */
#define VALUES(ELEMENT, BITS)                                                                                \
	case GT_PTX_ELEMENT_##ELEMENT:                                                                       \
		for (unsigned i = 0; i < n; i++) {                                                           \
			const uint64_t x = BITS;                                                             \
			numbers[i] = gt_ptx_number_of(GT_PTX_ELEMENT_##ELEMENT, x);                          \
		}                                                                                            \
		break;

/* The n numbers of a matrix, line by line. */
GT_INLINE void read_numbers(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, unsigned n, double *numbers)
{
	union lines lines;

	if (fragment->element == GT_PTX_ELEMENT_F64) {
		gt_ptx_read_wide_runs(fragment, warp, (unsigned char *)numbers, fragment->line, true);
		return;
	}
	gt_ptx_read_wide_runs(fragment, warp, lines.bytes, fragment->line, false);
	switch (fragment->element) {
		VALUES(F16, lines.halves[i])
		VALUES(BF16, lines.halves[i])
		VALUES(E4M3, lines.bytes[i])
		VALUES(E5M2, lines.bytes[i])
		VALUES(TF32, lines.words[i])
		VALUES(F32, lines.words[i])
		VALUES(S8, lines.bytes[i])
		VALUES(U8, lines.bytes[i])
		VALUES(S4, lines.bytes[i / 2] >> i % 2 * 4 & 15)
		VALUES(U4, lines.bytes[i / 2] >> i % 2 * 4 & 15)
		VALUES(S32, lines.words[i])
	default: break;
	}
}

/* And back. */
GT_INLINE void write_numbers(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, bool saturates, unsigned n,
			     const double *numbers)
{
	union lines lines;

	switch (fragment->element) {
	case GT_PTX_ELEMENT_F64:
		gt_ptx_write_wide_runs(fragment, warp, (const unsigned char *)numbers, fragment->line, true);
		return;
	case GT_PTX_ELEMENT_F16:
		for (unsigned i = 0; i < n; i++)
			lines.halves[i] = (uint16_t)gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_F16, saturates);
		break;
	case GT_PTX_ELEMENT_S32:
		for (unsigned i = 0; i < n; i++)
			lines.words[i] = gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_S32, saturates);
		break;
	default:
		for (unsigned i = 0; i < n; i++)
			lines.words[i] = gt_ptx_element_of(numbers[i], GT_PTX_ELEMENT_F32, saturates);
	}
	gt_ptx_write_wide_runs(fragment, warp, lines.bytes, fragment->line, false);
}

GT_INLINE const struct gt_ptx_op *product(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->shape.k;
	double a[ELEMENTS_MAX], b[ELEMENTS_MAX], d[ELEMENTS_MAX];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	read_numbers(&this->a, warp, rows * depth, a);
	read_numbers(&this->b, warp, depth * columns, b);
	read_numbers(&this->c, warp, rows * columns, d);
	this->multiply(rows, columns, depth, a, b, d);
	write_numbers(&this->d, warp, this->saturates, rows * columns, d);
	return op + 1;
}
GT_EVERY(product)

/* Of words of bits those that both have, or that differ, are counted. */
GT_INLINE const struct gt_ptx_op *count_bits(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->a.columns;
	union lines a, b, d;

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	gt_ptx_read_runs(&this->a, warp, a.bytes, this->a.line);
	gt_ptx_read_runs(&this->b, warp, b.bytes, this->b.line);
	gt_ptx_read_runs(&this->c, warp, d.bytes, this->c.line);
	for (unsigned i = 0; i < rows; i++)
		for (unsigned j = 0; j < columns; j++)
			for (unsigned k = 0; k < depth; k++) {
				const uint32_t x = a.words[i * depth + k], y = b.words[j * depth + k];
				d.words[i * columns + j] += (uint32_t)__builtin_popcount(this->differs ? x ^ y : x & y);
			}
	gt_ptx_write_runs(&this->d, warp, d.bytes, this->d.line);
	return op + 1;
}
GT_EVERY(count_bits)

/* The numbers of matrices of quads, one below the other; column by column if `turned`. */
GT_INLINE void read_quads(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, bool turned, double *numbers)
{
	const unsigned rows = fragment->rows / QUADS, columns = fragment->columns, all = rows * columns;
	uint64_t bits[QUAD_UNITS];

	gt_ptx_fragment_gather(fragment, warp, bits);
	for (unsigned i = 0; i < QUADS * all; i++) {
		const unsigned row = i % all / columns, column = i % columns;
		numbers[turned ? i / all * all + column * rows + row : i] = gt_ptx_number_of(fragment->element, bits[i]);
	}
}

GT_INLINE const struct gt_ptx_op *quads(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	const unsigned rows = this->shape.m, columns = this->shape.n, depth = this->shape.k;
	double a[QUAD_UNITS], b[QUAD_UNITS], d[QUAD_UNITS];
	uint64_t bits[QUAD_UNITS];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	read_quads(&this->a, warp, false, a);
	read_quads(&this->b, warp, true, b);
	read_quads(&this->c, warp, false, d);
	for (unsigned quad = 0; quad < QUADS; quad++)
		this->multiply(rows, columns, depth, a + quad * rows * depth, b + quad * depth * columns, d + quad * rows * columns);
	for (unsigned i = 0; i < QUADS * rows * columns; i++)
		bits[i] = gt_ptx_element_of(d[i], this->d.element, false);
	gt_ptx_fragment_scatter(&this->d, warp, bits);
	return op + 1;
}
GT_EVERY(quads)

gt_ptx_step *gt_ptx_product_step(const struct gt_ptx_product *product)
{
	static gt_ptx_step *const steps[] = GT_STEPS(product), *const counts[] = GT_STEPS(count_bits), *const of_quads[] = GT_STEPS(quads);

	return (product->shape.quads ? of_quads : product->a.element == GT_PTX_ELEMENT_B1 ? counts : steps)[gt_ptx_simd_variant()];
}
