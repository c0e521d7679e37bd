/* SPDX-License-Identifier: MIT */
/* knee [kilobytes [passes [blocks]]]: where L1 ends. Blocks of 256 threads, one an SM if there are as many as SMs, each read the
 * same kilobytes over and over, every thread the words 256 apart from its own on. What L1 misses shows in the counters of a
 * profiler, and in the rate: prints the kilobytes and the bytes that the first block read in a tick of the clock, with a tab
 * between. The ticks have 32 bits. */
#include "example.h"

enum { THREADS = 256, AT_ONCE = 16 };

__global__ void knee(const float *words, float *sums, unsigned *ticks, int rows, int passes)
{
	float sum = 0.0f;
	unsigned before = (unsigned)clock();

	words += threadIdx.x;
	for (int pass = 0; pass < passes; pass++) {
#pragma unroll AT_ONCE
		for (int row = 0; row < rows; row++)
			sum += words[row * THREADS];
		sum *= 0.5f;
	}
	sums[blockIdx.x * THREADS + threadIdx.x] = sum;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*ticks = (unsigned)clock() - before;
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 32), passes = argument(argc, argv, 2, 4), blocks = argument(argc, argv, 3, 1);
	size_t words = (size_t)rows * THREADS, sums = (size_t)blocks * THREADS;
	float *host = random_floats(words, 1), *expected = host_floats(sums);
	float *device = floats_to_device(host, words), *dsums = (float *)device_bytes(sums * sizeof(float));
	unsigned ticks, *dticks = (unsigned *)device_bytes(sizeof *dticks);

	knee<<<blocks, THREADS>>>(device, dsums, dticks, rows, passes);
	finish("knee");
	to_host(&ticks, dticks, sizeof ticks);
	for (size_t i = 0; i < sums; i++)
		for (int pass = 0; pass < passes; pass++, expected[i] *= 0.5f)
			for (int row = 0; row < rows; row++)
				expected[i] += host[row * THREADS + i % THREADS];
	printf("%d\t%.2f\n", rows, (double)passes * words * sizeof(float) / ticks);
	return report(differ_floats("sums", dsums, expected, sums));
}
