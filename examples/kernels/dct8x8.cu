/* SPDX-License-Identifier: MIT */
/* dct8x8 [width [height]]: the discrete cosine transform of each square of 8 x 8 floats, with the blocks and the accesses of
 * CUDA's sample dct8x8, second kernel: a block has 32 columns and 16 rows, and each thread eight elements of a column. Cosines are
 * rounded to 64ths and elements small, so that sums are exact in any order. */
#include "example.h"

enum { SIDE = 8, COLUMNS = 32, ROWS = 16 };

__constant__ float cosines[SIDE * SIDE];

/* The transform of eight floats that are a step apart. */
static __device__ void transform(float *values, int step)
{
	float from[SIDE];

	for (int i = 0; i < SIDE; i++)
		from[i] = values[i * step];
	for (int k = 0; k < SIDE; k++) {
		float sum = 0.0f;
		for (int i = 0; i < SIDE; i++)
			sum += cosines[k * SIDE + i] * from[i];
		values[k * step] = sum;
	}
}

__global__ void CUDAkernel2DCT(float *to, const float *from, int width)
{
	__shared__ float tile[ROWS][COLUMNS + 1];
	int column = threadIdx.y * SIDE + threadIdx.x, row = threadIdx.z * SIDE;
	int at = (blockIdx.y * ROWS + row) * width + blockIdx.x * COLUMNS + column;

	for (int i = 0; i < SIDE; i++)
		tile[row + i][column] = from[at + i * width];
	__syncthreads();
	transform(&tile[row + threadIdx.x][threadIdx.y * SIDE], 1);
	__syncthreads();
	transform(&tile[row][column], COLUMNS + 1);
	for (int i = 0; i < SIDE; i++)
		to[at + i * width] = tile[row + i][column];
}

/* The same for the square at (x, y): rows, then columns. */
static void transform_square(float *values, int width, const float *cosine, int x, int y)
{
	float rows[SIDE][SIDE] = {}, *corner = values + (size_t)y * width + x;

	for (int r = 0; r < SIDE; r++)
		for (int k = 0; k < SIDE; k++)
			for (int i = 0; i < SIDE; i++)
				rows[r][k] += cosine[k * SIDE + i] * corner[(size_t)r * width + i];
	for (int c = 0; c < SIDE; c++)
		for (int k = 0; k < SIDE; k++) {
			float sum = 0.0f;
			for (int i = 0; i < SIDE; i++)
				sum += cosine[k * SIDE + i] * rows[i][c];
			corner[(size_t)k * width + c] = sum;
		}
}

int main(int argc, char **argv)
{
	int width = argument(argc, argv, 1, 64), height = argument(argc, argv, 2, 32);
	size_t n = (size_t)width * height;
	float cosine[SIDE * SIDE], *values = host_floats(n), *from, *to;
	unsigned seed = 1;

	if (width % COLUMNS || height % ROWS) {
		fprintf(stderr, "%s: expected multiples of %d and %d, found %d and %d\n", argv[0], COLUMNS, ROWS, width, height);
		return 2;
	}
	for (int i = 0; i < SIDE * SIDE; i++)
		cosine[i] = roundf(cosf(3.14159265f * (float)((2 * (i % SIDE) + 1) * (i / SIDE)) / 16.0f) * (i < SIDE ? 22.6f : 32.0f)) / 64.0f;
	for (size_t i = 0; i < n; i++)
		values[i] = (float)(next_random(&seed) % 16);
	try_cuda(cudaMemcpyToSymbol(cosines, cosine, sizeof cosine, 0, cudaMemcpyHostToDevice), "cudaMemcpyToSymbol");
	from = floats_to_device(values, n);
	to = (float *)device_bytes(n * sizeof(float));
	CUDAkernel2DCT<<<dim3(width / COLUMNS, height / ROWS), dim3(SIDE, COLUMNS / SIDE, ROWS / SIDE)>>>(to, from, width);
	finish("CUDAkernel2DCT");
	for (int y = 0; y < height; y += SIDE)
		for (int x = 0; x < width; x += SIDE)
			transform_square(values, width, cosine, x, y);
	return report(differ_floats("to", to, values, n));
}
