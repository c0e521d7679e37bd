/* SPDX-License-Identifier: MIT */
/* polybench_gemm [n [block_x [block_y]]]: C = alpha A B + beta C as PolyBench/GPU computes it, the sum
 * kept in C itself: whatever the pointers may alias, C is stored in every turn of the loop. Equal to
 * the CPU bit by bit. */
#include "suite.h"

__global__ void gemm_kernel(int n, float alpha, float beta, float *a, float *b, float *c)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	c[i * n + j] *= beta;
	for (int k = 0; k < n; k++)
		c[i * n + j] = fmaf(alpha * a[i * n + k], b[k * n + j], c[i * n + j]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 512);
	dim3 block(argument(argc, argv, 2, 32), argument(argc, argv, 3, 8));
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n;
	float *a = random_floats(all, 1), *b = random_floats(all, 2), *c = random_floats(all, 3);
	float *da = floats_to_device(a, all), *db = floats_to_device(b, all), *dc = floats_to_device(c, all);

	gemm_kernel<<<cover(n, n, block), block>>>(n, alpha, beta, da, db, dc);
	finish("gemm_kernel");
	check_or_leave((double)all * n);
	for (size_t at = 0; at < all; at++)
		c[at] *= beta;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] = fmaf(alpha * a[i * n + k], b[k * n + j], c[i * n + j]);
	return report(differ_floats("C", dc, c, all));
}
