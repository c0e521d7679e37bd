/* SPDX-License-Identifier: MIT */
/* polybench_syrk [n [m [block_x [block_y]]]]: C = alpha A transposed(A) + beta C, A of n x m floats, as
 * PolyBench/GPU has it: the sum is kept in C, in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void syrk_kernel(int n, int m, float alpha, float beta, float *a, float *c)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	c[i * n + j] *= beta;
	for (int k = 0; k < m; k++)
		c[i * n + j] = fmaf(alpha * a[i * m + k], a[j * m + k], c[i * n + j]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), m = argument(argc, argv, 2, 1024);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n;
	float *a = random_floats((size_t)n * m, 1), *c = random_floats(all, 2);
	float *da = floats_to_device(a, (size_t)n * m), *dc = floats_to_device(c, all);

	syrk_kernel<<<cover(n, n, block), block>>>(n, m, alpha, beta, da, dc);
	finish("syrk_kernel");
	check_or_leave((double)all * m);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			c[i * n + j] *= beta;
			for (int k = 0; k < m; k++)
				c[i * n + j] = fmaf(alpha * a[i * m + k], a[j * m + k], c[i * n + j]);
		}
	return report(differ_floats("C", dc, c, all));
}
