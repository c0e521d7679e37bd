/* SPDX-License-Identifier: MIT */
/* matvec [rows [columns [block]]]: q = A p, a thread a row, then s = transposed(A) r, a thread a
 * column: the same matrix, once with neighbouring lanes a row apart and once side by side. Equal to
 * the CPU bit by bit. */
#include "example.h"

__global__ void matvec(const float *A, const float *p, float *q, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	if (row >= rows)
		return;
	for (int column = 0; column < columns; column++)
		sum = fmaf(A[row * columns + column], p[column], sum);
	q[row] = sum;
}

__global__ void matvec_transposed(const float *A, const float *r, float *s, int rows, int columns)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	if (column >= columns)
		return;
	for (int row = 0; row < rows; row++)
		sum = fmaf(A[row * columns + column], r[row], sum);
	s[column] = sum;
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 128), columns = argument(argc, argv, 2, 128);
	int block = argument(argc, argv, 3, 64);
	size_t all = (size_t)rows * columns;
	float *A = random_floats(all, 1), *p = random_floats(columns, 2), *r = random_floats(rows, 3);
	float *q = host_floats(rows), *s = host_floats(columns);
	float *dA = floats_to_device(A, all), *dp = floats_to_device(p, columns), *dr = floats_to_device(r, rows);
	float *dq = floats_to_device(q, rows), *ds = floats_to_device(s, columns);

	matvec<<<divide_up(rows, block), block>>>(dA, dp, dq, rows, columns);
	finish("matvec");
	matvec_transposed<<<divide_up(columns, block), block>>>(dA, dr, ds, rows, columns);
	finish("matvec_transposed");
	for (int row = 0; row < rows; row++)
		for (int column = 0; column < columns; column++) {
			q[row] = fmaf(A[row * columns + column], p[column], q[row]);
			s[column] = fmaf(A[row * columns + column], r[row], s[column]);
		}
	return report(differ_floats("q", dq, q, rows) || differ_floats("s", ds, s, columns));
}
