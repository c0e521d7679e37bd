/* SPDX-License-Identifier: MIT */
/* polybench_2mm [n [block_x [block_y]]]: D = alpha A B C + beta D in two kernels, as PolyBench/GPU has
 * it: sums are kept in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void mm2_kernel1(int n, float alpha, float *tmp, float *A, float *B)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	tmp[i * n + j] = 0;
	for (int k = 0; k < n; k++)
		tmp[i * n + j] = fmaf(alpha * A[i * n + k], B[k * n + j], tmp[i * n + j]);
}

__global__ void mm2_kernel2(int n, float beta, float *tmp, float *C, float *D)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	D[i * n + j] *= beta;
	for (int k = 0; k < n; k++)
		D[i * n + j] = fmaf(tmp[i * n + k], C[k * n + j], D[i * n + j]);
}

static void on_cpu(int n, float alpha, const float *A, const float *B, float *sum)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				sum[i * n + j] = fmaf(alpha * A[i * n + k], B[k * n + j], sum[i * n + j]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024);
	dim3 block(argument(argc, argv, 2, 32), argument(argc, argv, 3, 8));
	const float alpha = 1.25f, beta = 0.75f;
	size_t all = (size_t)n * n;
	float *A = random_floats(all, 1), *B = random_floats(all, 2), *C = random_floats(all, 3), *D = random_floats(all, 4);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all), *dC = floats_to_device(C, all);
	float *dD = floats_to_device(D, all), *tmp = host_floats(all), *dtmp = floats_to_device(tmp, all);

	mm2_kernel1<<<cover(n, n, block), block>>>(n, alpha, dtmp, dA, dB);
	finish("mm2_kernel1");
	mm2_kernel2<<<cover(n, n, block), block>>>(n, beta, dtmp, dC, dD);
	finish("mm2_kernel2");
	check_or_leave(2.0 * (double)all * n);
	on_cpu(n, alpha, A, B, tmp);
	for (size_t at = 0; at < all; at++)
		D[at] *= beta;
	on_cpu(n, 1.0f, tmp, C, D);
	return report(differ_floats("tmp", dtmp, tmp, all) || differ_floats("D", dD, D, all));
}
