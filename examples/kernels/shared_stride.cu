/* SPDX-License-Identifier: MIT */
/* shared_stride [stride [iterations]]: listing 1 of [001]. The threads of one warp read shared memory `stride` words apart, 64
 * times in a row, each load at the address that the load before gave, and time it; the first iteration only loads what is cold.
 * Prints the stride and the mean of the clock's ticks of a load, with a tab between; then ok, if the loads gave what the words
 * have. A stride of s takes gcd(s, 32) passes on banks of one word. */
#include "example.h"

enum { WARP = 32, LOADS = 64, WORDS = 1024 };

__global__ void shared_stride(int stride, int iterations, unsigned *ticks, int *last)
{
	__shared__ int words[WORDS];
	int data = 0;
	unsigned sum = 0;

	/* Each word has its own place, so that every load has the address of the one before. */
#pragma unroll 1
	for (int i = threadIdx.x; i < WORDS; i += WARP)
		words[i] = i;
	__syncthreads();
#pragma unroll 1
	for (int i = 0; i <= iterations; i++) {
		data = (int)threadIdx.x * stride;
		if (i == 1)
			sum = 0;
		unsigned before = (unsigned)clock();
#pragma unroll
		for (int load = 0; load < LOADS; load++)
			data = ((volatile int *)words)[data];
		sum += (unsigned)clock() - before;
	}
	ticks[threadIdx.x] = sum;
	last[threadIdx.x] = data;
}

int main(int argc, char **argv)
{
	int stride = argument(argc, argv, 1, 1), iterations = argument(argc, argv, 2, 10), expected[WARP];
	unsigned ticks[WARP];

	if (stride > WORDS / WARP) {
		fprintf(stderr, "%s: expected a stride of up to %d\n", argv[0], WORDS / WARP);
		return 2;
	}
	unsigned *dticks = (unsigned *)device_bytes(WARP * sizeof *dticks);
	int *dlast = (int *)device_bytes(WARP * sizeof *dlast);
	shared_stride<<<1, WARP>>>(stride, iterations, dticks, dlast);
	finish("shared_stride");
	to_host(ticks, dticks, sizeof ticks);
	printf("%d\t%.1f\n", stride, ticks[0] / (double)LOADS / iterations);
	for (int i = 0; i < WARP; i++)
		expected[i] = i * stride;
	return report(differ_ints("last", dlast, expected, WARP));
}
