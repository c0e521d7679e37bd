/* SPDX-License-Identifier: MIT */
/* Kernels in pairs for tests/findings.bats: shared, local and constant memory, atomics, launches, device memory, TLBs, waiting. The first of a pair has a
 * finding, at the line that a comment names; the second does the same work without. */
#include "run.h"

/* Transposes tiles of 32 x 32 of a matrix of n columns, 32 columns a tile; mended: a row of the tile is a word longer. */
__global__ void bank_bad(float *a, float *b, int n)
{
	__shared__ float tile[32][32];
	int x = blockIdx.x * 32 + threadIdx.x;

#pragma unroll 1
	for (int y = threadIdx.y; y < 32; y += blockDim.y)
		tile[y][threadIdx.x] = a[y * n + x];
	__syncthreads();
#pragma unroll 1
	for (int y = threadIdx.y; y < 32; y += blockDim.y)
		b[(blockIdx.x * 32 + y) * 32 + threadIdx.x] = tile[threadIdx.x][y]; /* bank:bank_conflict */
}

__global__ void bank_mended(float *a, float *b, int n)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x;

#pragma unroll 1
	for (int y = threadIdx.y; y < 32; y += blockDim.y)
		tile[y][threadIdx.x] = a[y * n + x];
	__syncthreads();
#pragma unroll 1
	for (int y = threadIdx.y; y < 32; y += blockDim.y)
		b[(blockIdx.x * 32 + y) * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

/* Counts a thread's n elements into four bins: an array that is indexed is in local memory; mended: four variables. */
__global__ void local_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
	float bins[4] = {0};

#pragma unroll 1
	for (int k = 0; k < n; k++)
		bins[(int)a[k * threads + i] & 3] += 1; /* local:local_memory */
	b[i] = bins[0] + 2 * bins[1] + 3 * bins[2] + 4 * bins[3];
}

__global__ void local_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
	float bin0 = 0, bin1 = 0, bin2 = 0, bin3 = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++) {
		int bin = (int)a[k * threads + i] & 3;
		bin0 += bin == 0;
		bin1 += bin == 1;
		bin2 += bin == 2;
		bin3 += bin == 3;
	}
	b[i] = bin0 + 2 * bin1 + 3 * bin2 + 4 * bin3;
}

/* A sum: each thread adds to it; mended: a block adds up first. */
__global__ void sum_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(b, a[i]); /* sum:same_address_atomic */
}

__global__ void sum_mended(float *a, float *b, int n)
{
	__shared__ float part[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < n ? a[i] : 0;
	__syncthreads();
#pragma unroll 1
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(b, part[0]);
}

/* One step of many, which is launched again and again; mended: all steps in one launch. */
__global__ void launches_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	b[i] = a[i] + n; /* launches:launch_traffic */
}

__global__ void launches_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

#pragma unroll 1
	for (int step = 0; step < n; step++) {
		b[i] = a[i] + n;
		__syncthreads();
	}
}

/* Half warps read n pieces of 64 bytes each: one half warp's pieces lie one behind the other, those of a step n pieces apart; mended: those of a step lie
 * one behind the other. */
__global__ void rows_bad(float *a, float *b, int n)
{
	int thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += a[((size_t)(thread / 16) * n + k) * 16 + thread % 16]; /* rows:dram_rows */
	b[thread] = sum;
}

__global__ void rows_mended(float *a, float *b, int n)
{
	int thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += a[(size_t)k * gridDim.x * blockDim.x + thread];
	b[thread] = sum;
}

/* Each warp reads the first 128 bytes of a row of n elements; mended: rows have 64 elements more. */
__global__ void channels_bad(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.y + threadIdx.y;

	b[row * 32 + threadIdx.x] = a[(size_t)row * n + threadIdx.x]; /* channels:dram_channels */
}

__global__ void channels_mended(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.y + threadIdx.y;

	b[row * 32 + threadIdx.x] = a[(size_t)row * (n + 64) + threadIdx.x];
}

/* A line of each of n pages of 2 MB, then another of each, and so on; mended: all lines of a page at once. */
enum { PAGE = 2 << 20 >> 2, LINES = 64 };
__global__ void tlb_bad(float *a, float *b, int n)
{
	float sum = 0;

#pragma unroll 1
	for (int line = 0; line < LINES; line++)
#pragma unroll 1
		for (int page = 0; page < n; page++)
			sum += a[(size_t)page * PAGE + line * 32 + threadIdx.x]; /* tlb:tlb_reach */
	b[threadIdx.x] = sum;
}

__global__ void tlb_mended(float *a, float *b, int n)
{
	float sum = 0;

#pragma unroll 1
	for (int page = 0; page < n; page++)
#pragma unroll 1
		for (int line = 0; line < LINES; line++)
			sum += a[(size_t)page * PAGE + line * 32 + threadIdx.x];
	b[threadIdx.x] = sum;
}

/* A block waits for the one before it (flags in b); mended: none waits. */
__global__ void polling_bad(float *a, float *b, int n)
{
	volatile int *ready = (volatile int *)b;

	if (threadIdx.x == 0 && blockIdx.x < gridDim.x - 1)
		while (!ready[blockIdx.x + 1]) /* polling:polling */
			;
	__syncthreads();
	a[blockIdx.x * blockDim.x + threadIdx.x] = n;
	__syncthreads();
	if (threadIdx.x == 0)
		ready[blockIdx.x] = 1;
}

__global__ void polling_mended(float *a, float *b, int n)
{
	a[blockIdx.x * blockDim.x + threadIdx.x] = n;
	if (threadIdx.x == 0)
		((int *)b)[blockIdx.x] = 1;
}

__constant__ float powers[1024];

/* A table in constant memory, of which each lane reads another element; mended: in global memory. */
__global__ void constant_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	b[i] = powers[i % n];
}

__global__ void constant_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	b[i] = a[i % n];
}

int main(int argc, char **argv)
{
	static const struct named kernels[] = {
		NAMED(bank_bad), NAMED(bank_mended), NAMED(local_bad), NAMED(local_mended), NAMED(sum_bad), NAMED(sum_mended), NAMED(launches_bad),
		NAMED(launches_mended), NAMED(rows_bad), NAMED(rows_mended), NAMED(channels_bad), NAMED(channels_mended), NAMED(tlb_bad), NAMED(tlb_mended),
		NAMED(polling_bad), NAMED(polling_mended), NAMED(constant_bad), NAMED(constant_mended), {NULL, NULL}};

	return run_named(kernels, argc, argv);
}
