/* SPDX-License-Identifier: MIT */
/* Kernels in pairs for tests/findings.bats: what L1 and L2 keep. The first of a pair has a finding, at the line that a comment names; the second
 * does the same work without. */
#include "run.h"

enum { ROUNDS = 4, TILE = 4096 };

/* A load that L1 lets pass, so that L2 alone is looked at. A macro, since clang names the line of an inlined function, not that of its call. */
#define LOAD_FROM_L2(VALUE, P) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(VALUE) : "l"(P))

/* Each block reads its n elements again and again. */
__global__ void l1_capacity_bad(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n;
	float sum = 0;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int i = threadIdx.x; i < n; i += blockDim.x)
			sum += mine[i]; /* l1_capacity:l1_capacity */
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Tile by tile. */
__global__ void l1_capacity_mended(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n;
	float sum = 0;

#pragma unroll 1
	for (int tile = 0; tile < n; tile += TILE)
#pragma unroll 1
		for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
			for (int i = threadIdx.x; i < TILE; i += blockDim.x)
				sum += mine[tile + i];
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Planes that are n elements apart, of which a block reads a part again and again: with n a large power of two, the lines of all planes are in
 * the same sets; mended by padding (n). */
enum { PLANES = 8 };
__global__ void l1_conflict_bad(float *a, float *b, int n)
{
	const float *mine = a + blockIdx.x * blockDim.x;
	float sum = 0;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int plane = 0; plane < PLANES; plane++)
			sum += mine[(size_t)plane * n + threadIdx.x]; /* l1_conflict:l1_conflict */
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void l1_conflict_mended(float *a, float *b, int n)
{
	const float *mine = a + blockIdx.x * blockDim.x;
	float sum = 0;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int plane = 0; plane < PLANES; plane++)
			sum += mine[(size_t)plane * (n + 128) + threadIdx.x];
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Rounds of a stencil in a block's part, in place in global memory; mended: in shared memory. */
__global__ void dropped_bad(float *a, float *b, int n)
{
	float *mine = a + blockIdx.x * blockDim.x;
	int i = threadIdx.x;

#pragma unroll 1
	for (int round = 0; round < n; round++) {
		float other = mine[i ^ 1]; /* dropped:l1_dropped */
		__syncthreads();
		mine[i] = other + 1;
		__syncthreads();
	}
	b[blockIdx.x * blockDim.x + i] = mine[i];
}

__global__ void dropped_mended(float *a, float *b, int n)
{
	__shared__ float part[256];
	int i = threadIdx.x;

	part[i] = a[blockIdx.x * blockDim.x + i];
	__syncthreads();
#pragma unroll 1
	for (int round = 0; round < n; round++) {
		float other = part[i ^ 1];
		__syncthreads();
		part[i] = other + 1;
		__syncthreads();
	}
	a[blockIdx.x * blockDim.x + i] = part[i];
	b[blockIdx.x * blockDim.x + i] = part[i];
}

/* Each block of a row makes one result of the same part of `a`; mended: one block makes all eight, and reads the part once. */
enum { RESULTS = 8 };
__global__ void several_bad(float *a, float *b, int n)
{
	const float *part = a + (size_t)blockIdx.y * n;
	float sum = 0;

#pragma unroll 1
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum += part[i] * blockIdx.x; /* several:read_by_many_sms */
	b[(blockIdx.y * RESULTS + blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

__global__ void several_mended(float *a, float *b, int n)
{
	const float *part = a + (size_t)blockIdx.y * n;
	float sum[RESULTS] = {0};

#pragma unroll 1
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		float value = part[i];
#pragma unroll
		for (int k = 0; k < RESULTS; k++)
			sum[k] += value * k;
	}
#pragma unroll
	for (int k = 0; k < RESULTS; k++)
		b[(blockIdx.y * RESULTS + k) * blockDim.x + threadIdx.x] = sum[k];
}

/* As l1_capacity, of L2. */
__global__ void l2_capacity_bad(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n;
	float sum = 0, value;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int i = threadIdx.x; i < n; i += blockDim.x) {
			LOAD_FROM_L2(value, mine + i); /* l2_capacity:l2_capacity */
			sum += value;
		}
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void l2_capacity_mended(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n;
	float sum = 0, value;

#pragma unroll 1
	for (int tile = 0; tile < n; tile += TILE)
#pragma unroll 1
		for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
			for (int i = threadIdx.x; i < TILE; i += blockDim.x) {
				LOAD_FROM_L2(value, mine + tile + i);
				sum += value;
			}
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* The same of a sector of each 64 bytes, which is what L2 fetches. */
__global__ void l2_fetches_bad(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n + threadIdx.x / 8 * 16 + threadIdx.x % 8;
	float sum = 0, value;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int i = 0; i < n; i += 2 * blockDim.x) {
			LOAD_FROM_L2(value, mine + i); /* l2_fetches:l2_capacity */
			sum += value;
		}
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void l2_fetches_mended(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n + threadIdx.x / 8 * 16 + threadIdx.x % 8;
	float sum = 0, value;

#pragma unroll 1
	for (int i = 0; i < n; i += 2 * blockDim.x)
#pragma unroll 1
		for (int round = 0; round < ROUNDS; round++) {
			LOAD_FROM_L2(value, mine + i);
			sum += value;
		}
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* A line of each of n rows, again and again. Rows are (2^11 + 1) sectors apart, all in one set of an L2 whose index is the XOR of the slices of 11 bits;
 * mended: one sector more. */
__global__ void l2_conflict_bad(float *a, float *b, int n)
{
	float sum = 0, value;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int row = 0; row < n; row++) {
			LOAD_FROM_L2(value, a + (size_t)row * (2049 * 8) + threadIdx.x); /* l2_conflict:l2_conflict */
			sum += value;
		}
	b[threadIdx.x] = sum;
}

__global__ void l2_conflict_mended(float *a, float *b, int n)
{
	float sum = 0, value;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int row = 0; row < n; row++) {
			LOAD_FROM_L2(value, a + (size_t)row * (2050 * 8) + threadIdx.x);
			sum += value;
		}
	b[threadIdx.x] = sum;
}

/* A block writes its rows of 32 but for the last element, and then reads them whole; mended: it writes all. */
__global__ void partial_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x % 32 < 31)
		b[i] = n; /* partial:partial_store */
	__syncthreads();
	a[i] = b[i ^ 32];
}

__global__ void partial_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	b[i] = threadIdx.x % 32 < 31 ? n : 0;
	__syncthreads();
	a[i] = b[i ^ 32];
}

