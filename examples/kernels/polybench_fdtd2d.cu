/* SPDX-License-Identifier: MIT */
/* polybench_fdtd2d [nx [ny [steps [block_x [block_y]]]]]: a field in two dimensions by finite differences
 * in time, three kernels a step as PolyBench/GPU has them. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void fdtd_step1_kernel(int nx, int ny, float *fict, float *ex, float *ey, float *hz, int t)
{
	int i = row(), j = column();

	(void)ex;
	if (i >= nx || j >= ny)
		return;
	if (i == 0)
		ey[j] = fict[t];
	else
		ey[i * ny + j] = fmaf(-0.5f, hz[i * ny + j] - hz[(i - 1) * ny + j], ey[i * ny + j]);
}

__global__ void fdtd_step2_kernel(int nx, int ny, float *ex, float *ey, float *hz)
{
	int i = row(), j = column();

	(void)ey;
	if (i < nx && j < ny && j > 0)
		ex[i * (ny + 1) + j] = fmaf(-0.5f, hz[i * ny + j] - hz[i * ny + j - 1], ex[i * (ny + 1) + j]);
}

__global__ void fdtd_step3_kernel(int nx, int ny, float *ex, float *ey, float *hz)
{
	int i = row(), j = column(), at = i * (ny + 1) + j;

	if (i < nx && j < ny)
		hz[i * ny + j] = fmaf(-0.7f, ex[at + 1] - ex[at] + ey[(i + 1) * ny + j] - ey[i * ny + j], hz[i * ny + j]);
}

static void on_cpu(int nx, int ny, float source, float *ex, float *ey, float *hz)
{
	for (int j = 0; j < ny; j++)
		ey[j] = source;
	for (int i = 1; i < nx; i++)
		for (int j = 0; j < ny; j++)
			ey[i * ny + j] = fmaf(-0.5f, hz[i * ny + j] - hz[(i - 1) * ny + j], ey[i * ny + j]);
	for (int i = 0; i < nx; i++)
		for (int j = 1; j < ny; j++)
			ex[i * (ny + 1) + j] = fmaf(-0.5f, hz[i * ny + j] - hz[i * ny + j - 1], ex[i * (ny + 1) + j]);
	for (int i = 0; i < nx; i++)
		for (int j = 0; j < ny; j++) {
			const float *x = ex + i * (ny + 1) + j, *y = ey + i * ny + j;

			hz[i * ny + j] = fmaf(-0.7f, x[1] - x[0] + y[ny] - y[0], hz[i * ny + j]);
		}
}

int main(int argc, char **argv)
{
	int nx = argument(argc, argv, 1, 2048), ny = argument(argc, argv, 2, 2048), steps = argument(argc, argv, 3, 20);
	dim3 block(argument(argc, argv, 4, 32), argument(argc, argv, 5, 8)), grid = cover(ny, nx, block);
	size_t x = (size_t)nx * (ny + 1), y = (size_t)(nx + 1) * ny, z = (size_t)nx * ny;
	float *fict = random_floats(steps, 1), *ex = random_floats(x, 2), *ey = random_floats(y, 3), *hz = random_floats(z, 4);
	float *dfict = floats_to_device(fict, steps), *dex = floats_to_device(ex, x), *dey = floats_to_device(ey, y);
	float *dhz = floats_to_device(hz, z);

	for (int t = 0; t < steps; t++) {
		fdtd_step1_kernel<<<grid, block>>>(nx, ny, dfict, dex, dey, dhz, t);
		finish("fdtd_step1_kernel");
		fdtd_step2_kernel<<<grid, block>>>(nx, ny, dex, dey, dhz);
		finish("fdtd_step2_kernel");
		fdtd_step3_kernel<<<grid, block>>>(nx, ny, dex, dey, dhz);
		finish("fdtd_step3_kernel");
	}
	check_or_leave(3.0 * (double)z * steps);
	for (int t = 0; t < steps; t++)
		on_cpu(nx, ny, fict[t], ex, ey, hz);
	return report(differ_floats("hz", dhz, hz, z));
}
