/* SPDX-License-Identifier: MIT */
/* Clusters of blocks: their numbers, a histogram in the shared memory of all blocks of a cluster, sums handed on from
 * block to block, and clusters of two dimensions, whose blocks are not successive. */
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

#include "expect.h"

namespace cg = cooperative_groups;

/* Each block has a part of the bins in its shared memory; all of its cluster add to them. */
__global__ void histogram(const unsigned *values, int n, unsigned *bins, int bins_per_block)
{
	extern __shared__ unsigned own[];
	cg::cluster_group cluster = cg::this_cluster();

	for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
		own[i] = 0;
	cluster.sync();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
		unsigned bin = values[i] % (bins_per_block * cluster.num_blocks());
		unsigned *there = cluster.map_shared_rank(own, bin / bins_per_block);
		atomicAdd(there + bin % bins_per_block, 1);
	}
	cluster.sync();
	for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
		atomicAdd(&bins[cluster.block_rank() * bins_per_block + i], own[i]);
}

/* Block r of a cluster writes its number into the shared memory of block r + 1, round after round. */
__global__ void __cluster_dims__(2, 2, 1) ring(unsigned *sums, int rounds)
{
	__shared__ unsigned box[2];
	cg::cluster_group cluster = cg::this_cluster();
	unsigned n = cluster.num_blocks(), rank = cluster.block_rank(), sum = 0;
	unsigned value = blockIdx.y * gridDim.x + blockIdx.x;

	for (int round = 0; round < rounds; round++) {
		if (threadIdx.x == 0)
			*cluster.map_shared_rank(&box[round % 2], (rank + 1) % n) = value;
		auto token = cluster.barrier_arrive();
		sum += round;
		cluster.barrier_wait(std::move(token));
		value = box[round % 2];
		sum += value;
	}
	if (threadIdx.x == 0)
		sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
	cluster.sync();
}

__global__ void numbers(unsigned *out)
{
	cg::cluster_group cluster = cg::this_cluster();
	dim3 index = cluster.block_index(), dims = cluster.dim_blocks();
	__shared__ int mark;
	unsigned *at = out + 8 * (blockIdx.z * gridDim.y * gridDim.x + blockIdx.y * gridDim.x + blockIdx.x);

	if (threadIdx.x == 0) {
		at[0] = cluster.block_rank();
		at[1] = index.x + 10 * index.y + 100 * index.z;
		at[2] = dims.x + 10 * dims.y + 100 * dims.z;
		at[3] = cluster.query_shared_rank(&mark);
		at[4] = cluster.query_shared_rank(cluster.map_shared_rank(&mark, cluster.num_blocks() - 1));
	}
	cluster.sync();
}

static cudaError_t launch_numbers(unsigned *out, dim3 grid, dim3 cluster)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};

	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = cluster.x;
	attribute.val.clusterDim.y = cluster.y;
	attribute.val.clusterDim.z = cluster.z;
	config.gridDim = grid;
	config.blockDim = 40;
	config.attrs = &attribute;
	config.numAttrs = 1;
	return cudaLaunchKernelEx(&config, numbers, out);
}

static void test_numbers()
{
	unsigned *out, host[8 * 24];

	cudaMalloc(&out, sizeof host);
	CHECK(launch_numbers(out, dim3(4, 3, 2), dim3(2, 1, 2)) == cudaSuccess);
	cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
	for (unsigned b = 0; b < 24; b++) {
		unsigned x = b % 4, z = b / 12;
		CHECK(host[8 * b] == x % 2 + 2 * z);
		CHECK(host[8 * b + 1] == x % 2 + 100 * z);
		CHECK(host[8 * b + 2] == 212);
		CHECK(host[8 * b + 3] == host[8 * b]);
		CHECK(host[8 * b + 4] == 3);
	}
	CHECK(launch_numbers(out, dim3(5), dim3(2)) != cudaSuccess);
	CHECK(launch_numbers(out, dim3(16), dim3(16)) == cudaErrorInvalidClusterSize);
	CHECK(cudaFuncSetAttribute(numbers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess);
	CHECK(launch_numbers(out, dim3(16), dim3(16)) == cudaSuccess);
	CHECK(launch_numbers(out, dim3(32), dim3(32)) == cudaErrorInvalidClusterSize);
	cudaFree(out);
}

static void test_histogram()
{
	const int n = 1000, per_block = 8, blocks = 8, size = 4;
	unsigned *values, *bins, host[n], expected[per_block * size] = {}, found[per_block * size];
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	int clusters = 0, potential = 0;

	for (int i = 0; i < n; i++) {
		host[i] = i * 2654435761u >> 7;
		expected[host[i] % (per_block * size)]++;
	}
	cudaMalloc(&values, sizeof host);
	cudaMalloc(&bins, sizeof found);
	cudaMemset(bins, 0, sizeof found);
	cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = size;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = blocks;
	config.blockDim = 64;
	config.dynamicSmemBytes = per_block * sizeof(unsigned);
	config.attrs = &attribute;
	config.numAttrs = 1;
	CHECK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config) == cudaSuccess && clusters > 0);
	CHECK(cudaOccupancyMaxPotentialClusterSize(&potential, histogram, &config) == cudaSuccess && potential == 8);
	CHECK(cudaLaunchKernelEx(&config, histogram, (const unsigned *)values, n, bins, per_block) == cudaSuccess);
	cudaMemcpy(found, bins, sizeof found, cudaMemcpyDeviceToHost);
	for (int i = 0; i < per_block * size; i++)
		CHECK(found[i] == expected[i]);
	cudaFree(values);
	cudaFree(bins);
}

static void test_ring()
{
	const int rounds = 6;
	unsigned *sums, host[4 * 6];

	cudaMalloc(&sums, sizeof host);
	cudaGetLastError();
	ring<<<dim3(4, 6), 64>>>(sums, rounds);
	CHECK(cudaGetLastError() == cudaSuccess);
	cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
	for (int y = 0; y < 6; y++)
		for (int x = 0; x < 4; x++) {
			unsigned sum = 0;
			for (int round = 0; round < rounds; round++) {
				/* The value that comes in round r was block rank - 1 - r's, modulo 4. */
				int rank = ((x % 2 + 2 * (y % 2)) - 1 - round + 8) % 4;
				sum += round + (y / 2 * 2 + rank / 2) * 4 + x / 2 * 2 + rank % 2;
			}
			CHECK(host[y * 4 + x] == sum);
		}
	cudaFree(sums);
}

int main()
{
	int supported = 0;

	CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, 0) == cudaSuccess && supported == 1);
	test_numbers();
	test_histogram();
	test_ring();
	return verdict();
}
