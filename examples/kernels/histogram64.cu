/* SPDX-License-Identifier: MIT */
/* histogram64 [n]: of 16 n bytes, how often each value of their upper six bits occurs, in the way of CUDA's sample histogram: each
 * thread reads 16 bytes at a time and counts in bytes of shared memory that are its own, so it reads up to 15 times; then a thread
 * for each value adds up those of its block. The host adds up the blocks. */
#include "example.h"

enum { THREADS = 64, VALUES = 64, TURNS = 15 };

struct __attribute__((aligned(16))) quad {
	unsigned word[4];
};

/* Byte `value` of a thread; threads of a warp are in different banks, 4 of them in a word. */
static __device__ void count_word(unsigned char *own, unsigned word)
{
	for (int byte = 0; byte < 4; byte++)
		own[(word >> (8 * byte + 2) & 63) * THREADS]++;
}

__global__ void histogram64Kernel(unsigned *found, const quad *data, int n)
{
	__shared__ unsigned char counts[VALUES * THREADS];
	int thread = threadIdx.x;

#pragma unroll 1
	for (int value = 0; value < VALUES; value++)
		counts[value * THREADS + thread] = 0;
#pragma unroll 1
	for (int i = blockIdx.x * THREADS + thread; i < n; i += gridDim.x * THREADS) {
		quad read = data[i];
		for (int word = 0; word < 4; word++)
			count_word(counts + thread, read.word[word]);
	}
	__syncthreads();
	unsigned sum = 0;
#pragma unroll 1
	for (int other = 0; other < THREADS; other++)
		sum += counts[thread * THREADS + (thread + other) % THREADS];
	found[blockIdx.x * VALUES + thread] = sum;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), blocks = divide_up(n, THREADS * TURNS);
	unsigned *data = (unsigned *)host_bytes((size_t)n * sizeof(quad)), seed = 1;
	int *found, *each = host_ints((size_t)blocks * VALUES);
	unsigned char *bytes = (unsigned char *)data;

	for (size_t i = 0; i < 4 * (size_t)n; i++)
		data[i] = next_random(&seed);
	quad *ddata = (quad *)to_device(data, (size_t)n * sizeof(quad));
	found = ints_to_device(each, (size_t)blocks * VALUES);
	histogram64Kernel<<<blocks, THREADS>>>((unsigned *)found, ddata, n);
	finish("histogram64Kernel");
	for (size_t i = 0; i < (size_t)n; i++)
		for (size_t byte = 0; byte < sizeof(quad); byte++)
			each[i / THREADS % (size_t)blocks * VALUES + (bytes[i * sizeof(quad) + byte] >> 2)]++;
	return report(differ_ints("found", found, each, (size_t)blocks * VALUES));
}
