/* SPDX-License-Identifier: MIT */
/* polybench_syr2k [n [m [block_x [block_y]]]]: C = alpha (A transposed(B) + B transposed(A)) + beta C, A
 * and B of n x m floats, as PolyBench/GPU has it: the sum is kept in C, in global memory. Equal to the
 * CPU bit by bit. */
#include "suite.h"

__global__ void syr2k_kernel(int n, int m, float alpha, float beta, float *a, float *b, float *c)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	c[i * n + j] *= beta;
	for (int k = 0; k < m; k++)
		c[i * n + j] += fmaf(alpha * a[i * m + k], b[j * m + k], (alpha * b[i * m + k]) * a[j * m + k]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), m = argument(argc, argv, 2, 1024);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n, part = (size_t)n * m;
	float *a = random_floats(part, 1), *b = random_floats(part, 2), *c = random_floats(all, 3);
	float *da = floats_to_device(a, part), *db = floats_to_device(b, part), *dc = floats_to_device(c, all);

	syr2k_kernel<<<cover(n, n, block), block>>>(n, m, alpha, beta, da, db, dc);
	finish("syr2k_kernel");
	check_or_leave((double)all * m);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			c[i * n + j] *= beta;
			for (int k = 0; k < m; k++)
				c[i * n + j] += fmaf(alpha * a[i * m + k], b[j * m + k], (alpha * b[i * m + k]) * a[j * m + k]);
		}
	return report(differ_floats("C", dc, c, all));
}
