/* SPDX-License-Identifier: MIT */
/* transpose_tiled [rows [columns [block_y]]]: as transpose, through a tile of 32 x 32 in shared
 * memory, so that reads and writes both run along a row. A column of padding keeps the reads of a
 * tile's column in 32 different banks. Blocks are 32 x block_y threads. */
#include "example.h"

#define TILE 32

__global__ void transpose_tiled(const float *in, float *out, int rows, int columns)
{
	__shared__ float tile[TILE][TILE + 1];
	int first_x = blockIdx.x * TILE, first_y = blockIdx.y * TILE, x = threadIdx.x;

#pragma unroll 1
	for (int y = threadIdx.y; y < TILE; y += blockDim.y)
		if (first_x + x < columns && first_y + y < rows)
			tile[y][x] = in[(first_y + y) * columns + first_x + x];
	__syncthreads();
#pragma unroll 1
	for (int y = threadIdx.y; y < TILE; y += blockDim.y)
		if (first_y + x < rows && first_x + y < columns)
			out[(first_x + y) * rows + first_y + x] = tile[x][y];
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 64), columns = argument(argc, argv, 2, 64);
	dim3 block(TILE, argument(argc, argv, 3, 8));
	size_t all = (size_t)rows * columns;
	float *in = random_floats(all, 1), *out = host_floats(all);
	float *din = floats_to_device(in, all), *dout = floats_to_device(out, all);

	transpose_tiled<<<dim3(divide_up(columns, TILE), divide_up(rows, TILE)), block>>>(din, dout, rows, columns);
	finish("transpose_tiled");
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < columns; x++)
			out[x * rows + y] = in[y * columns + x];
	return report(differ_floats("out", dout, out, all));
}
