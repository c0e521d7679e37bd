/* SPDX-License-Identifier: MIT */
/* rodinia_pathfinder [columns [rows [height]]]: the cheapest way down a grid, a step straight or aside a
 * row, as Rodinia's pathfinder finds it: a block of 256 loads its part of a row and goes down `height`
 * rows, losing a column at each side a row, so that blocks overlap. Equal to the CPU. */
#include "suite.h"

enum { WIDTH = 256 };

static __host__ __device__ int least(int a, int b) { return a < b ? a : b; }

__global__ void dynproc_kernel(int height, int *wall, int *from, int *to, int columns, int first, int border)
{
	__shared__ int before[WIDTH], after[WIDTH];
	int tx = threadIdx.x, left = (WIDTH - 2 * height) * (int)blockIdx.x - border, x = left + tx, computed = 0;
	int low = left < 0 ? -left : 0, high = left + WIDTH > columns ? columns - 1 - left : WIDTH - 1;
	int west = tx - 1 < low ? low : tx - 1, east = tx + 1 > high ? high : tx + 1, valid = tx >= low && tx <= high;

	if (x >= 0 && x < columns)
		before[tx] = from[x];
	__syncthreads();
	for (int i = 0; i < height; i++) {
		computed = tx > i && tx < WIDTH - 1 - i && valid;
		if (computed)
			after[tx] = least(least(before[west], before[tx]), before[east]) + wall[columns * (first + i) + x];
		__syncthreads();
		if (i == height - 1)
			break;
		if (computed)
			before[tx] = after[tx];
		__syncthreads();
	}
	if (computed)
		to[x] = after[tx];
}

static void on_cpu(const int *row, const int *before, int *after, int columns)
{
	for (int x = 0; x < columns; x++) {
		int west = before[x > 0 ? x - 1 : 0], east = before[x < columns - 1 ? x + 1 : columns - 1];

		after[x] = least(least(west, before[x]), east) + row[x];
	}
}

int main(int argc, char **argv)
{
	int columns = argument(argc, argv, 1, 100000), rows = argument(argc, argv, 2, 100), height = argument(argc, argv, 3, 20);
	size_t all = (size_t)columns * rows;
	int *wall = host_ints(all), *now = host_ints(columns), *next = host_ints(columns);
	unsigned state = 1;

	if (height >= WIDTH / 2) {
		fprintf(stderr, "%s: height must be below %d\n", argv[0], WIDTH / 2);
		return 2;
	}
	for (size_t i = 0; i < all; i++)
		wall[i] = (int)(next_random(&state) % 10);
	memcpy(now, wall, sizeof(int) * (size_t)columns);
	/* The first row is where ways begin; the walls are those below it. */
	int *dnow = ints_to_device(now, columns), *dnext = (int *)device_bytes(sizeof(int) * (size_t)columns);
	int *dwall = ints_to_device(wall + columns, all - (size_t)columns), *other;

	for (int first = 0; first < rows - 1; first += height) {
		dynproc_kernel<<<divide_up(columns, WIDTH - 2 * height), WIDTH>>>(least(height, rows - 1 - first), dwall, dnow, dnext,
										  columns, first, height);
		finish("dynproc_kernel");
		other = dnow, dnow = dnext, dnext = other;
	}
	for (int row = 1; row < rows; row++) {
		on_cpu(wall + (size_t)row * columns, now, next, columns);
		other = now, now = next, next = other;
	}
	return report(differ_ints("cost", dnow, now, columns));
}
