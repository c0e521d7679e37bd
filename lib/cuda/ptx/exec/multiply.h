/* SPDX-License-Identifier: MIT */
/* Sums of products of matrices, in double precision. */
#ifndef GT_PTX_MULTIPLY_H
#define GT_PTX_MULTIPLY_H

/* d += a b: rows x depth times depth x columns; rows and columns are multiples of 8, the depth is one of 4. a and d lie row by row, b
 * column by column. Each sum is made from k = 0 on, with one rounding a product. */
typedef void gt_ptx_multiplier(unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b, double *d);

/* The one for this processor. */
gt_ptx_multiplier *gt_ptx_multiply(void);

#endif
