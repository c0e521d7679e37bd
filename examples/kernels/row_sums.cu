/* SPDX-License-Identifier: MIT */
/* row_sums [n [block]]: the sums of the rows and of the columns of a matrix of n x n floats, a thread a sum. Lanes that
 * add up rows read a row apart, those that add up columns read neighbours. The floats are whole numbers: equal to the
 * CPU bit by bit. */
#include "example.h"

__global__ void row_sums(const float *A, float *sums, size_t n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	if (row >= n)
		return;
	for (size_t i = 0; i < n; i++)
		sum += A[row * n + i];
	sums[row] = sum;
}

__global__ void column_sums(const float *A, float *sums, size_t n)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	if (column >= n)
		return;
	for (size_t i = 0; i < n; i++)
		sum += A[i * n + column];
	sums[column] = sum;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 256), block = argument(argc, argv, 2, 256);
	size_t all = (size_t)n * n;
	float *A = host_floats(all), *rows = host_floats(n), *columns = host_floats(n), *dA, *dsums;
	int differ;

	for (size_t i = 0; i < all; i++)
		A[i] = (float)(i % 7);
	dA = floats_to_device(A, all);
	dsums = floats_to_device(rows, n);
	for (size_t i = 0; i < all; i++) {
		rows[i / n] += A[i];
		columns[i % n] += A[i];
	}
	row_sums<<<divide_up(n, block), block>>>(dA, dsums, n);
	finish("row_sums");
	differ = differ_floats("rows", dsums, rows, n);
	column_sums<<<divide_up(n, block), block>>>(dA, dsums, n);
	finish("column_sums");
	return report(differ + differ_floats("columns", dsums, columns, n));
}
