/* SPDX-License-Identifier: MIT */
/* transposes [n]: n x n doubles transposed by blocks of 32 x 32 threads in five ways, n a multiple of 32: reads or
 * writes that run down a column, and through a tile in shared memory that is filled or read down its columns, or has
 * one more. */
#include "example.h"

static inline __device__ int place(int tile_row, int tile_column, int n)
{
	return (tile_row * 32 + threadIdx.y) * n + tile_column * 32 + threadIdx.x;
}

static inline __device__ int place_down(int tile_row, int tile_column, int n)
{
	return (tile_row * 32 + threadIdx.x) * n + tile_column * 32 + threadIdx.y;
}

__global__ void reads_down(const double *in, double *out, int n)
{
	out[place(blockIdx.y, blockIdx.x, n)] = in[place_down(blockIdx.x, blockIdx.y, n)];
}

__global__ void writes_down(const double *in, double *out, int n)
{
	out[place_down(blockIdx.x, blockIdx.y, n)] = in[place(blockIdx.y, blockIdx.x, n)];
}

__global__ void tile_filled_down(const double *in, double *out, int n)
{
	__shared__ double tile[32][32];

	tile[threadIdx.x][threadIdx.y] = in[place(blockIdx.y, blockIdx.x, n)];
	__syncthreads();
	out[place(blockIdx.x, blockIdx.y, n)] = tile[threadIdx.y][threadIdx.x];
}

__global__ void tile_read_down(const double *in, double *out, int n)
{
	__shared__ double tile[32][32];

	tile[threadIdx.y][threadIdx.x] = in[place(blockIdx.y, blockIdx.x, n)];
	__syncthreads();
	out[place(blockIdx.x, blockIdx.y, n)] = tile[threadIdx.x][threadIdx.y];
}

__global__ void tile_padded(const double *in, double *out, int n)
{
	__shared__ double tile[32][33];

	tile[threadIdx.x][threadIdx.y] = in[place(blockIdx.y, blockIdx.x, n)];
	__syncthreads();
	out[place(blockIdx.x, blockIdx.y, n)] = tile[threadIdx.y][threadIdx.x];
}

/* What device memory holds is compared as pairs of words: moved, not computed. */
static int wrong(const char *name, const double *device, const double *expected, size_t all)
{
	finish(name);
	return differ_ints(name, (const int *)device, (const int *)expected, 2 * all);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 64), differ = 0;
	dim3 grid(n / 32, n / 32), block(32, 32);
	size_t all = (size_t)n * n, bytes = all * sizeof(double);
	double *in, *out, *din, *dout;

	if (n % 32) {
		fprintf(stderr, "%s: expected a multiple of 32, found %d\n", argv[0], n);
		return 2;
	}
	in = (double *)host_bytes(bytes);
	out = (double *)host_bytes(bytes);
	for (size_t i = 0; i < all; i++) {
		in[i] = (double)i;
		out[i % n * n + i / n] = (double)i;
	}
	din = (double *)to_device(in, bytes);
	dout = (double *)device_bytes(bytes);
	reads_down<<<grid, block>>>(din, dout, n);
	differ |= wrong("reads_down", dout, out, all);
	writes_down<<<grid, block>>>(din, dout, n);
	differ |= wrong("writes_down", dout, out, all);
	tile_filled_down<<<grid, block>>>(din, dout, n);
	differ |= wrong("tile_filled_down", dout, out, all);
	tile_read_down<<<grid, block>>>(din, dout, n);
	differ |= wrong("tile_read_down", dout, out, all);
	tile_padded<<<grid, block>>>(din, dout, n);
	differ |= wrong("tile_padded", dout, out, all);
	return report(differ);
}
