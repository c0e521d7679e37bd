/* SPDX-License-Identifier: MIT */
/* polybench_gemver [n [block_x [block_y [block]]]]: A += u1 v1 + u2 v2, then x += beta transposed(A) y + z,
 * then w += alpha A x, in three kernels as PolyBench/GPU has them: sums are kept in global memory.
 * Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void gemver_kernel1(int n, float *a, float *v1, float *v2, float *u1, float *u2)
{
	int i = row(), j = column();

	if (i < n && j < n)
		a[i * n + j] += fmaf(u1[i], v1[j], u2[i] * v2[j]);
}

__global__ void gemver_kernel2(int n, float beta, float *a, float *x, float *y, float *z)
{
	int i = column();

	if (i >= n)
		return;
	for (int j = 0; j < n; j++)
		x[i] = fmaf(beta * a[j * n + i], y[j], x[i]);
	x[i] += z[i];
}

__global__ void gemver_kernel3(int n, float alpha, float *a, float *x, float *w)
{
	int i = column();

	if (i >= n)
		return;
	for (int j = 0; j < n; j++)
		w[i] = fmaf(alpha * a[i * n + j], x[j], w[i]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), block = argument(argc, argv, 4, 256);
	dim3 wide(argument(argc, argv, 2, 32), argument(argc, argv, 3, 8));
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n;
	float *a = random_floats(all, 1), *da = floats_to_device(a, all), *vector[8], *device[8];
	float **x = &vector[4], **w = &vector[7];

	for (int i = 0; i < 8; i++) {
		vector[i] = random_floats(n, (unsigned)i + 2);
		device[i] = floats_to_device(vector[i], n);
	}
	gemver_kernel1<<<cover(n, n, wide), wide>>>(n, da, device[0], device[1], device[2], device[3]);
	finish("gemver_kernel1");
	gemver_kernel2<<<divide_up(n, block), block>>>(n, beta, da, device[4], device[5], device[6]);
	finish("gemver_kernel2");
	gemver_kernel3<<<divide_up(n, block), block>>>(n, alpha, da, device[4], device[7]);
	finish("gemver_kernel3");
	check_or_leave(3.0 * (double)all);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[i * n + j] += fmaf(vector[2][i], vector[0][j], vector[3][i] * vector[1][j]);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			(*x)[i] = fmaf(beta * a[j * n + i], vector[5][j], (*x)[i]);
		(*x)[i] += vector[6][i];
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			(*w)[i] = fmaf(alpha * a[i * n + j], (*x)[j], (*w)[i]);
	return report(differ_floats("A", da, a, all) || differ_floats("x", device[4], *x, n) || differ_floats("w", device[7], *w, n));
}
