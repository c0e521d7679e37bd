// SPDX-License-Identifier: MIT
// Kernels whose counters users of Nsight Compute have posted: a reduction in place in global memory (an Ampere GPU), whose last
// warp adds through a volatile pointer, and exchanges by one warp on 32, 4 and 1 addresses (an RTX 3070), the results unused.
#include <cstdio>

__global__ void reduce_global(int *all, int *sums)
{
	int *data = all + blockIdx.x * blockDim.x;
	unsigned lane = threadIdx.x;

	for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
		if (lane < half)
			data[lane] += data[lane + half];
		__syncthreads();
	}
	if (lane < 32) {
		volatile int *last = data;
		last[lane] += last[lane + 32];
		last[lane] += last[lane + 16];
		last[lane] += last[lane + 8];
		last[lane] += last[lane + 4];
		last[lane] += last[lane + 2];
		last[lane] += last[lane + 1];
	}
	if (lane == 0)
		sums[blockIdx.x] = data[0];
}

__global__ void exchange_32(int *data) { atomicExch(&data[threadIdx.x], 1); }
__global__ void exchange_4(int *data) { atomicExch(&data[threadIdx.x / 8], 1); }
__global__ void exchange_1(int *data) { atomicExch(&data[0], 1); }
__global__ void swap_4(int *data) { atomicCAS(&data[threadIdx.x / 8], 0, 1); }
__global__ void add_4(int *data) { atomicAdd(&data[threadIdx.x / 8], 1); }

int main()
{
	const unsigned blocks = 64, block = 256;
	int *data, *sums, host[blocks], right = 1;

	cudaMallocManaged(&data, sizeof(int) * blocks * block);
	cudaMalloc(&sums, sizeof host);
	for (unsigned i = 0; i < blocks * block; i++)
		data[i] = 1;
	reduce_global<<<blocks, block>>>(data, sums);
	cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
	for (unsigned i = 0; i < blocks; i++)
		right &= host[i] == (int)block;
	exchange_32<<<1, 32>>>(data);
	exchange_4<<<1, 32>>>(data);
	exchange_1<<<1, 32>>>(data);
	swap_4<<<1, 32>>>(data);
	add_4<<<1, 32>>>(data);
	right &= cudaDeviceSynchronize() == cudaSuccess;
	puts(right ? "PASS" : "FAIL");
	return !right;
}
