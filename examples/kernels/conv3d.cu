/* SPDX-License-Identifier: MIT */
/* conv3d [n [block_x [block_y]]]: a 3 x 3 x 3 filter over the inner points of a cube of n x n x n
 * floats; a thread goes up a column of z. The filter's coefficient depends on how many of the three
 * coordinates differ. Equal to the CPU bit by bit. */
#include "example.h"

__global__ void conv3d(const float *in, float *out, int n, float center, float face, float edge, float corner)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
	int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
	float weights[4] = {center, face, edge, corner};

	if (x >= n - 1 || y >= n - 1)
		return;
#pragma unroll 1
	for (int z = 1; z < n - 1; z++) {
		float sum = 0.0f;

#pragma unroll
		for (int i = 0; i < 27; i++) {
			int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;

			sum = fmaf(weights[dx * dx + dy * dy + dz * dz], in[((z + dz) * n + y + dy) * n + x + dx], sum);
		}
		out[(z * n + y) * n + x] = sum;
	}
}

static float point(const float *in, int n, const float *weights, int x, int y, int z)
{
	float sum = 0.0f;

	for (int i = 0; i < 27; i++) {
		int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;

		sum = fmaf(weights[dx * dx + dy * dy + dz * dz], in[((z + dz) * n + y + dy) * n + x + dx], sum);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 18);
	dim3 block(argument(argc, argv, 2, 16), argument(argc, argv, 3, 4));
	size_t all = (size_t)n * n * n;
	const float weights[4] = {0.5f, 0.0625f, 0.01f, 0.003f};
	float *in = random_floats(all, 1), *out = host_floats(all);
	float *din = floats_to_device(in, all), *dout = floats_to_device(out, all);

	if (n < 3)
		return report(0);
	conv3d<<<dim3(divide_up(n - 2, block.x), divide_up(n - 2, block.y)), block>>>(din, dout, n, weights[0], weights[1],
										      weights[2], weights[3]);
	finish("conv3d");
	for (int z = 1; z < n - 1; z++)
		for (int y = 1; y < n - 1; y++)
			for (int x = 1; x < n - 1; x++)
				out[(z * n + y) * n + x] = point(in, n, weights, x, y, z);
	return report(differ_floats("out", dout, out, all));
}
