/* SPDX-License-Identifier: MIT */
/* polybench_3mm [n [block_x [block_y]]]: G = (A B)(C D) in three kernels, as PolyBench/GPU has it: sums
 * are kept in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

static __device__ void multiply(int n, float *A, float *B, float *product)
{
	int i = row(), j = column();

	if (i >= n || j >= n)
		return;
	product[i * n + j] = 0;
	for (int k = 0; k < n; k++)
		product[i * n + j] = fmaf(A[i * n + k], B[k * n + j], product[i * n + j]);
}

__global__ void mm3_kernel1(int n, float *A, float *B, float *E) { multiply(n, A, B, E); }
__global__ void mm3_kernel2(int n, float *C, float *D, float *F) { multiply(n, C, D, F); }
__global__ void mm3_kernel3(int n, float *E, float *F, float *G) { multiply(n, E, F, G); }

static float *on_cpu(int n, const float *A, const float *B)
{
	float *product = host_floats((size_t)n * n);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				product[i * n + j] = fmaf(A[i * n + k], B[k * n + j], product[i * n + j]);
	return product;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 512);
	dim3 block(argument(argc, argv, 2, 32), argument(argc, argv, 3, 8)), grid = cover(n, n, block);
	size_t all = (size_t)n * n;
	float *A = random_floats(all, 1), *B = random_floats(all, 2), *C = random_floats(all, 3), *D = random_floats(all, 4);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all), *dC = floats_to_device(C, all);
	float *dD = floats_to_device(D, all), *zero = host_floats(all), *dE = floats_to_device(zero, all);
	float *dF = floats_to_device(zero, all), *dG = floats_to_device(zero, all);

	mm3_kernel1<<<grid, block>>>(n, dA, dB, dE);
	finish("mm3_kernel1");
	mm3_kernel2<<<grid, block>>>(n, dC, dD, dF);
	finish("mm3_kernel2");
	mm3_kernel3<<<grid, block>>>(n, dE, dF, dG);
	finish("mm3_kernel3");
	check_or_leave(3.0 * (double)all * n);
	return report(differ_floats("G", dG, on_cpu(n, on_cpu(n, A, B), on_cpu(n, C, D)), all));
}
