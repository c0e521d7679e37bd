/* SPDX-License-Identifier: MIT */
/* gemm_wide [m [n [p]]]: C = A B for A of m x n and B of n x p floats, by blocks of 32 x 32 threads. Each thread sums up one
 * element out of global memory, and a block is 32 warps, whose drift apart shows in the hits of L1. */
#include "example.h"

enum { SIDE = 32 };

__global__ void gemm_wide(const float *A, const float *B, float *C, int m, int n, int p)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0.0f;

	if (row >= m || column >= p)
		return;
	for (int k = 0; k < n; k++)
		sum = fmaf(A[row * n + k], B[k * p + column], sum);
	C[row * p + column] = sum;
}

int main(int argc, char **argv)
{
	int m = argument(argc, argv, 1, 64), n = argument(argc, argv, 2, m), p = argument(argc, argv, 3, m);
	float *A = random_floats((size_t)m * n, 1), *B = random_floats((size_t)n * p, 2), *C = host_floats((size_t)m * p);
	float *dA = floats_to_device(A, (size_t)m * n), *dB = floats_to_device(B, (size_t)n * p);
	float *dC = (float *)device_bytes((size_t)m * p * sizeof(float));

	gemm_wide<<<dim3(divide_up(p, SIDE), divide_up(m, SIDE)), dim3(SIDE, SIDE)>>>(dA, dB, dC, m, n, p);
	finish("gemm_wide");
	for (int row = 0; row < m; row++)
		for (int k = 0; k < n; k++)
			for (int column = 0; column < p; column++)
				C[row * p + column] = fmaf(A[row * n + k], B[k * p + column], C[row * p + column]);
	return report(differ_floats("C", dC, C, (size_t)m * p));
}
