/* SPDX-License-Identifier: MIT */
/* rodinia_nw [n [penalty]]: the alignment of two sequences of n letters by Needleman and Wunsch, as Rodinia's nw computes it:
 * a block of 16 threads fills a tile of 16 x 16 scores along its diagonals, and a launch fills one diagonal of tiles, first
 * those of growing and then those of falling length. n is a multiple of 16. Equal to the CPU. */
#include "suite.h"

enum { TILE = 16 };

static __host__ __device__ int best(int a, int b, int c)
{
	int most = a > b ? a : b;

	return most > c ? most : c;
}

/* Fills the tile at column bx and row by of tiles. */
static __device__ void fill_tile(const int *similar, int *score, int columns, int penalty, int bx, int by)
{
	__shared__ int known[TILE + 1][TILE + 1], like[TILE][TILE];
	int t = threadIdx.x, corner = columns * TILE * by + TILE * bx, inner = corner + columns + 1;

	if (t == 0)
		known[0][0] = score[corner];
	for (int y = 0; y < TILE; y++)
		like[y][t] = similar[inner + columns * y + t];
	known[t + 1][0] = score[corner + columns * (t + 1)];
	known[0][t + 1] = score[corner + 1 + t];
	__syncthreads();
	for (int diagonal = 0; diagonal < 2 * TILE - 1; diagonal++) {
		int y = diagonal - t;
		if (y >= 0 && y < TILE)
			known[y + 1][t + 1] = best(known[y][t] + like[y][t], known[y + 1][t] - penalty, known[y][t + 1] - penalty);
		__syncthreads();
	}
	for (int y = 0; y < TILE; y++)
		score[inner + columns * y + t] = known[y + 1][t + 1];
}

__global__ void needle_cuda_shared_1(int *similar, int *score, int columns, int penalty, int i)
{
	fill_tile(similar, score, columns, penalty, (int)blockIdx.x, i - 1 - (int)blockIdx.x);
}

__global__ void needle_cuda_shared_2(int *similar, int *score, int columns, int penalty, int i, int tiles)
{
	fill_tile(similar, score, columns, penalty, (int)blockIdx.x + tiles - i, tiles - 1 - (int)blockIdx.x);
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), penalty = argument(argc, argv, 2, 10), columns = n + 1, tiles = n / TILE;
	size_t all = (size_t)columns * columns;
	int *similar = host_ints(all), *score = host_ints(all);
	unsigned state = 1;

	if (n % TILE != 0) {
		fprintf(stderr, "%s: n must be a multiple of %d\n", argv[0], TILE);
		return 2;
	}
	for (size_t i = 0; i < all; i++)
		similar[i] = (int)(next_random(&state) % 20) - 8;
	for (int i = 1; i < columns; i++)
		score[i] = score[(size_t)i * columns] = -i * penalty;
	int *dsimilar = ints_to_device(similar, all), *dscore = ints_to_device(score, all);
	for (int i = 1; i <= tiles; i++) {
		needle_cuda_shared_1<<<i, TILE>>>(dsimilar, dscore, columns, penalty, i);
		finish("needle_cuda_shared_1");
	}
	for (int i = tiles - 1; i >= 1; i--) {
		needle_cuda_shared_2<<<i, TILE>>>(dsimilar, dscore, columns, penalty, i, tiles);
		finish("needle_cuda_shared_2");
	}
	for (int y = 1; y < columns; y++)
		for (int x = 1; x < columns; x++) {
			size_t at = (size_t)y * columns + x;
			score[at] = best(score[at - columns - 1] + similar[at], score[at - 1] - penalty, score[at - columns] - penalty);
		}
	return report(differ_ints("score", dscore, score, all));
}
