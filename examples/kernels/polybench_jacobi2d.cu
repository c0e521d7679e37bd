/* SPDX-License-Identifier: MIT */
/* polybench_jacobi2d [n [steps [block_x [block_y]]]]: each inner point becomes the mean of itself and its
 * four neighbours, from A into B, and is then copied back, a kernel each, as PolyBench/GPU has it. Equal
 * to the CPU bit by bit. */
#include "suite.h"

static __host__ __device__ float mean(const float *A, int at, int n)
{
	return 0.2f * (A[at] + A[at - 1] + A[at + 1] + A[at + n] + A[at - n]);
}

__global__ void runJacobiCUDA_kernel1(int n, float *A, float *B)
{
	int i = row(), j = column();

	if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
		B[i * n + j] = mean(A, i * n + j, n);
}

__global__ void runJacobiCUDA_kernel2(int n, float *A, float *B)
{
	int i = row(), j = column();

	if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
		A[i * n + j] = B[i * n + j];
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), steps = argument(argc, argv, 2, 20);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8)), grid = cover(n, n, block);
	size_t all = (size_t)n * n;
	float *A = random_floats(all, 1), *B = random_floats(all, 2);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all);

	for (int step = 0; step < steps; step++) {
		runJacobiCUDA_kernel1<<<grid, block>>>(n, dA, dB);
		finish("runJacobiCUDA_kernel1");
		runJacobiCUDA_kernel2<<<grid, block>>>(n, dA, dB);
		finish("runJacobiCUDA_kernel2");
	}
	check_or_leave(6.0 * (double)all * steps);
	for (int step = 0; step < steps; step++) {
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				B[i * n + j] = mean(A, i * n + j, n);
		for (int i = 1; i < n - 1; i++)
			memcpy(&A[i * n + 1], &B[i * n + 1], sizeof(float) * (size_t)(n > 2 ? n - 2 : 0));
	}
	return report(differ_floats("A", dA, A, all));
}
