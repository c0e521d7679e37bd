/* SPDX-License-Identifier: MIT */
/* pannotia_fw [n]: the shortest paths between all pairs of n nodes by Floyd and Warshall's algorithm in tiles of 16 x 16, as Pannotia's
 * blocked floydwarshall computes it: for each tile of the diagonal, in turn, it, those of its row, those of its column, and all the rest. Grids
 * cover whole rows, columns or matrices of tiles, so the blocks whose tile has been computed before return at once; and where a grid needs
 * one block a tile it has 16, as Pannotia's have, and 256 for the tile of the diagonal: all of these compute the same. n is a multiple of 16.
 * Equal to the CPU. */
#include "suite.h"

enum { TILE = 16, FAR = 9999 };

/* Paths that lead over the nodes of a tile: first to it, then from it on. Each thread has one pair. */
static __device__ void shorten(int of[TILE][TILE], int first[TILE][TILE], int second[TILE][TILE])
{
	int x = threadIdx.x, y = threadIdx.y;

	for (int k = 0; k < TILE; k++) {
		if (first[y][k] + second[k][x] < of[y][x])
			of[y][x] = first[y][k] + second[k][x];
		__syncthreads();
	}
}

/* Where the thread's pair of a tile is. */
static __device__ int place(int column, int row_of_tiles, int n)
{
	return (row_of_tiles * TILE + (int)threadIdx.y) * n + column * TILE + (int)threadIdx.x;
}

__global__ void floydwarshall_dia_block(int *paths, int tile, int n)
{
	__shared__ int diagonal[TILE][TILE];
	int at = place(tile, tile, n);

	diagonal[threadIdx.y][threadIdx.x] = paths[at];
	__syncthreads();
	shorten(diagonal, diagonal, diagonal);
	paths[at] = diagonal[threadIdx.y][threadIdx.x];
}

__global__ void floydwarshall_strip_blocks_x(int *paths, int tile, int n)
{
	__shared__ int diagonal[TILE][TILE], strip[TILE][TILE];
	int column = blockIdx.x, at = place(column, tile, n);

	if (column == tile)
		return;
	diagonal[threadIdx.y][threadIdx.x] = paths[place(tile, tile, n)];
	__syncthreads();
	strip[threadIdx.y][threadIdx.x] = paths[at];
	__syncthreads();
	shorten(strip, diagonal, strip);
	paths[at] = strip[threadIdx.y][threadIdx.x];
}

__global__ void floydwarshall_strip_blocks_y(int *paths, int tile, int n)
{
	__shared__ int diagonal[TILE][TILE], strip[TILE][TILE];
	int row_of_tiles = blockIdx.y, at = place(tile, row_of_tiles, n);

	if (row_of_tiles == tile)
		return;
	diagonal[threadIdx.y][threadIdx.x] = paths[place(tile, tile, n)];
	__syncthreads();
	strip[threadIdx.y][threadIdx.x] = paths[at];
	__syncthreads();
	shorten(strip, strip, diagonal);
	paths[at] = strip[threadIdx.y][threadIdx.x];
}

__global__ void floydwarshall_remaining_blocks(int *paths, int tile, int n)
{
	__shared__ int left[TILE][TILE], above[TILE][TILE], own[TILE][TILE];
	int column = blockIdx.x, row_of_tiles = blockIdx.y, at = place(column, row_of_tiles, n);

	if (column == tile || row_of_tiles == tile)
		return;
	left[threadIdx.y][threadIdx.x] = paths[place(tile, row_of_tiles, n)];
	__syncthreads();
	above[threadIdx.y][threadIdx.x] = paths[place(column, tile, n)];
	__syncthreads();
	own[threadIdx.y][threadIdx.x] = paths[at];
	__syncthreads();
	shorten(own, left, above);
	paths[at] = own[threadIdx.y][threadIdx.x];
}

static void repeat(int *paths, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				if (paths[i * n + k] + paths[k * n + j] < paths[i * n + j])
					paths[i * n + j] = paths[i * n + k] + paths[k * n + j];
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 256), tiles = n / TILE;
	size_t all = (size_t)n * n;
	int *paths = host_ints(all);
	unsigned state = 1;
	dim3 threads(TILE, TILE);

	if (n % TILE != 0) {
		fprintf(stderr, "%s: n must be a multiple of %d\n", argv[0], TILE);
		return 2;
	}
	for (size_t i = 0; i < all; i++)
		paths[i] = i % (n + 1) == 0 ? 0 : next_random(&state) % 2 ? FAR : 1 + (int)(next_random(&state) % 100);
	int *dpaths = (int *)to_device(paths, all * sizeof *paths);
	for (int tile = 0; tile < tiles; tile++) {
		floydwarshall_dia_block<<<dim3(TILE, TILE), threads>>>(dpaths, tile, n);
		floydwarshall_strip_blocks_x<<<dim3(tiles, TILE), threads>>>(dpaths, tile, n);
		floydwarshall_strip_blocks_y<<<dim3(TILE, tiles), threads>>>(dpaths, tile, n);
		floydwarshall_remaining_blocks<<<dim3(tiles, tiles), threads>>>(dpaths, tile, n);
	}
	finish("floydwarshall");
	check_or_leave((double)all * n);
	repeat(paths, n);
	return report(differ_ints("paths", dpaths, paths, all));
}
