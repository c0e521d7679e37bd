/* SPDX-License-Identifier: MIT */
/* polybench_2dconv [ni [nj [block_x [block_y]]]]: a 3 x 3 filter over the inner points of ni x nj floats,
 * its coefficients in the code, as PolyBench/GPU has it. Equal to the CPU bit by bit. */
#include "suite.h"

static __host__ __device__ float filtered(const float *A, int at, int nj)
{
	float sum = 0.2f * A[at - nj - 1];

	sum = fmaf(0.5f, A[at - nj], sum);
	sum = fmaf(-0.8f, A[at - nj + 1], sum);
	sum = fmaf(-0.3f, A[at - 1], sum);
	sum = fmaf(0.6f, A[at], sum);
	sum = fmaf(-0.9f, A[at + 1], sum);
	sum = fmaf(0.4f, A[at + nj - 1], sum);
	sum = fmaf(0.7f, A[at + nj], sum);
	return fmaf(0.1f, A[at + nj + 1], sum);
}

__global__ void convolution2D_kernel(int ni, int nj, float *A, float *B)
{
	int i = row(), j = column();

	if (i > 0 && i < ni - 1 && j > 0 && j < nj - 1)
		B[i * nj + j] = filtered(A, i * nj + j, nj);
}

int main(int argc, char **argv)
{
	int ni = argument(argc, argv, 1, 4096), nj = argument(argc, argv, 2, 4096);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	size_t all = (size_t)ni * nj;
	float *A = random_floats(all, 1), *B = host_floats(all);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all);

	convolution2D_kernel<<<cover(nj, ni, block), block>>>(ni, nj, dA, dB);
	finish("convolution2D_kernel");
	check_or_leave(9.0 * (double)all);
	for (int i = 1; i < ni - 1; i++)
		for (int j = 1; j < nj - 1; j++)
			B[i * nj + j] = filtered(A, i * nj + j, nj);
	return report(differ_floats("B", dB, B, all));
}
