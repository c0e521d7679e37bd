/* SPDX-License-Identifier: MIT */
/* polybench_bicg [nx [ny [block]]]: s = r A, a thread a column, then q = A p, a thread a row: the two
 * products of the BiCG method as PolyBench/GPU has them, sums kept in global memory. Equal to the CPU
 * bit by bit. */
#include "suite.h"

__global__ void bicg_kernel1(int nx, int ny, float *A, float *r, float *s)
{
	int j = column();

	if (j >= ny)
		return;
	s[j] = 0.0f;
	for (int i = 0; i < nx; i++)
		s[j] = fmaf(r[i], A[i * ny + j], s[j]);
}

__global__ void bicg_kernel2(int nx, int ny, float *A, float *p, float *q)
{
	int i = column();

	if (i >= nx)
		return;
	q[i] = 0.0f;
	for (int j = 0; j < ny; j++)
		q[i] = fmaf(A[i * ny + j], p[j], q[i]);
}

int main(int argc, char **argv)
{
	int nx = argument(argc, argv, 1, 4096), ny = argument(argc, argv, 2, 4096), block = argument(argc, argv, 3, 256);
	size_t all = (size_t)nx * ny;
	float *A = random_floats(all, 1), *r = random_floats(nx, 2), *p = random_floats(ny, 3);
	float *s = host_floats(ny), *q = host_floats(nx);
	float *dA = floats_to_device(A, all), *dr = floats_to_device(r, nx), *dp = floats_to_device(p, ny);
	float *ds = floats_to_device(s, ny), *dq = floats_to_device(q, nx);

	bicg_kernel1<<<divide_up(ny, block), block>>>(nx, ny, dA, dr, ds);
	finish("bicg_kernel1");
	bicg_kernel2<<<divide_up(nx, block), block>>>(nx, ny, dA, dp, dq);
	finish("bicg_kernel2");
	check_or_leave(2.0 * (double)all);
	for (int i = 0; i < nx; i++)
		for (int j = 0; j < ny; j++) {
			s[j] = fmaf(r[i], A[i * ny + j], s[j]);
			q[i] = fmaf(A[i * ny + j], p[j], q[i]);
		}
	return report(differ_floats("s", ds, s, ny) || differ_floats("q", dq, q, nx));
}
