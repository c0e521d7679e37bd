/* SPDX-License-Identifier: MIT */
/* gemm_registers [m [k [n]]]: the product of m x k and k x n floats in four kernels: a thread an element, by blocks of 16 x 16;
 * the same by tiles of 32 x 32 in shared memory; and by tiles of 128 x 128 and of 64 x 64 in steps of 8, of which a thread has
 * 8 x 8 and 4 x 4 sums in registers, 16 rows and columns apart. The CPU adds in the same order with the same fused
 * operation: equal bit by bit. */
#include "suite.h"

__global__ void each_reads(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
	int i = row(), j = column();
	float sum = 0.0f;

	if (i >= m || j >= n)
		return;
	for (int l = 0; l < k; l++)
		sum = fmaf(A[i * k + l], B[l * n + j], sum);
	C[i * n + j] = sum;
}

#define TILE 32

__global__ void tiles(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = row(), j = column();
	float sum = 0.0f;

	for (int first = 0; first < k; first += TILE) {
		a[y][x] = i < m && first + x < k ? A[i * k + first + x] : 0.0f;
		b[y][x] = first + y < k && j < n ? B[(first + y) * n + j] : 0.0f;
		__syncthreads();
#pragma unroll
		for (int l = 0; l < TILE; l++)
			sum = fmaf(a[y][l], b[l][x], sum);
		__syncthreads();
	}
	if (i < m && j < n)
		C[i * n + j] = sum;
}

#define STEP 8
#define ACROSS 16 /* threads of a block, each way */

template <int SUMS>
__global__ void __launch_bounds__(ACROSS * ACROSS) registers(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
	const int tile = ACROSS * SUMS;
	__shared__ float a[tile][STEP], b[STEP][tile];
	int thread = threadIdx.x, x = thread % ACROSS, y = thread / ACROSS, top = blockIdx.y * tile, left = blockIdx.x * tile;
	float sums[SUMS][SUMS] = {}, of_a[SUMS], of_b[SUMS];

	for (int first = 0; first < k; first += STEP) {
		for (int at = thread; at < tile * STEP; at += ACROSS * ACROSS) {
			int i = top + at / STEP, l = first + at % STEP;

			a[at / STEP][at % STEP] = i < m && l < k ? A[i * k + l] : 0.0f;
		}
		for (int at = thread; at < tile * STEP; at += ACROSS * ACROSS) {
			int l = first + at / tile, j = left + at % tile;

			b[at / tile][at % tile] = l < k && j < n ? B[l * n + j] : 0.0f;
		}
		__syncthreads();
#pragma unroll
		for (int l = 0; l < STEP; l++) {
#pragma unroll
			for (int i = 0; i < SUMS; i++)
				of_a[i] = a[y + i * ACROSS][l];
#pragma unroll
			for (int j = 0; j < SUMS; j++)
				of_b[j] = b[l][x + j * ACROSS];
#pragma unroll
			for (int i = 0; i < SUMS; i++)
#pragma unroll
				for (int j = 0; j < SUMS; j++)
					sums[i][j] = fmaf(of_a[i], of_b[j], sums[i][j]);
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < SUMS; i++)
#pragma unroll
		for (int j = 0; j < SUMS; j++)
			if (top + y + i * ACROSS < m && left + x + j * ACROSS < n)
				C[(top + y + i * ACROSS) * n + left + x + j * ACROSS] = sums[i][j];
}

int main(int argc, char **argv)
{
	int m = argument(argc, argv, 1, 64), k = argument(argc, argv, 2, 64), n = argument(argc, argv, 3, 64), differ = 0;
	size_t all = (size_t)m * n;
	float *A = random_floats((size_t)m * k, 1), *B = random_floats((size_t)k * n, 2), *C = host_floats(all);
	float *dA = floats_to_device(A, (size_t)m * k), *dB = floats_to_device(B, (size_t)k * n), *dC[4];
	dim3 small(16, 16), large(TILE, TILE);

	for (int i = 0; i < 4; i++)
		dC[i] = floats_to_device(C, all);
	each_reads<<<cover(n, m, small), small>>>(dA, dB, dC[0], m, n, k);
	finish("each_reads");
	tiles<<<cover(n, m, large), large>>>(dA, dB, dC[1], m, n, k);
	finish("tiles");
	registers<8><<<cover(n, m, dim3(128, 128)), ACROSS * ACROSS>>>(dA, dB, dC[2], m, n, k);
	finish("registers<8>");
	registers<4><<<cover(n, m, dim3(64, 64)), ACROSS * ACROSS>>>(dA, dB, dC[3], m, n, k);
	finish("registers<4>");
	check_or_leave((double)all * k);
	for (int i = 0; i < m; i++)
		for (int l = 0; l < k; l++)
			for (int j = 0; j < n; j++)
				C[i * n + j] = fmaf(A[i * k + l], B[l * n + j], C[i * n + j]);
	for (int i = 0; i < 4; i++)
		differ += differ_floats("C", dC[i], C, all);
	return report(differ);
}
