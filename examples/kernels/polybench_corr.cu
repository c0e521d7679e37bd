/* SPDX-License-Identifier: MIT */
/* polybench_corr [m [n [block_x [block_y [block]]]]]: the correlations of m columns of n rows, in four
 * kernels as PolyBench/GPU has them: means, standard deviations, normal form, products, sums kept in
 * global memory. Equal to the CPU bit by bit. */
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

__global__ void std_kernel(int m, int n, float *mean, float *std, float *data)
{
	int j = column();

	if (j >= m)
		return;
	std[j] = 0.0f;
	for (int i = 0; i < n; i++)
		std[j] = fmaf(data[i * m + j] - mean[j], data[i * m + j] - mean[j], std[j]);
	std[j] /= (float)n;
	std[j] = sqrtf(std[j]);
	/* Columns that hardly vary would be divided by next to nothing. */
	if (std[j] <= 0.005f)
		std[j] = 1.0f;
}

__global__ void reduce_kernel(int m, int n, float *mean, float *std, float *data)
{
	int i = row(), j = column();

	if (i >= n || j >= m)
		return;
	data[i * m + j] -= mean[j];
	data[i * m + j] /= sqrtf((float)n) * std[j];
}

__global__ void corr_kernel(int m, int n, float *symmat, float *data)
{
	int j1 = column();

	if (j1 >= m - 1)
		return;
	symmat[j1 * m + j1] = 1.0f;
	for (int j2 = j1 + 1; j2 < m; j2++) {
		symmat[j1 * m + j2] = 0.0f;
		for (int i = 0; i < n; i++)
			symmat[j1 * m + j2] = fmaf(data[i * m + j1], data[i * m + j2], symmat[j1 * m + j2]);
		symmat[j2 * m + j1] = symmat[j1 * m + j2];
	}
}

static void to_normal_form(int m, int n, float *data)
{
	for (int j = 0; j < m; j++) {
		float mean = 0.0f, std = 0.0f;

		for (int i = 0; i < n; i++)
			mean += data[i * m + j];
		mean /= (float)n;
		for (int i = 0; i < n; i++)
			std = fmaf(data[i * m + j] - mean, data[i * m + j] - mean, std);
		std = sqrtf(std / (float)n);
		if (std <= 0.005f)
			std = 1.0f;
		for (int i = 0; i < n; i++)
			data[i * m + j] = (data[i * m + j] - mean) / (sqrtf((float)n) * std);
	}
}

static void products(int m, int n, const float *data, float *symmat)
{
	for (int j1 = 0; j1 < m - 1; j1++) {
		symmat[j1 * m + j1] = 1.0f;
		for (int j2 = j1 + 1; j2 < m; j2++) {
			for (int i = 0; i < n; i++)
				symmat[j1 * m + j2] = fmaf(data[i * m + j1], data[i * m + j2], symmat[j1 * m + j2]);
			symmat[j2 * m + j1] = symmat[j1 * m + j2];
		}
	}
}

int main(int argc, char **argv)
{
	int m = argument(argc, argv, 1, 2048), n = argument(argc, argv, 2, 2048), block = argument(argc, argv, 5, 256);
	dim3 wide(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	size_t all = (size_t)m * n, pairs = (size_t)m * m;
	float *data = random_floats(all, 1), *symmat = host_floats(pairs);
	float *ddata = floats_to_device(data, all), *dsymmat = floats_to_device(symmat, pairs);
	float *dmean = (float *)device_bytes(4 * (size_t)m), *dstd = (float *)device_bytes(4 * (size_t)m);

	mean_kernel<<<divide_up(m, block), block>>>(m, n, dmean, ddata);
	finish("mean_kernel");
	std_kernel<<<divide_up(m, block), block>>>(m, n, dmean, dstd, ddata);
	finish("std_kernel");
	reduce_kernel<<<cover(m, n, wide), wide>>>(m, n, dmean, dstd, ddata);
	finish("reduce_kernel");
	corr_kernel<<<divide_up(m, block), block>>>(m, n, dsymmat, ddata);
	finish("corr_kernel");
	check_or_leave((double)all * m);
	to_normal_form(m, n, data);
	products(m, n, data, symmat);
	return report(differ_floats("symmat", dsymmat, symmat, pairs));
}
