/* SPDX-License-Identifier: MIT */
/* mma.sp: of each group of successive elements of a row of A half are stored, and metadata say which: 4 bits a group.
 * Groups are of 4 elements, of 2 (tf32), and of 8 (4 bits), where the elements are kept in pairs. The layouts are those of the
 * PTX ISA, "Sparsity metadata". */
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/product.h"

#define ROWS 16
#define COLUMNS 8
#define DEPTH_MAX 128

static unsigned group_of(enum gt_ptx_element element)
{
	return element == GT_PTX_ELEMENT_TF32 ? 2 : gt_ptx_element_bits(element) == 4 ? 8 : 4;
}

unsigned gt_ptx_metadata_lanes(struct gt_ptx_shape shape, enum gt_ptx_element element)
{
	return shape.k / group_of(element) / 4;
}

/* The metadata of a group of a row. A word has 4 groups of a row and of the one 8 below it; or, of elements of at most 8 bits,
 * 8 groups of a row, and the next lane's those of the one 8 below. */
static unsigned metadata(const uint32_t *lanes, unsigned first, bool narrow, unsigned row, unsigned group)
{
	const unsigned low = row >= ROWS / 2, lane = row % 8 * 4 + first + (narrow ? group / 8 * 2 + low : group / 4);

	return lanes[lane] >> (narrow ? group % 8 : low * 4 + group % 4) * 4 & 0xf;
}

/* The column of the e-th element that a group keeps, within the group. */
static unsigned column_of(unsigned bits, unsigned width, unsigned e)
{
	switch (width) {
	case 2: return (bits & 3) >> 1; /* 0100 or 1110: of the halves of two elements */
	case 4: return bits >> 2 * e & 3;
	default: return (bits >> 2 * (e / 2) & 3) * 2 + e % 2;
	}
}

/* d += a b, where a[i][k] is multiplied by the row of b that the metadata say. */
static void multiply(const struct gt_ptx_product *this, const uint32_t *lanes, unsigned first, const double *a, const double *b,
		     double *d)
{
	const unsigned width = group_of(this->a.element), kept = width / 2, columns = this->a.columns;
	const bool narrow = gt_ptx_element_bits(this->a.element) <= 8;

	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned k = 0; k < columns; k++) {
			const unsigned group = k / kept;
			const unsigned row = group * width + column_of(metadata(lanes, first, narrow, i, group), width, k % kept);
			for (unsigned j = 0; j < COLUMNS; j++)
				d[i * COLUMNS + j] = fma(a[i * columns + k], b[row * COLUMNS + j], d[i * COLUMNS + j]);
		}
}

static void gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, double *numbers)
{
	uint64_t bits[DEPTH_MAX * COLUMNS];

	gt_ptx_fragment_gather(fragment, warp, bits);
	for (unsigned i = 0; i < (unsigned)fragment->rows * fragment->columns; i++)
		numbers[i] = gt_ptx_number_of(fragment->element, bits[i]);
}

const struct gt_ptx_op *gt_ptx_sparse_product(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_product *this = op->with.product;
	double a[ROWS * DEPTH_MAX / 2], b[DEPTH_MAX * COLUMNS], d[ROWS * COLUMNS];
	uint64_t bits[ROWS * COLUMNS];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	gather(&this->a, warp, a);
	gather(&this->b, warp, b);
	gather(&this->c, warp, d);
	multiply(this, gt_ptx_lanes(warp, op->a), op->choice, a, b, d);
	for (unsigned i = 0; i < ROWS * COLUMNS; i++)
		bits[i] = gt_ptx_element_of(d[i], this->d.element, this->saturates);
	gt_ptx_fragment_scatter(&this->d, warp, bits);
	return op + 1;
}
