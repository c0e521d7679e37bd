/* SPDX-License-Identifier: MIT */
/* parboil_sgemm [m [n [k]]]: C = A * B^T, as Parboil's sgemm computes it: matrices by columns, a block 128 x 16 elements of C, a
 * thread the 16 of a row in registers, tiles of B in shared memory. m is a multiple of 128, n of 16, k of 8; the defaults are
 * Parboil's small input. Equal to the CPU bit by bit. */
#include "suite.h"

enum { WIDE = 16, DEEP = 8, TALL = WIDE * DEEP };

__global__ void mysgemmNT(const float *a, int a_step, const float *b, int b_step, float *c, int c_step, int k)
{
	__shared__ float tile[DEEP][WIDE];
	int own = (int)(threadIdx.y * WIDE + threadIdx.x);
	int i = (int)blockIdx.x * TALL + own, j = (int)blockIdx.y * WIDE;
	float sums[WIDE] = {0};

	for (int at = 0; at < k; at += DEEP) {
		tile[threadIdx.y][threadIdx.x] = b[j + (int)threadIdx.x + (at + (int)threadIdx.y) * b_step];
		__syncthreads();
		for (int d = 0; d < DEEP; d++) {
			float factor = a[i + (at + d) * a_step];
#pragma unroll
			for (int w = 0; w < WIDE; w++)
				sums[w] = fmaf(factor, tile[d][w], sums[w]);
		}
		__syncthreads();
	}
#pragma unroll
	for (int w = 0; w < WIDE; w++)
		c[i + (j + w) * c_step] = sums[w];
}

int main(int argc, char **argv)
{
	int m = argument(argc, argv, 1, 128), n = argument(argc, argv, 2, 96), k = argument(argc, argv, 3, 160);

	if (m % TALL || n % WIDE || k % DEEP) {
		fprintf(stderr, "%s: expected m a multiple of %d, n of %d, k of %d\n", argv[0], TALL, WIDE, DEEP);
		return 2;
	}
	float *a = random_floats((size_t)m * k, 1), *b = random_floats((size_t)n * k, 2), *c = host_floats((size_t)m * n);
	float *da = floats_to_device(a, (size_t)m * k), *db = floats_to_device(b, (size_t)n * k);
	float *dc = floats_to_device(c, (size_t)m * n);

	mysgemmNT<<<dim3(m / TALL, n / WIDE), dim3(WIDE, DEEP)>>>(da, m, db, n, dc, m, k);
	finish("mysgemmNT");
	check_or_leave(2.0 * m * n * k);
	for (int j = 0; j < n; j++)
		for (int at = 0; at < k; at++)
			for (int i = 0; i < m; i++)
				c[i + (size_t)j * m] = fmaf(a[i + (size_t)at * m], b[j + (size_t)at * n], c[i + (size_t)j * m]);
	return report(differ_floats("C", dc, c, (size_t)m * n));
}
