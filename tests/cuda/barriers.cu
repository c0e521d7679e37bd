// SPDX-License-Identifier: MIT
// cuda::barrier in shared memory, for all threads and with asynchronous copies that report to it.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init
typedef cuda::barrier<cuda::thread_scope_block> barrier;

__global__ void shifts(const int *in, int *out)
{
	__shared__ barrier ready;
	__shared__ int words[128];
	int i = threadIdx.x, sum = 0;

	if (i == 0)
		init(&ready, blockDim.x);
	__syncthreads();
	for (int round = 0; round < 4; round++) {
		words[i] = in[i] * (round + 1);
		ready.arrive_and_wait();
		sum += words[(i + 37) % 128];
		auto token = ready.arrive();
		ready.wait(std::move(token));
	}
	out[i] = sum;
}

__global__ void copies(const int4 *in, int *out)
{
	__shared__ barrier ready;
	__shared__ __align__(16) int4 words[128];
	int i = threadIdx.x;

	if (i == 0)
		init(&ready, blockDim.x);
	__syncthreads();
	cuda::memcpy_async(&words[i], &in[i], cuda::aligned_size_t<16>(16), ready);
	ready.arrive_and_wait();
	out[i] = words[127 - i].x + words[(i + 64) % 128].w;
}

int main()
{
	int *in, *out;
	bool right = true;

	cudaMallocManaged(&in, 512 * sizeof *in);
	cudaMallocManaged(&out, 128 * sizeof *out);
	for (int i = 0; i < 512; i++)
		in[i] = i * i % 97;
	shifts<<<1, 128>>>(in, out);
	right = cudaDeviceSynchronize() == cudaSuccess;
	for (int i = 0; i < 128; i++)
		right = right && out[i] == 10 * in[(i + 37) % 128];
	printf("phases: %s\n", right ? "PASS" : "FAIL");
	copies<<<1, 128>>>((const int4 *)in, out);
	right = cudaDeviceSynchronize() == cudaSuccess;
	for (int i = 0; i < 128; i++)
		right = right && out[i] == in[4 * (127 - i)] + in[4 * ((i + 64) % 128) + 3];
	printf("copies: %s\n", right ? "PASS" : "FAIL");
	return !right;
}
