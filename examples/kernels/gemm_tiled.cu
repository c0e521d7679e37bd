/* SPDX-License-Identifier: MIT */
/* gemm_tiled [n [tile]]: C = A B of n x n floats by tile x tile blocks, each of which brings a tile
 * of A and one of B into dynamic shared memory at a time. Tiles that reach over the edge are filled
 * up with zeros, which change no sum, so that results equal the CPU's bit by bit. */
#include "example.h"

__global__ void gemm_tiled(const float *A, const float *B, float *C, int n)
{
	extern __shared__ float tiles[];
	int tile = blockDim.x, x = threadIdx.x, y = threadIdx.y;
	float *tile_A = tiles, *tile_B = tiles + tile * tile;
	int column = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
	float sum = 0.0f;

	for (int first = 0; first < n; first += tile) {
		tile_A[y * tile + x] = row < n && first + x < n ? A[row * n + first + x] : 0.0f;
		tile_B[y * tile + x] = column < n && first + y < n ? B[(first + y) * n + column] : 0.0f;
		__syncthreads();
		for (int k = 0; k < tile; k++)
			sum = fmaf(tile_A[y * tile + k], tile_B[k * tile + x], sum);
		__syncthreads();
	}
	if (row < n && column < n)
		C[row * n + column] = sum;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 64), tile = argument(argc, argv, 2, 16);
	int tiles = divide_up(n, tile);
	size_t all = (size_t)n * n, shared = 2 * sizeof(float) * tile * tile;
	float *A = random_floats(all, 1), *B = random_floats(all, 2), *C = host_floats(all);
	float *dA = floats_to_device(A, all), *dB = floats_to_device(B, all), *dC = (float *)device_bytes(all * sizeof(float));

	gemm_tiled<<<dim3(tiles, tiles), dim3(tile, tile), shared>>>(dA, dB, dC, n);
	finish("gemm_tiled");
	for (int row = 0; row < n; row++)
		for (int k = 0; k < n; k++)
			for (int column = 0; column < n; column++)
				C[row * n + column] = fmaf(A[row * n + k], B[k * n + column], C[row * n + column]);
	return report(differ_floats("C", dC, C, all));
}
