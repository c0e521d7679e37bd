/* SPDX-License-Identifier: MIT */
/* polybench_mvt [n [block]]: x1 += A y1, a thread a row, then x2 += transposed(A) y2, a thread a column,
 * as PolyBench/GPU has it: sums are kept in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void mvt_kernel1(int n, float *a, float *x1, float *y1)
{
	int i = column();

	if (i >= n)
		return;
	for (int j = 0; j < n; j++)
		x1[i] = fmaf(a[i * n + j], y1[j], x1[i]);
}

__global__ void mvt_kernel2(int n, float *a, float *x2, float *y2)
{
	int i = column();

	if (i >= n)
		return;
	for (int j = 0; j < n; j++)
		x2[i] = fmaf(a[j * n + i], y2[j], x2[i]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), block = argument(argc, argv, 2, 256);
	size_t all = (size_t)n * n;
	float *a = random_floats(all, 1), *x1 = random_floats(n, 2), *x2 = random_floats(n, 3);
	float *y1 = random_floats(n, 4), *y2 = random_floats(n, 5);
	float *da = floats_to_device(a, all), *dx1 = floats_to_device(x1, n), *dx2 = floats_to_device(x2, n);
	float *dy1 = floats_to_device(y1, n), *dy2 = floats_to_device(y2, n);

	mvt_kernel1<<<divide_up(n, block), block>>>(n, da, dx1, dy1);
	finish("mvt_kernel1");
	mvt_kernel2<<<divide_up(n, block), block>>>(n, da, dx2, dy2);
	finish("mvt_kernel2");
	check_or_leave(2.0 * (double)all);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			x1[i] = fmaf(a[i * n + j], y1[j], x1[i]);
			x2[i] = fmaf(a[j * n + i], y2[j], x2[i]);
		}
	return report(differ_floats("x1", dx1, x1, n) || differ_floats("x2", dx2, x2, n));
}
