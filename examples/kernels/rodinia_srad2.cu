/* SPDX-License-Identifier: MIT */
/* rodinia_srad2 [n [steps]]: the noise of an n x n image is reduced by diffusion, as Rodinia's srad_v2 does it: the first
 * kernel finds a coefficient of each point from its neighbours, the second applies them. Blocks of 16 x 16 load their points
 * and the four edges around them into shared memory; n is a multiple of 16. Equal to the CPU bit by bit. */
#include "suite.h"

enum { TILE = 16 };

struct slopes {
	float north, south, west, east;
};

/* The coefficient of a point of value j, whose neighbours differ by d; q is the noise. */
static __host__ __device__ float coefficient(float j, struct slopes d, float q)
{
	float squares = fmaf(d.north, d.north, fmaf(d.south, d.south, fmaf(d.west, d.west, d.east * d.east)));
	float laplace = (d.north + d.south + d.west + d.east) / j, g = squares / (j * j);
	float above = fmaf(0.5f, g, -0.0625f * (laplace * laplace)), below = fmaf(0.25f, laplace, 1.0f);
	float c = 1.0f / (1.0f + (above / (below * below) - q) / (q * (1.0f + q)));

	return c < 0 ? 0 : c > 1 ? 1 : c;
}

static __host__ __device__ float diffused(float j, struct slopes d, float here, float south, float east)
{
	return fmaf(0.125f, fmaf(here, d.north, fmaf(south, d.south, fmaf(here, d.west, east * d.east))), j);
}

__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, float *J, float *C, int n, float q)
{
	__shared__ float tile[TILE][TILE], north[TILE], south[TILE], west[TILE], east[TILE];
	int tx = threadIdx.x, ty = threadIdx.y, x = column(), y = row(), at = n * y + x;
	int top = (int)blockIdx.y * TILE, left = (int)blockIdx.x * TILE, below = top + TILE, right = left + TILE;

	/* Every thread loads all four edges, as in Rodinia. */
	north[tx] = J[n * (top > 0 ? top - 1 : 0) + x];
	south[tx] = J[n * (below < n ? below : n - 1) + x];
	west[ty] = J[n * y + (left > 0 ? left - 1 : 0)];
	east[ty] = J[n * y + (right < n ? right : n - 1)];
	tile[ty][tx] = J[at];
	__syncthreads();
	float j = tile[ty][tx];
	struct slopes d = {(ty > 0 ? tile[ty - 1][tx] : north[tx]) - j, (ty < TILE - 1 ? tile[ty + 1][tx] : south[tx]) - j,
			   (tx > 0 ? tile[ty][tx - 1] : west[ty]) - j, (tx < TILE - 1 ? tile[ty][tx + 1] : east[ty]) - j};
	C[at] = coefficient(j, d, q);
	E_C[at] = d.east;
	W_C[at] = d.west;
	S_C[at] = d.south;
	N_C[at] = d.north;
}

__global__ void srad_cuda_2(float *E_C, float *W_C, float *N_C, float *S_C, float *J, float *C, int n)
{
	__shared__ float tile[TILE][TILE], south[TILE], east[TILE];
	int tx = threadIdx.x, ty = threadIdx.y, x = column(), y = row(), at = n * y + x;
	int below = ((int)blockIdx.y + 1) * TILE, right = ((int)blockIdx.x + 1) * TILE;

	south[tx] = C[n * (below < n ? below : n - 1) + x];
	east[ty] = C[n * y + (right < n ? right : n - 1)];
	tile[ty][tx] = C[at];
	__syncthreads();
	struct slopes d = {N_C[at], S_C[at], W_C[at], E_C[at]};
	J[at] = diffused(J[at], d, tile[ty][tx], ty < TILE - 1 ? tile[ty + 1][tx] : south[tx],
			 tx < TILE - 1 ? tile[ty][tx + 1] : east[ty]);
}

static void on_cpu(float *J, float *C, struct slopes *d, int n, float q)
{
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			int at = n * y + x;
			float j = J[at];
			d[at] = (struct slopes){J[y > 0 ? at - n : at] - j, J[y < n - 1 ? at + n : at] - j, J[x > 0 ? at - 1 : at] - j,
						J[x < n - 1 ? at + 1 : at] - j};
			C[at] = coefficient(j, d[at], q);
		}
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			int at = n * y + x;
			J[at] = diffused(J[at], d[at], C[at], C[y < n - 1 ? at + n : at], C[x < n - 1 ? at + 1 : at]);
		}
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 2048), steps = argument(argc, argv, 2, 1);
	size_t all = (size_t)n * n;
	float *J = random_floats(all, 1), *C = host_floats(all);
	struct slopes *d = (struct slopes *)host_bytes(all * sizeof *d);

	if (n % TILE != 0) {
		fprintf(stderr, "%s: n must be a multiple of %d\n", argv[0], TILE);
		return 2;
	}
	for (size_t i = 0; i < all; i++)
		J[i] = J[i] + 2.0f;
	float *dJ = floats_to_device(J, all), *dC = floats_to_device(C, all), *side[4];
	for (int i = 0; i < 4; i++)
		side[i] = floats_to_device(C, all);
	dim3 block(TILE, TILE), grid = cover(n, n, block);
	for (int step = 0; step < steps; step++) {
		srad_cuda_1<<<grid, block>>>(side[0], side[1], side[2], side[3], dJ, dC, n, 0.05f);
		finish("srad_cuda_1");
		srad_cuda_2<<<grid, block>>>(side[0], side[1], side[2], side[3], dJ, dC, n);
		finish("srad_cuda_2");
	}
	check_or_leave(20.0 * (double)all * steps);
	for (int step = 0; step < steps; step++)
		on_cpu(J, C, d, n, 0.05f);
	return report(differ_floats("image", dJ, J, all));
}
