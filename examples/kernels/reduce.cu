/* SPDX-License-Identifier: MIT */
/* reduce [n [block [grid]]]: the sum of n floats; block is a power of two up to 1024. A thread adds up
 * what a grid's stride apart belongs to it, a block adds its threads' sums as a tree in shared memory,
 * and the blocks' sums meet by an atomic addition. The floats are small integers, so that every order
 * of adding them gives the same sum, exactly (up to 2^24). */
#include "example.h"

#define BLOCK_MAX 1024

__global__ void reduce(const float *in, float *sum, int n)
{
	__shared__ float partial[BLOCK_MAX];
	int thread = threadIdx.x;
	float mine = 0.0f;

#pragma unroll 1
	for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x)
		mine += in[i];
	partial[thread] = mine;
	__syncthreads();
#pragma unroll 1
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (thread < half)
			partial[thread] += partial[thread + half];
		__syncthreads();
	}
	if (thread == 0)
		atomicAdd(sum, partial[0]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 10000), block = argument(argc, argv, 2, 128), grid = argument(argc, argv, 3, 8);
	float *in = host_floats(n), sum = 0.0f;
	unsigned seed = 1;
	float *din, *dsum = floats_to_device(&sum, 1);

	if (block > BLOCK_MAX || block & (block - 1)) {
		fprintf(stderr, "%s: expected a block of a power of two up to %d, found %d\n", argv[0], BLOCK_MAX, block);
		return 2;
	}
	for (int i = 0; i < n; i++)
		in[i] = (float)(next_random(&seed) % 17) - 8.0f;
	din = floats_to_device(in, n);
	reduce<<<grid, block>>>(din, dsum, n);
	finish("reduce");
	for (int i = 0; i < n; i++)
		sum += in[i];
	return report(differ_floats("sum", dsum, &sum, 1));
}