/* Sums of columns, which each turn of the loop stores; mended: in a register. */
__global__ void stored_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;

	b[i] = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		b[i] += a[k * threads + i]; /* stored:repeated_store */
}

__global__ void stored_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += a[k * threads + i];
	b[i] = sum;
}

/* As l1_capacity, but several blocks of an SM have too much together; mended: blocks of half the grid do two parts one after the other. */
__global__ void blocks_bad(float *a, float *b, int n)
{
	const float *mine = a + (size_t)blockIdx.x * n;
	float sum = 0;

#pragma unroll 1
	for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
		for (int i = threadIdx.x; i < n; i += blockDim.x)
			sum += mine[i]; /* blocks:l1_capacity */
	b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void blocks_mended(float *a, float *b, int n)
{
#pragma unroll 1
	for (int part = blockIdx.x; part < 4 * gridDim.x; part += gridDim.x) {
		const float *mine = a + (size_t)part * n;
		float sum = 0;
#pragma unroll 1
		for (int round = 0; round < ROUNDS; round++)
#pragma unroll 1
			for (int i = threadIdx.x; i < n; i += blockDim.x)
				sum += mine[i];
		b[part * blockDim.x + threadIdx.x] = sum;
	}
}

int main(int argc, char **argv)
{
	static const struct named kernels[] = {
		NAMED(l1_capacity_bad), NAMED(l1_capacity_mended), NAMED(l1_conflict_bad), NAMED(l1_conflict_mended), NAMED(dropped_bad), NAMED(dropped_mended),
		NAMED(several_bad), NAMED(several_mended), NAMED(l2_capacity_bad), NAMED(l2_capacity_mended), NAMED(l2_fetches_bad), NAMED(l2_fetches_mended), NAMED(l2_conflict_bad), NAMED(l2_conflict_mended),
		NAMED(partial_bad), NAMED(partial_mended), NAMED(stored_bad), NAMED(stored_mended), NAMED(blocks_bad), NAMED(blocks_mended), {NULL, NULL}};

	return run_named(kernels, argc, argv);
}
