/* SPDX-License-Identifier: MIT */
/* polybench_3dconv [ni [nj [nk [block_x [block_y]]]]]: a filter of eleven points over the inner points of
 * ni x nj x nk floats, a launch for each inner plane, as PolyBench/GPU has it. Equal to the CPU bit by
 * bit. */
#include "suite.h"

/* The points as (plane, row, column) beside the middle. */
static __host__ __device__ float filtered(const float *A, int at, int nj, int nk)
{
	int plane = nj * nk;
	float sum = 0.2f * A[at - plane - nk - 1];

	sum = fmaf(0.5f, A[at + plane - nk - 1], sum);
	sum = fmaf(-0.8f, A[at - nk], sum);
	sum = fmaf(-0.3f, A[at], sum);
	sum = fmaf(0.6f, A[at + nk], sum);
	sum = fmaf(-0.9f, A[at - plane - nk + 1], sum);
	sum = fmaf(0.4f, A[at + plane - nk + 1], sum);
	sum = fmaf(0.7f, A[at - plane + 1], sum);
	sum = fmaf(0.1f, A[at + plane + 1], sum);
	sum = fmaf(-0.6f, A[at - plane + nk + 1], sum);
	return fmaf(0.9f, A[at + plane + nk + 1], sum);
}

__global__ void convolution3D_kernel(int nj, int nk, float *A, float *B, int i)
{
	int k = column(), j = row();

	if (j > 0 && j < nj - 1 && k > 0 && k < nk - 1)
		B[(i * nj + j) * nk + k] = filtered(A, (i * nj + j) * nk + k, nj, nk);
}

int main(int argc, char **argv)
{
	int ni = argument(argc, argv, 1, 256), nj = argument(argc, argv, 2, 256), nk = argument(argc, argv, 3, 256);
	dim3 block(argument(argc, argv, 4, 32), argument(argc, argv, 5, 8));
	size_t all = (size_t)ni * nj * nk;
	float *A = random_floats(all, 1), *B = host_floats(all);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all);

	for (int i = 1; i < ni - 1; i++) {
		convolution3D_kernel<<<cover(nk, nj, block), block>>>(nj, nk, dA, dB, i);
		finish("convolution3D_kernel");
	}
	check_or_leave(11.0 * (double)all);
	for (int i = 1; i < ni - 1; i++)
		for (int j = 1; j < nj - 1; j++)
			for (int k = 1; k < nk - 1; k++)
				B[(i * nj + j) * nk + k] = filtered(A, (i * nj + j) * nk + k, nj, nk);
	return report(differ_floats("B", dB, B, all));
}
