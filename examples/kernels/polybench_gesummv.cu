/* SPDX-License-Identifier: MIT */
/* polybench_gesummv [n [block]]: y = alpha A x + beta B x, a thread a row of both matrices, as
 * PolyBench/GPU has it: sums are kept in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void gesummv_kernel(int n, float alpha, float beta, float *A, float *B, float *tmp, float *x, float *y)
{
	int i = column();

	if (i >= n)
		return;
	tmp[i] = 0;
	y[i] = 0;
	for (int j = 0; j < n; j++) {
		tmp[i] = fmaf(A[i * n + j], x[j], tmp[i]);
		y[i] = fmaf(B[i * n + j], x[j], y[i]);
	}
	y[i] = fmaf(alpha, tmp[i], beta * y[i]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), block = argument(argc, argv, 2, 256);
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n;
	float *A = random_floats(all, 1), *B = random_floats(all, 2), *x = random_floats(n, 3), *y = host_floats(n);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all), *dx = floats_to_device(x, n);
	float *dtmp = floats_to_device(y, n), *dy = floats_to_device(y, n);

	gesummv_kernel<<<divide_up(n, block), block>>>(n, alpha, beta, dA, dB, dtmp, dx, dy);
	finish("gesummv_kernel");
	check_or_leave(2.0 * (double)all);
	for (int i = 0; i < n; i++) {
		float by_A = 0, by_B = 0;

		for (int j = 0; j < n; j++) {
			by_A = fmaf(A[i * n + j], x[j], by_A);
			by_B = fmaf(B[i * n + j], x[j], by_B);
		}
		y[i] = fmaf(alpha, by_A, beta * by_B);
	}
	return report(differ_floats("y", dy, y, n));
}
