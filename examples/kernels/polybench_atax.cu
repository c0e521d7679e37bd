/* SPDX-License-Identifier: MIT */
/* polybench_atax [nx [ny [block]]]: y = transposed(A) (A x), a thread a row, then a thread a column, as
 * PolyBench/GPU has it: sums are kept in global memory. Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void atax_kernel1(int nx, int ny, float *A, float *x, float *tmp)
{
	int i = column();

	if (i >= nx)
		return;
	tmp[i] = 0;
	for (int j = 0; j < ny; j++)
		tmp[i] = fmaf(A[i * ny + j], x[j], tmp[i]);
}

__global__ void atax_kernel2(int nx, int ny, float *A, float *y, float *tmp)
{
	int j = column();

	if (j >= ny)
		return;
	y[j] = 0;
	for (int i = 0; i < nx; i++)
		y[j] = fmaf(A[i * ny + j], tmp[i], y[j]);
}

int main(int argc, char **argv)
{
	int nx = argument(argc, argv, 1, 4096), ny = argument(argc, argv, 2, 4096), block = argument(argc, argv, 3, 256);
	size_t all = (size_t)nx * ny;
	float *A = random_floats(all, 1), *x = random_floats(ny, 2), *tmp = host_floats(nx), *y = host_floats(ny);
	float *dA = floats_to_device(A, all), *dx = floats_to_device(x, ny), *dy = floats_to_device(y, ny);
	float *dtmp = floats_to_device(tmp, nx);

	atax_kernel1<<<divide_up(nx, block), block>>>(nx, ny, dA, dx, dtmp);
	finish("atax_kernel1");
	atax_kernel2<<<divide_up(ny, block), block>>>(nx, ny, dA, dy, dtmp);
	finish("atax_kernel2");
	check_or_leave(2.0 * (double)all);
	for (int i = 0; i < nx; i++) {
		for (int j = 0; j < ny; j++)
			tmp[i] = fmaf(A[i * ny + j], x[j], tmp[i]);
		for (int j = 0; j < ny; j++)
			y[j] = fmaf(A[i * ny + j], tmp[i], y[j]);
	}
	return report(differ_floats("y", dy, y, ny));
}
