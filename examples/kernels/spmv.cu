/* SPDX-License-Identifier: MIT */
/* spmv [rows [most [block]]]: y = A x, A sparse in CSR form, a thread a row, 0 to `most` elements in a
 * row. Neighbouring lanes stop at different lengths, and gather x from where the matrix says. Equal to
 * the CPU bit by bit. */
#include "example.h"

__global__ void spmv(const int *first, const int *column, const float *value, const float *x, float *y, int rows)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	if (row >= rows)
		return;
#pragma unroll 1
	for (int i = first[row], end = first[row + 1]; i < end; i++)
		sum = fmaf(value[i], x[column[i]], sum);
	y[row] = sum;
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 256), most = argument(argc, argv, 2, 9), block = argument(argc, argv, 3, 64);
	int *first = host_ints(rows + 1), *column;
	float *value, *x = random_floats(rows, 2), *y = host_floats(rows);
	float *dy = floats_to_device(y, rows);
	unsigned seed = 1;

	for (int row = 0; row < rows; row++)
		first[row + 1] = first[row] + (int)(next_random(&seed) % (unsigned)(most + 1));
	column = host_ints(first[rows] + 1);
	value = random_floats(first[rows] + 1, 3);
	for (int i = 0; i < first[rows]; i++)
		column[i] = (int)(next_random(&seed) % (unsigned)rows);
	spmv<<<divide_up(rows, block), block>>>(ints_to_device(first, rows + 1), ints_to_device(column, first[rows] + 1),
						floats_to_device(value, first[rows] + 1), floats_to_device(x, rows), dy, rows);
	finish("spmv");
	for (int row = 0; row < rows; row++)
		for (int i = first[row]; i < first[row + 1]; i++)
			y[row] = fmaf(value[i], x[column[i]], y[row]);
	return report(differ_floats("y", dy, y, rows));
}
