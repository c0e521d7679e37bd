/* SPDX-License-Identifier: MIT */
/* polybench_covar [m [n [block_x [block_y [block]]]]]: the covariances of m columns of n rows, in three
 * kernels as PolyBench/GPU has them: means, deviations, products, sums kept in global memory. Equal to
 * the CPU bit by bit. */
#include "suite.h"

__global__ void mean_kernel(int m, int n, float *mean, float *data)
{
	int j = column();

	if (j >= m)
		return;
	mean[j] = 0.0f;
	for (int i = 0; i < n; i++)
		mean[j] += data[i * m + j];
	mean[j] /= (float)n;
}

__global__ void reduce_kernel(int m, int n, float *mean, float *data)
{
	int i = row(), j = column();

	if (i < n && j < m)
		data[i * m + j] -= mean[j];
}

__global__ void covar_kernel(int m, int n, float *symmat, float *data)
{
	int j1 = column();

	if (j1 >= m)
		return;
	for (int j2 = j1; j2 < m; j2++) {
		symmat[j1 * m + j2] = 0.0f;
		for (int i = 0; i < n; i++)
			symmat[j1 * m + j2] = fmaf(data[i * m + j1], data[i * m + j2], symmat[j1 * m + j2]);
		symmat[j2 * m + j1] = symmat[j1 * m + j2];
	}
}

static void on_cpu(int m, int n, float *data, float *symmat)
{
	float *mean = host_floats(m);

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			mean[j] += data[i * m + j];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			data[i * m + j] -= mean[j] / (float)n;
	for (int i = 0; i < n; i++)
		for (int j1 = 0; j1 < m; j1++)
			for (int j2 = j1; j2 < m; j2++)
				symmat[j1 * m + j2] = fmaf(data[i * m + j1], data[i * m + j2], symmat[j1 * m + j2]);
	for (int j1 = 0; j1 < m; j1++)
		for (int j2 = j1; j2 < m; j2++)
			symmat[j2 * m + j1] = symmat[j1 * m + j2];
}

int main(int argc, char **argv)
{
	int m = argument(argc, argv, 1, 2048), n = argument(argc, argv, 2, 2048), block = argument(argc, argv, 5, 256);
	dim3 wide(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	size_t all = (size_t)m * n, pairs = (size_t)m * m;
	float *data = random_floats(all, 1), *symmat = host_floats(pairs);
	float *ddata = floats_to_device(data, all), *dsymmat = floats_to_device(symmat, pairs), *dmean = (float *)device_bytes(4 * (size_t)m);

	mean_kernel<<<divide_up(m, block), block>>>(m, n, dmean, ddata);
	finish("mean_kernel");
	reduce_kernel<<<cover(m, n, wide), wide>>>(m, n, dmean, ddata);
	finish("reduce_kernel");
	covar_kernel<<<divide_up(m, block), block>>>(m, n, dsymmat, ddata);
	finish("covar_kernel");
	check_or_leave((double)all * m);
	on_cpu(m, n, data, symmat);
	return report(differ_floats("symmat", dsymmat, symmat, pairs));
}
