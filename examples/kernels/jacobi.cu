/* SPDX-License-Identifier: MIT */
/* jacobi [width [height [steps [block_x [block_y]]]]]: each inner point becomes the mean of its four
 * neighbours, from one grid into another, which then change places. Equal to the CPU bit by bit. */
#include "example.h"

__global__ void jacobi(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
	int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
	int i = y * width + x;

	if (x < width - 1 && y < height - 1)
		out[i] = ((in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width])) * 0.25f;
}

static void on_cpu(const float *in, float *out, int width, int height)
{
	for (int y = 1; y < height - 1; y++)
		for (int x = 1; x < width - 1; x++) {
			const float *p = in + y * width + x;

			out[y * width + x] = ((p[-1] + p[1]) + (p[-width] + p[width])) * 0.25f;
		}
}

int main(int argc, char **argv)
{
	int width = argument(argc, argv, 1, 64), height = argument(argc, argv, 2, 64), steps = argument(argc, argv, 3, 4);
	dim3 block(argument(argc, argv, 4, 32), argument(argc, argv, 5, 8));
	size_t all = (size_t)width * height;
	float *now = random_floats(all, 1), *next = random_floats(all, 1);
	float *dnow = floats_to_device(now, all), *dnext = floats_to_device(now, all);

	if (width < 3 || height < 3)
		return report(0);
	for (int step = 0; step < steps; step++) {
		float *other = next, *dother = dnext;

		jacobi<<<dim3(divide_up(width - 2, block.x), divide_up(height - 2, block.y)), block>>>(dnow, dnext, width,
												       height);
		finish("jacobi");
		on_cpu(now, next, width, height);
		next = now, now = other;
		dnext = dnow, dnow = dother;
	}
	return report(differ_floats("grid", dnow, now, all));
}
