/* SPDX-License-Identifier: MIT */
/* parboil_stencil [nx [ny [nz [steps]]]]: seven points of a grid in three dimensions, as the base version of Parboil's stencil
 * computes them: a thread a point, a block 128 points of a row. Equal to the CPU bit by bit. */
#include "suite.h"

enum { BLOCK = 128 };

static __host__ __device__ float seven(const float *from, size_t at, size_t nx, size_t plane)
{
	float sum = from[at + plane] + from[at - plane] + from[at + nx] + from[at - nx] + from[at + 1] + from[at - 1];

	return fmaf(1.0f / 32.0f, sum, -0.25f * from[at]);
}

__global__ void naive_kernel(float *from, float *to, int nx, int ny, int nz)
{
	int x = column() + 1, y = (int)blockIdx.y + 1, z = (int)blockIdx.z + 1;
	size_t at = (size_t)x + (size_t)nx * (y + (size_t)ny * z);

	(void)nz;
	if (x < nx - 1)
		to[at] = seven(from, at, nx, (size_t)nx * ny);
}

int main(int argc, char **argv)
{
	int nx = argument(argc, argv, 1, 128), ny = argument(argc, argv, 2, 128), nz = argument(argc, argv, 3, 32);
	int steps = argument(argc, argv, 4, 2);
	size_t plane = (size_t)nx * ny, all = plane * nz;

	if (nx < 3 || ny < 3 || nz < 3) {
		fprintf(stderr, "%s: expected at least 3 points along each axis\n", argv[0]);
		return 2;
	}
	float *from = random_floats(all, 1), *to = host_floats(all), *other;
	memcpy(to, from, all * sizeof(float));
	float *dfrom = floats_to_device(from, all), *dto = floats_to_device(to, all);

	for (int step = 0; step < steps; step++) {
		naive_kernel<<<dim3(divide_up(nx - 2, BLOCK), ny - 2, nz - 2), BLOCK>>>(dfrom, dto, nx, ny, nz);
		finish("naive_kernel");
		other = dfrom, dfrom = dto, dto = other;
	}
	check_or_leave(8.0 * (double)all * steps);
	for (int step = 0; step < steps; step++) {
		for (int z = 1; z < nz - 1; z++)
			for (int y = 1; y < ny - 1; y++)
				for (int x = 1; x < nx - 1; x++) {
					size_t at = x + nx * (y + (size_t)ny * z);
					to[at] = seven(from, at, nx, plane);
				}
		other = from, from = to, to = other;
	}
	return report(differ_floats("grid", dfrom, from, all));
}
