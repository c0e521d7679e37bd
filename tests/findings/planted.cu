/* SPDX-License-Identifier: MIT */
/* Kernels as programs have them, with several arrays, each with one fault that was put there; with -DMENDED, without it. The line of the fault says which
 * finding it is, and of which array; see planted.py. */
#include <cuda_runtime.h>

#ifdef MENDED
#define MENDED_OR(mended, bad) mended
#else
#define MENDED_OR(mended, bad) bad
#endif
#define N (1 << 16)
#define AT (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void axpy(const float *x, const float *y, float *z)
{
	z[AT] = 2 * x[AT + MENDED_OR(32, 1)] + y[AT]; /* planted: misaligned x */
}

struct body { float x, y, z, mass; };

__global__ void energy(const struct body *bodies, const float *masses, const float *v, float *e)
{
	float mass = MENDED_OR(masses[AT], bodies[AT].mass); /* planted: unused_bytes bodies */

	e[AT] = mass * v[AT] * v[AT] / 2;
}

/* Each field is loaded by itself, past L1. */
__global__ void norm(const struct body *bodies, float *e)
{
#ifdef MENDED
	float4 all = reinterpret_cast<const float4 *>(bodies)[AT];

	e[AT] = all.x + all.y + all.z + all.w;
#else
	const volatile struct body *one = bodies + AT;

	e[AT] = one->x + one->y + one->z + one->mass; /* planted: uncoalesced_load bodies */
#endif
}

__global__ void sums(const float *rows, const float *columns, float *s, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += MENDED_OR(columns[i * 1024 + AT], rows[AT * n + i]); /* planted: uncoalesced_load a */
	s[AT] = sum;
}

__global__ void transpose(const float *in, float *out)
{
	__shared__ float tile[32][MENDED_OR(33, 32)];

	tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * 256 + blockIdx.x * 32 + threadIdx.x];
	__syncthreads();
	out[(blockIdx.x * 32 + threadIdx.y) * 256 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; /* planted: bank_conflict tile */
}

__global__ void count(const float *v, int *hits)
{
#ifdef MENDED
	int all = __syncthreads_count(v[AT] >= 0);

	if (threadIdx.x == 0)
		atomicAdd(hits, all);
#else
	if (v[AT] >= 0)
		atomicMax(hits, (int)AT); /* planted: same_address_atomic hits */
#endif
}

/* A table of 512 KB, four times; by tiles of 64 KB. */
__global__ void gather(const float *table, float *out)
{
	float sum = 0;

	for (int tile = 0; tile < MENDED_OR(8, 1); tile++)
		for (int turn = 0; turn < 4; turn++)
			for (int i = threadIdx.x; i < MENDED_OR(16384, 131072); i += blockDim.x)
				sum += table[tile * 16384 + i] * turn; /* planted: l1_capacity table */
	out[AT] = sum;
}

__global__ void mask(const float *v, unsigned char *masks)
{
	masks[AT * MENDED_OR(1, 4)] = v[AT] > 0; /* planted: uncoalesced_store masks */
}

/* Each thread has elements beside each other. */
__global__ void scale(const float *a, float *b)
{
	for (int i = 0; i < 16; i++)
		b[MENDED_OR(i * 4096 + AT, AT * 16 + i)] = a[MENDED_OR(i * 4096 + AT, AT * 16 + i)] * 2; /* planted: uncoalesced_store b */
}

/* The sum goes through memory; a register would do. */
__global__ void dot(const float *a, const float *x, float *y)
{
#ifdef MENDED
	float sum = 0;

	for (int i = 0; i < 32; i++)
		sum += a[i * 2048 + AT] * x[i];
	y[AT] = sum;
#else
	volatile float *sum = y;

	sum[AT] = 0;
	for (int i = 0; i < 32; i++)
		sum[AT] += a[i * 2048 + AT] * x[i]; /* planted: repeated_store y */
#endif
}

int main()
{
	float *a, *b, *x, *y, *table; struct body *bodies; int *hits; unsigned char *masks;

	cudaMalloc(&x, (N + 32) * 4); cudaMalloc(&y, N * 4); cudaMalloc(&a, N * 4); cudaMalloc(&b, N * 4);
	cudaMalloc(&table, 131072 * 4); cudaMalloc(&bodies, N * sizeof *bodies); cudaMalloc(&hits, 4); cudaMalloc(&masks, N * 4);
	float *rows = a, *columns = b;
	cudaMemset(a, 0, N * 4);
	cudaMemset(x, 0, (N + 32) * 4);
	axpy<<<N / 256, 256>>>(x, y, a);
	energy<<<N / 256, 256>>>(bodies, x, y, a);
	norm<<<N / 256, 256>>>(bodies, a);
	sums<<<4, 256>>>(rows, columns, y, 64);
	transpose<<<dim3(8, 8), dim3(32, 32)>>>(x, b);
	count<<<N / 256, 256>>>(x, hits);
	gather<<<2, 1024>>>(table, a);
	mask<<<N / 256, 256>>>(x, masks);
	scale<<<16, 256>>>(a, b);
	dot<<<8, 256>>>(a, x, y);
	return cudaDeviceSynchronize();
}
