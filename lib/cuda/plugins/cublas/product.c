/* SPDX-License-Identifier: MIT */
/* The product of two matrices. */
#include <stdlib.h>

#include "cuda/plugins/cublas/cublas.h"

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
