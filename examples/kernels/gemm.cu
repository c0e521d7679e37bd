/* SPDX-License-Identifier: MIT */
/* gemm [n [block_x [block_y]]]: C = A B of n x n floats, a thread an element of C, nothing kept in
 * shared memory. The CPU adds in the same order with the same fused operation: equal bit by bit. */
#include "example.h"

__global__ void gemm(const float *A, const float *B, float *C, int n)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0.0f;

	if (row >= n || column >= n)
		return;
	for (int k = 0; k < n; k++)
		sum = fmaf(A[row * n + k], B[k * n + column], sum);
	C[row * n + column] = sum;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 64);
	dim3 block(argument(argc, argv, 2, 32), argument(argc, argv, 3, 8));
	size_t all = (size_t)n * n;
	float *A = random_floats(all, 1), *B = random_floats(all, 2), *C = host_floats(all);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all), *dC = floats_to_device(C, all);

	gemm<<<dim3(divide_up(n, block.x), divide_up(n, block.y)), block>>>(dA, dB, dC, n);
	finish("gemm");
	for (int row = 0; row < n; row++)
		for (int k = 0; k < n; k++)
			for (int column = 0; column < n; column++)
				C[row * n + column] = fmaf(A[row * n + k], B[k * n + column], C[row * n + column]);
	return report(differ_floats("C", dC, C, all));
}
