/* SPDX-License-Identifier: MIT */
/* Blocks that wait for each other: each round, every block reads what all wrote in the round before. */
#include <cooperative_groups.h>
#include <cstdio>

#include "expect.h"

__global__ void rounds(unsigned *sums, int n)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	unsigned blocks = gridDim.x;

	for (int round = 0; round < n; round++) {
		unsigned sum = 0;
		for (unsigned i = 0; i < blocks; i++)
			sum += sums[(round & 1) * blocks + i];
		if (grid.thread_rank() % blockDim.x == 0)
			sums[(~round & 1) * blocks + blockIdx.x] = sum;
		grid.sync();
	}
}

int main()
{
	const int n = 5;
	unsigned blocks = 7, *sums, host[14] = {1}, expected = 1;
	void *arguments[] = {&sums, (void *)&n};
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	int per_sm, supported;

	CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess && supported == 1);
	cudaMalloc(&sums, sizeof host);
	for (int way = 0; way < 2; way++) {
		cudaMemcpy(sums, host, sizeof host, cudaMemcpyHostToDevice);
		if (way == 0) {
			CHECK(cudaLaunchCooperativeKernel((void *)rounds, blocks, 64, arguments, 0, 0) == cudaSuccess);
		} else {
			config.gridDim = blocks;
			config.blockDim = 64;
			attribute.id = cudaLaunchAttributeCooperative;
			attribute.val.cooperative = 1;
			config.attrs = &attribute;
			config.numAttrs = 1;
			CHECK(cudaLaunchKernelEx(&config, rounds, sums, n) == cudaSuccess);
		}
		unsigned result[14];
		cudaMemcpy(result, sums, sizeof result, cudaMemcpyDeviceToHost);
		expected = 1;
		for (int round = 1; round < n; round++)
			expected *= blocks;
		for (unsigned i = 0; i < blocks; i++)
			CHECK(result[blocks * (n & 1) + i] == expected);
	}
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rounds, 64, 0);
	cudaDeviceProp properties;
	cudaGetDeviceProperties(&properties, 0);
	CHECK(properties.cooperativeLaunch == 1);
	CHECK(cudaLaunchCooperativeKernel((void *)rounds, per_sm * properties.multiProcessorCount + 1, 64, arguments, 0,
					   0) == cudaErrorCooperativeLaunchTooLarge);
	cudaGetLastError();
	return verdict();
}
