/* SPDX-License-Identifier: MIT */
/* Kernels in pairs for tests/findings.bats: what a warp's lanes access together. The first of a pair has a finding, at the line that a comment
 * names; the second does the same work without. */
#include "run.h"

/* Sums of the rows of a matrix: by rows in memory, lanes are a row apart. */
__global__ void load_bad(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += a[row * n + k]; /* load:uncoalesced_load */
	b[row] = sum;
}

/* The matrix by columns: lanes are neighbours. */
__global__ void load_mended(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
	float sum = 0;

#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += a[k * rows + row];
	b[row] = sum;
}

/* Writes a value to each element of a row. */
__global__ void store_bad(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float value = a[row];

#pragma unroll 1
	for (int k = 0; k < n; k++)
		b[row * n + k] = value + k; /* store:uncoalesced_store */
}

__global__ void store_mended(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
	float value = a[row];

#pragma unroll 1
	for (int k = 0; k < n; k++)
		b[k * rows + row] = value + k;
}

/* Adds to each element of a row. */
__global__ void atomic_bad(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float value = a[row];

#pragma unroll 1
	for (int k = 0; k < n; k++)
		atomicAdd(&b[row * n + k], value); /* atomic:uncoalesced_atomic */
}

__global__ void atomic_mended(float *a, float *b, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
	float value = a[row];

#pragma unroll 1
	for (int k = 0; k < n; k++)
		atomicAdd(&b[k * rows + row], value);
}

/* Data behind a head of one element; mended: of a line. */
__global__ void misaligned_load_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i + 1]; /* misaligned_load:misaligned */
}

__global__ void misaligned_load_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i + 32];
}

__global__ void misaligned_store_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = a[i];

	if (i < n)
		b[i + 1] = value; /* misaligned_store:misaligned */
}

__global__ void misaligned_store_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = a[i];

	if (i < n)
		b[i + 32] = value;
}

/* One field of structures of eight; mended: an array of that field. */
struct particle {
	float x, y, z, vx, vy, vz, mass, charge;
};

__global__ void fields_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	struct particle *particles = (struct particle *)a;

	if (i < n)
		b[i] = particles[i].mass; /* fields:unused_bytes fields:uncoalesced_load */
}

__global__ void fields_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i];
}

/* The same of structures of 64 bytes, which is what L2 fetches. */
__global__ void wide_bad(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i * 16]; /* wide:unused_bytes */
}

__global__ void wide_mended(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i];
}

/* One parameter a block, from structures as long as a sector; mended: from an array. */
__global__ void parameters_bad(float *a, float *b, int n)
{
	__shared__ float parameter;

	if (threadIdx.x == 0)
		parameter = a[blockIdx.x * 8]; /* parameters:unused_bytes */
	__syncthreads();
	b[blockIdx.x * blockDim.x + threadIdx.x] = parameter * n;
}

__global__ void parameters_mended(float *a, float *b, int n)
{
	__shared__ float parameter;

	if (threadIdx.x == 0)
		parameter = a[blockIdx.x];
	__syncthreads();
	b[blockIdx.x * blockDim.x + threadIdx.x] = parameter * n;
}

/* Nothing to find. */
__global__ void copy(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i];
}

/* A copy by one thread of each block; mended: by a warp. */
__global__ void few_bad(float *a, float *b, int n)
{
#pragma unroll 1
	for (int i = blockIdx.x * n; i < (blockIdx.x + 1) * n; i++)
		b[i] = a[i];
}

__global__ void few_mended(float *a, float *b, int n)
{
#pragma unroll 1
	for (int i = blockIdx.x * n + threadIdx.x; i < (blockIdx.x + 1) * n; i += blockDim.x)
		b[i] = a[i];
}

int main(int argc, char **argv)
{
	static const struct named kernels[] = {
		NAMED(load_bad), NAMED(load_mended), NAMED(store_bad), NAMED(store_mended), NAMED(atomic_bad), NAMED(atomic_mended),
		NAMED(misaligned_load_bad), NAMED(misaligned_load_mended), NAMED(misaligned_store_bad), NAMED(misaligned_store_mended), NAMED(few_bad), NAMED(few_mended),
		NAMED(fields_bad), NAMED(fields_mended), NAMED(wide_bad), NAMED(wide_mended), NAMED(parameters_bad), NAMED(parameters_mended), NAMED(copy), {NULL, NULL}};

	return run_named(kernels, argc, argv);
}
