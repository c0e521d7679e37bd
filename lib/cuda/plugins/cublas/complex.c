/* SPDX-License-Identifier: MIT */
#include "cuda/plugins/cublas/complex.h"

#include <stdlib.h>

struct gt_complex gt_complex_read(const struct gt_parts *x, int64_t i, int64_t j)
{
	return (struct gt_complex){gt_view_read(&x->re, i, j), x->sign * gt_view_read(&x->im, i, j)};
}

void gt_complex_write(const struct gt_parts *x, int64_t i, int64_t j, struct gt_complex value)
{
	gt_view_write(&x->re, i, j, value.re);
	gt_view_write(&x->im, i, j, value.im);
}

struct gt_complex gt_complex_times(struct gt_complex a, struct gt_complex b)
{
	return (struct gt_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct gt_parts parts_of(struct gt_view both, int64_t down, int64_t across)
{
	struct gt_parts parts = {{both.at, both.type, 2 * down, 2 * across}, {NULL, both.type, 2 * down, 2 * across}, 1};

	parts.im.at = both.at ? both.at + gt_element_bytes(both.type) : NULL;
	return parts;
}

struct gt_parts gt_complex_matrix(const struct gt_call *call, const void *at, enum gt_element type, int64_t rows, int64_t columns,
			      int64_t leading, bool written)
{
	return parts_of(gt_matrix_of(call, at, type, 2 * rows, columns, 2 * leading, written), 1, leading);
}

struct gt_parts gt_complex_vector(const struct gt_call *call, const void *at, enum gt_element type, int64_t n, int64_t step, bool written)
{
	const int64_t between = llabs(step);
	struct gt_view both = gt_matrix_of(call, at, type, 2, n, 2 * between, written);

	if (step < 0 && n > 0)
		both.at += (uint64_t)(2 * (n - 1) * between) * gt_element_bytes(type);
	return parts_of(both, step, 0);
}

struct gt_parts gt_complex_transposed(struct gt_parts parts, bool conjugate)
{
	return (struct gt_parts){gt_transposed(parts.re), gt_transposed(parts.im), conjugate ? -parts.sign : parts.sign};
}

struct gt_complex gt_complex_factor(const struct gt_call *call, const void *at, enum gt_element type)
{
	const unsigned char *second = (const unsigned char *)at + gt_element_bytes(type);

	return (struct gt_complex){gt_factor_of(call, at, type), gt_factor_of(call, second, type)};
}

int gt_complex_product(int64_t m, int64_t n, int64_t k, struct gt_complex alpha, const struct gt_parts *a, const struct gt_parts *b,
		   struct gt_complex beta, const struct gt_parts *c)
{
	const size_t each = (size_t)(m * n) * sizeof(double);
	double *sums = (uint64_t)m < UINT32_MAX && (uint64_t)n < UINT32_MAX ? malloc(2 * each + 1) : NULL;
	struct gt_view re = {(unsigned char *)sums, GT_F64, 1, m}, im = re;
	int status = GT_CUBLAS_ALLOC_FAILED;

	if (sums) {
		im.at += each;
		status = gt_product(m, n, k, 1, &a->re, &b->re, 0, &re);
	}
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, -a->sign * b->sign, &a->im, &b->im, 1, &re) : status;
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, b->sign, &a->re, &b->im, 0, &im) : status;
	status = status == GT_CUBLAS_SUCCESS ? gt_product(m, n, k, a->sign, &a->im, &b->re, 1, &im) : status;
	for (int64_t j = 0; status == GT_CUBLAS_SUCCESS && j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			struct gt_complex sum = gt_complex_times(alpha, (struct gt_complex){gt_view_read(&re, i, j), gt_view_read(&im, i, j)});
			if (beta.re != 0 || beta.im != 0) {
				struct gt_complex old = gt_complex_times(beta, gt_complex_read(c, i, j));
				sum = (struct gt_complex){sum.re + old.re, sum.im + old.im};
			}
			gt_complex_write(c, i, j, sum);
		}
	free(sums);
	return status;
}
