/* SPDX-License-Identifier: MIT */
/* rodinia_hotspot [n [height [steps]]]: the heat of n x n cells of a chip, as Rodinia's hotspot computes
 * it: a block loads a tile of 16 x 16 and does `height` steps on it, losing a cell at each side a step,
 * so that tiles overlap. Equal to the CPU bit by bit. */
#include "suite.h"

enum { TILE = 16 };

static __host__ __device__ int within(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* One step of a cell from its own heat, its neighbours', and its power. */
static __host__ __device__ float stepped(float middle, float north, float south, float west, float east, float power)
{
	float sum = fmaf(0.1f, south + north - 2.0f * middle, power);

	sum = fmaf(0.1f, east + west - 2.0f * middle, sum);
	return fmaf(0.5f, fmaf(0.0033f, 80.0f - middle, sum), middle);
}

__global__ void calculate_temp(int steps, float *power, float *from, float *to, int n, int border)
{
	__shared__ float now[TILE][TILE], heat[TILE][TILE], next[TILE][TILE];
	int tx = threadIdx.x, ty = threadIdx.y, inner = TILE - 2 * steps;
	int left = inner * blockIdx.x - border, top = inner * blockIdx.y - border;
	int x = left + tx, y = top + ty, at = n * y + x, computed = 0;

	if (y >= 0 && y < n && x >= 0 && x < n) {
		now[ty][tx] = from[at];
		heat[ty][tx] = power[at];
	}
	__syncthreads();
	int north = within(ty - 1, top < 0 ? -top : 0, TILE), west = within(tx - 1, left < 0 ? -left : 0, TILE);
	int south = within(ty + 1, 0, top + TILE > n ? n - 1 - top : TILE - 1);
	int east = within(tx + 1, 0, left + TILE > n ? n - 1 - left : TILE - 1);

	for (int step = 0; step < steps; step++) {
		computed = tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step && x >= 0 && x < n && y >= 0 && y < n;
		if (computed)
			next[ty][tx] = stepped(now[ty][tx], now[north][tx], now[south][tx], now[ty][west], now[ty][east], heat[ty][tx]);
		__syncthreads();
		if (step == steps - 1)
			break;
		if (computed)
			now[ty][tx] = next[ty][tx];
		__syncthreads();
	}
	if (computed)
		to[at] = next[ty][tx];
}

static void on_cpu(const float *power, const float *from, float *to, int n)
{
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			int north = within(y - 1, 0, n - 1), south = within(y + 1, 0, n - 1);
			int west = within(x - 1, 0, n - 1), east = within(x + 1, 0, n - 1), at = y * n + x;

			to[at] = stepped(from[at], from[north * n + x], from[south * n + x], from[y * n + west],
					 from[y * n + east], power[at]);
		}
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), height = argument(argc, argv, 2, 2), steps = argument(argc, argv, 3, 2);
	size_t all = (size_t)n * n;

	if (height >= TILE / 2) {
		fprintf(stderr, "%s: height must be below %d\n", argv[0], TILE / 2);
		return 2;
	}
	float *power = random_floats(all, 1), *now = random_floats(all, 2), *next = host_floats(all);
	float *dpower = floats_to_device(power, all), *dnow = floats_to_device(now, all), *dnext = floats_to_device(next, all);
	int tiles = divide_up(n, TILE - 2 * height);

	for (int step = 0; step < steps; step += height) {
		float *other = dnow;

		calculate_temp<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(height < steps - step ? height : steps - step, dpower, dnow,
									  dnext, n, height);
		finish("calculate_temp");
		dnow = dnext, dnext = other;
	}
	check_or_leave(6.0 * (double)all * steps);
	for (int step = 0; step < steps; step++) {
		float *other = now;

		on_cpu(power, now, next, n);
		now = next, next = other;
	}
	return report(differ_floats("heat", dnow, now, all));
}
