/* SPDX-License-Identifier: MIT */
/* The registers of a block: warps take them in units of 256, four warps at a time, of the 65536 of an SM. And the local memory of a thread. */
#include "expect.h"

template <int N> __device__ void sum_up(int *cells)
{
	int values[N], sum = 0;

	for (int i = 0; i < N; i++)
		values[i] = cells[i * 64 + threadIdx.x % 64];
	__syncthreads();
	for (int i = 0; i < N; i++) {
		sum = sum * 3 + values[i];
		cells[(N - i) * 64] = sum ^ values[N - 1 - i];
	}
	cells[threadIdx.x] = sum;
}

template <int N> __global__ void sums(int *cells) { sum_up<N>(cells); }

/* 64 registers a thread, which are not enough. */
__global__ void __launch_bounds__(1024) crowded(int *cells) { sum_up<120>(cells); }

struct list {
	int of[24];
};

/* PTX has a copy of the list in local memory, machine code none. */
__global__ void picks(struct list from, int *cells) { cells[threadIdx.x] = from.of[threadIdx.x % 24]; }

template <int N> static void try_sums(int *cells)
{
	cudaFuncAttributes attributes;

	MUST(cudaFuncGetAttributes(&attributes, sums<N>));
	const int warps = 65536 / ((attributes.numRegs * 32 + 255) / 256 * 256) / 4 * 4;
	CHECK(attributes.numRegs > 64 && warps < 32);
	CHECK(attributes.maxThreadsPerBlock == warps * 32);
	sums<N><<<1, warps * 32>>>(cells);
	CHECK(cudaGetLastError() == cudaSuccess);
	sums<N><<<1, warps * 32 + 32>>>(cells);
	CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
}

/* Its array cannot be in registers. */
__global__ void scatters(int *cells, int n)
{
	int values[50];

	for (int i = 0; i < n; i++)
		values[cells[i]] = cells[i + n];
	for (int i = 0; i < n; i++)
		cells[i] = values[cells[i] + 1];
}

int main()
{
	int *cells;
	cudaFuncAttributes attributes;

	MUST(cudaFuncGetAttributes(&attributes, scatters));
	CHECK(attributes.localSizeBytes == 50 * sizeof(int));

	MUST(cudaMalloc(&cells, 1 << 18));
	MUST(cudaMemset(cells, 0, 1 << 18));
	try_sums<80>(cells);
	try_sums<120>(cells);
	crowded<<<1, 1024>>>(cells);
	picks<<<1, 32>>>(list{{1, 2, 3}}, cells);
	MUST(cudaDeviceSynchronize());
	return verdict();
}
