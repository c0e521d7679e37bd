/* SPDX-License-Identifier: MIT */
/* strides [grid [block]]: the four base workloads of [003] table 3 (Kim, Eom, Kim: Analyzing Data Locality
 * on GPU Caches Using Static Profiling of Workloads, 2023), by default at their size, 32 blocks of 64
 * threads: lanes 32 elements apart, 4 apart, all at one place, side by side. Each kernel reads and writes
 * in the same pattern. */
#include "example.h"

__global__ void stride_32(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i * 32] = in[i * 32] + 1.0f;
}

__global__ void stride_4(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i * 4] = in[i * 4] + 1.0f;
}

__global__ void same_location(const float *in, float *out) { out[0] = in[0] + 1.0f; }

__global__ void coalescing(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = in[i] + 1.0f;
}

typedef void (*kernel)(const float *in, float *out);

/* Runs one of them on fresh buffers of 32 floats a thread. */
static int differs(const char *name, kernel run, int grid, int block, int stride)
{
	size_t threads = (size_t)grid * block, n = 32 * threads;
	float *in = random_floats(n, 1), *out = host_floats(n);
	float *din = floats_to_device(in, n), *dout = floats_to_device(out, n);
	int differ;

	run<<<grid, block>>>(din, dout);
	finish(name);
	for (size_t i = 0; i < threads; i++)
		out[i * stride] = in[i * stride] + 1.0f;
	differ = differ_floats(name, dout, out, n);
	try_cuda(cudaFree(din), "cudaFree");
	try_cuda(cudaFree(dout), "cudaFree");
	free(in);
	free(out);
	return differ;
}

int main(int argc, char **argv)
{
	int grid = argument(argc, argv, 1, 32), block = argument(argc, argv, 2, 64), differ = 0;

	differ |= differs("stride_32", stride_32, grid, block, 32);
	differ |= differs("stride_4", stride_4, grid, block, 4);
	differ |= differs("same_location", same_location, grid, block, 0);
	differ |= differs("coalescing", coalescing, grid, block, 1);
	return report(differ);
}
