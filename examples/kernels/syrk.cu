/* SPDX-License-Identifier: MIT */
/* syrk [n [k [block_x [block_y]]]]: C = alpha A transposed(A) + beta C, A of n x k floats: the
 * symmetric rank-k update, all of C written. Equal to the CPU bit by bit. */
#include "example.h"

__global__ void syrk(const float *A, float *C, int n, int k, float alpha, float beta)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0.0f;

	if (row >= n || column >= n)
		return;
	for (int i = 0; i < k; i++)
		sum = fmaf(A[row * k + i], A[column * k + i], sum);
	C[row * n + column] = fmaf(alpha, sum, beta * C[row * n + column]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 64), k = argument(argc, argv, 2, 32);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	const float alpha = 1.25f, beta = 0.7f;
	float *A = random_floats((size_t)n * k, 1), *C = random_floats((size_t)n * n, 2);
	float *dA = floats_to_device(A, (size_t)n * k), *dC = floats_to_device(C, (size_t)n * n);

	syrk<<<dim3(divide_up(n, block.x), divide_up(n, block.y)), block>>>(dA, dC, n, k, alpha, beta);
	finish("syrk");
	for (int row = 0; row < n; row++)
		for (int column = 0; column < n; column++) {
			float sum = 0.0f;

			for (int i = 0; i < k; i++)
				sum = fmaf(A[row * k + i], A[column * k + i], sum);
			C[row * n + column] = fmaf(alpha, sum, beta * C[row * n + column]);
		}
	return report(differ_floats("C", dC, C, (size_t)n * n));
}
