/* SPDX-License-Identifier: MIT */
/* reductions [n]: sums of n ints, by blocks of 256 threads, of as many ints each or of four times as many: by halves in global
 * memory, in place; in shared memory; and there with four loads a thread. The last 64 are added up by one warp. n is a
 * multiple of 1024. */
#include "example.h"

#define BLOCK 256
#define UNROLLED 4

/* The sum of BLOCK words into the first: halves of 128 and 64, then one warp, whose lanes all add at each distance. */
static __device__ void add_halves(volatile int *words, int thread)
{
	for (int half = BLOCK / 2; half > 32; half /= 2) {
		if (thread < half)
			words[thread] = words[thread] + words[thread + half];
		__syncthreads();
	}
	if (thread < 32) {
#pragma unroll
		for (int half = 32; half > 0; half /= 2) {
			int sum = words[thread] + words[thread + half];

			__syncwarp();
			words[thread] = sum;
			__syncwarp();
		}
	}
}

__global__ void reduce_global(int *in, int *sums)
{
	volatile int *words = in + (size_t)blockIdx.x * BLOCK;

	add_halves(words, threadIdx.x);
	if (threadIdx.x == 0)
		sums[blockIdx.x] = words[0];
}

template <int LOADS> static __device__ void in_shared(const int *in, int *sums)
{
	__shared__ int words[BLOCK];
	const int *first = in + (size_t)blockIdx.x * BLOCK * LOADS + threadIdx.x;
	int sum = 0;

#pragma unroll
	for (int i = 0; i < LOADS; i++)
		sum += first[i * BLOCK];
	words[threadIdx.x] = sum;
	__syncthreads();
	add_halves(words, threadIdx.x);
	if (threadIdx.x == 0)
		sums[blockIdx.x] = words[0];
}

__global__ void reduce_shared(const int *in, int *sums) { in_shared<1>(in, sums); }
__global__ void reduce_shared_unrolled(const int *in, int *sums) { in_shared<UNROLLED>(in, sums); }

static int differs(const char *name, const int *dsums, const int *in, int blocks, int words)
{
	int *sums = host_ints(blocks), differ;

	for (int b = 0; b < blocks; b++)
		for (int i = 0; i < words; i++)
			sums[b] += in[(size_t)b * words + i];
	differ = differ_ints(name, dsums, sums, blocks);
	free(sums);
	return differ;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 16384), blocks = n / BLOCK, unrolled = blocks / UNROLLED, differ = 0;
	unsigned seed = 1;
	int *in, *din, *dsums;

	if (n % (BLOCK * UNROLLED)) {
		fprintf(stderr, "%s: expected a multiple of %d, found %d\n", argv[0], BLOCK * UNROLLED, n);
		return 2;
	}
	in = host_ints(n);
	for (int i = 0; i < n; i++)
		in[i] = (int)(next_random(&seed) % 1000);
	din = ints_to_device(in, n);
	dsums = (int *)device_bytes(blocks * sizeof(int));
	reduce_shared<<<blocks, BLOCK>>>(din, dsums);
	finish("reduce_shared");
	differ |= differs("shared", dsums, in, blocks, BLOCK);
	reduce_shared_unrolled<<<unrolled, BLOCK>>>(din, dsums);
	finish("reduce_shared_unrolled");
	differ |= differs("unrolled", dsums, in, unrolled, BLOCK * UNROLLED);
	reduce_global<<<blocks, BLOCK>>>(din, dsums);
	finish("reduce_global");
	differ |= differs("global", dsums, in, blocks, BLOCK);
	try_cuda(cudaFree(din), "cudaFree");
	try_cuda(cudaFree(dsums), "cudaFree");
	free(in);
	return report(differ);
}
