/* SPDX-License-Identifier: MIT */
/* transpose_tiled [rows [columns [block_y [tile]]]]: as transpose, through a tile of 32 x 32 (or 16 x 16) in
 * shared memory, so that reads and writes both run along a row. A column of padding keeps the reads of a
 * tile's column in different banks. Blocks are tile x block_y threads. */
#include "example.h"

template <int TILE> static inline __device__ void through_tile(const float *in, float *out, int rows, int columns)
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

__global__ void transpose_tiled(const float *in, float *out, int rows, int columns)
{
	through_tile<32>(in, out, rows, columns);
}

__global__ void transpose_tiled_16(const float *in, float *out, int rows, int columns)
{
	through_tile<16>(in, out, rows, columns);
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 64), columns = argument(argc, argv, 2, 64);
	int tile = argument(argc, argv, 4, 32) == 16 ? 16 : 32;
	dim3 block(tile, argument(argc, argv, 3, 8)), grid(divide_up(columns, tile), divide_up(rows, tile));
	size_t all = (size_t)rows * columns;
	float *in = random_floats(all, 1), *out = host_floats(all);
	float *din = floats_to_device(in, all), *dout = (float *)device_bytes(all * sizeof(float));

	if (tile == 16)
		transpose_tiled_16<<<grid, block>>>(din, dout, rows, columns);
	else
		transpose_tiled<<<grid, block>>>(din, dout, rows, columns);
	finish("transpose_tiled");
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < columns; x++)
			out[x * rows + y] = in[y * columns + x];
	return report(differ_floats("out", dout, out, all));
}
