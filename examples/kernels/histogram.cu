/* SPDX-License-Identifier: MIT */
/* histogram [n [bins [block [grid]]]]: how often each of up to 1024 values occurs. A block counts in
 * shared memory by atomic additions, then adds what it has found to the result by global ones. */
#include "example.h"

#define BINS_MAX 1024

__global__ void histogram(const int *values, unsigned *count, int n, int bins)
{
	__shared__ unsigned own[BINS_MAX];

#pragma unroll 1
	for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
		own[bin] = 0;
	__syncthreads();
#pragma unroll 1
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[values[i]], 1u);
	__syncthreads();
#pragma unroll 1
	for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
		if (own[bin])
			atomicAdd(&count[bin], own[bin]);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 10000), bins = argument(argc, argv, 2, 256);
	int block = argument(argc, argv, 3, 128), grid = argument(argc, argv, 4, 8);
	int *values = host_ints(n), *count, *dvalues, *dcount;
	unsigned seed = 1;

	if (bins > BINS_MAX) {
		fprintf(stderr, "%s: expected up to %d bins, found %d\n", argv[0], BINS_MAX, bins);
		return 2;
	}
	count = host_ints(bins);
	for (int i = 0; i < n; i++)
		values[i] = (int)(next_random(&seed) % (unsigned)bins);
	dvalues = ints_to_device(values, n);
	dcount = ints_to_device(count, bins);
	histogram<<<grid, block>>>(dvalues, (unsigned *)dcount, n, bins);
	finish("histogram");
	for (int i = 0; i < n; i++)
		count[values[i]]++;
	return report(differ_ints("count", dcount, count, bins));
}
