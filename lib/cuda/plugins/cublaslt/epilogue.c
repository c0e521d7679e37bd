/* SPDX-License-Identifier: MIT */
/* The last step of a product: bias, activation, and the sums that training needs. */
#include <math.h>

#include "cuda/plugins/cublaslt/lt.h"

/* gelu(x) = x / 2 (1 + tanh(u)), u = SLOPE (x + CUBIC x^3). NVIDIA does not say which form it has; this is
 * assumed because llm.c (llmc/matmul.cuh) takes the epilogue and a kernel of this form for one another. */
#define SLOPE 0.79788456080286535588 /* the root of 2 / pi */
#define CUBIC 0.044715

static double gelu(double x)
{
	return 0.5 * x * (1 + tanh(SLOPE * (x + CUBIC * x * x * x)));
}

static double slope_of_gelu(double x)
{
	double t = tanh(SLOPE * (x + CUBIC * x * x * x));

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * SLOPE * (1 + 3 * CUBIC * x * x);
}

/* sums[i] = the elements of the i-th row of m by k. */
static void sum_rows(const struct gt_view *of, int64_t m, int64_t k, const struct gt_view *sums)
{
	for (int64_t i = 0; i < m; i++) {
		double sum = 0;
		for (int64_t p = 0; p < k; p++)
			sum += gt_view_read(of, i, p);
		gt_view_write(sums, i, 0, sum);
	}
}

/* One element of the result. */
static double finish_element(unsigned epilogue, double value, const struct gt_lt_places *places, int64_t i, int64_t j)
{
	if (epilogue & GT_LT_BIAS)
		value += gt_view_read(&places->bias, i, 0);
	if (epilogue & GT_LT_GRADIENT_OF_GELU)
		return value * slope_of_gelu(gt_view_read(&places->aux, i, j));
	if (epilogue & GT_LT_AUX)
		gt_view_write(&places->aux, i, j, value);
	if (epilogue & GT_LT_RELU)
		return value > 0 ? value : 0;
	return epilogue & GT_LT_GELU ? gelu(value) : value;
}

void gt_lt_finish(unsigned epilogue, int64_t m, int64_t n, int64_t k, const struct gt_view *sums, const struct gt_lt_places *places)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double value = finish_element(epilogue, gt_view_read(sums, i, j), places, i, j);
			gt_view_write(sums, i, j, value);
			gt_view_write(&places->d, i, j, value);
		}
	if (epilogue & GT_LT_GRADIENT_OF_BIAS)
		sum_rows(sums, m, n, &places->bias);
	if (epilogue & GT_LT_SUM_A)
		sum_rows(&places->a, m, k, &places->bias);
	if (epilogue & GT_LT_SUM_B) {
		const struct gt_view turned = gt_transposed(places->b);
		sum_rows(&turned, n, k, &places->bias);
	}
}
