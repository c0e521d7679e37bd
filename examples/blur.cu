/* SPDX-License-Identifier: MIT */
/* blur: each pixel becomes the mean of its row's neighbours, twice, then a histogram. Try
 *     gtrace run examples/blur.cu
 * The threads of a warp lie along a column of the image, so that each of their accesses touches 32 lines. */
#include <cuda_runtime.h>
#include <cstdio>

#define N 512

__global__ void blur(const float *in, float *out)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	int column = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0;

	if (row < 1 || column < 1 || row >= N - 1 || column >= N - 1)
		return;
	for (int k = -1; k <= 1; k++)
		sum += in[row * N + column + k];
	out[row * N + column] = sum / 3;
}

__global__ void histogram(const float *in, unsigned *bins)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&bins[(int)in[i] & 255], 1u);
}

int main()
{
	float *in, *out;
	unsigned *bins;

	cudaMalloc(&in, N * N * sizeof *in);
	cudaMalloc(&out, N * N * sizeof *out);
	cudaMalloc(&bins, 256 * sizeof *bins);
	cudaMemset(in, 0, N * N * sizeof *in);
	cudaMemset(bins, 0, 256 * sizeof *bins);
	for (int i = 0; i < 2; i++) {
		blur<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(in, out);
		float *other = in;
		in = out;
		out = other;
	}
	histogram<<<N * N / 256, 256>>>(in, bins);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
