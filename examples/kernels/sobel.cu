/* SPDX-License-Identifier: MIT */
/* sobel [width [height]]: the slopes of an image of floats, each from the eight pixels around, by blocks of 32 x 32
 * threads: from global memory, and through a tile that every thread fills with all nine pixels around its own. Rows of
 * the image are as far apart as those of the result, and no thread is left out at the edges: pixel x, y is value
 * y * width + x, whatever x and y. */
#include "example.h"

#define TILE 34

/* The sum of the slopes along a row and down a column. Doubling is exact, so a fused addition changes nothing. */
static inline __host__ __device__ float slopes(const float *up, const float *middle, const float *down)
{
	float along = up[2] - up[0] + 2.0f * (middle[2] - middle[0]) + (down[2] - down[0]);
	float across = down[0] - up[0] + 2.0f * (down[1] - up[1]) + (down[2] - up[2]);

	return (along < 0.0f ? -along : along) + (across < 0.0f ? -across : across);
}

__global__ void sobel(const float *image, float *out, int width)
{
	int at = (blockIdx.y * 32 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x;
	const float *pixel = image + at;

	out[at] = slopes(pixel, pixel + width, pixel + 2 * width);
}

__global__ void sobel_tiled(const float *image, float *out, int width)
{
	__shared__ float tile[TILE][TILE];
	int at = (blockIdx.y * 32 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x;

#pragma unroll
	for (int y = 0; y < 3; y++)
#pragma unroll
		for (int x = 0; x < 3; x++)
			tile[threadIdx.y + y][threadIdx.x + x] = image[at + y * width + x];
	__syncthreads();
	out[at] = slopes(&tile[threadIdx.y][threadIdx.x], &tile[threadIdx.y + 1][threadIdx.x], &tile[threadIdx.y + 2][threadIdx.x]);
}

int main(int argc, char **argv)
{
	int width = argument(argc, argv, 1, 64), height = argument(argc, argv, 2, 64), differ;
	dim3 grid(divide_up(width, 32), divide_up(height, 32)), block(32, 32);
	size_t all = (size_t)(grid.y * 32 - 1) * width + grid.x * 32, around = all + 2 * (size_t)width + 2;
	float *image = random_floats(around, 1), *out = host_floats(all);
	float *dimage = floats_to_device(image, around), *dout = (float *)device_bytes(all * sizeof(float));

	for (size_t i = 0; i < all; i++)
		out[i] = slopes(image + i, image + i + width, image + i + 2 * (size_t)width);
	sobel<<<grid, block>>>(dimage, dout, width);
	finish("sobel");
	differ = differ_floats("out", dout, out, all);
	try_cuda(cudaMemset(dout, 0, all * sizeof(float)), "cudaMemset");
	sobel_tiled<<<grid, block>>>(dimage, dout, width);
	finish("sobel_tiled");
	return report(differ | differ_floats("tiled out", dout, out, all));
}
