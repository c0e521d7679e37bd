/* SPDX-License-Identifier: MIT */
/* conv2d [width [height [block_x [block_y]]]]: a 3 x 3 filter over the inner points of an image, its
 * coefficients in constant memory. Equal to the CPU bit by bit: same order, same fused operation. */
#include "example.h"

__constant__ float filter[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0};

__global__ void conv2d(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
	int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
	float sum = 0.0f;

	if (x >= width - 1 || y >= height - 1)
		return;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			sum = fmaf(filter[3 * dy + dx + 4], in[(y + dy) * width + x + dx], sum);
	out[y * width + x] = sum;
}

static void on_cpu(const float *in, const float *weights, float *out, int width, int height)
{
	for (int y = 1; y < height - 1; y++)
		for (int x = 1; x < width - 1; x++) {
			float sum = 0.0f;

			for (int i = 0; i < 9; i++)
				sum = fmaf(weights[i], in[(y + i / 3 - 1) * width + x + i % 3 - 1], sum);
			out[y * width + x] = sum;
		}
}

int main(int argc, char **argv)
{
	int width = argument(argc, argv, 1, 64), height = argument(argc, argv, 2, 64);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	size_t all = (size_t)width * height;
	float *in = random_floats(all, 1), *weights = random_floats(9, 2), *out = host_floats(all);
	float *din = floats_to_device(in, all), *dout = floats_to_device(out, all);

	if (width < 3 || height < 3)
		return report(0);
	try_cuda(cudaMemcpyToSymbol(filter, weights, sizeof(filter), 0, cudaMemcpyHostToDevice), "cudaMemcpyToSymbol");
	conv2d<<<dim3(divide_up(width - 2, block.x), divide_up(height - 2, block.y)), block>>>(din, dout, width, height);
	finish("conv2d");
	on_cpu(in, weights, out, width, height);
	return report(differ_floats("out", dout, out, all));
}
