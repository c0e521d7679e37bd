/* SPDX-License-Identifier: MIT */
/* transpose [rows [columns [block_x [block_y]]]]: the columns x rows transpose of a matrix; reads run
 * along a row, writes down a column. */
#include "example.h"

__global__ void transpose(const float *in, float *out, int rows, int columns)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x < columns && y < rows)
		out[x * rows + y] = in[y * columns + x];
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 64), columns = argument(argc, argv, 2, 64);
	dim3 block(argument(argc, argv, 3, 32), argument(argc, argv, 4, 8));
	size_t all = (size_t)rows * columns;
	float *in = random_floats(all, 1), *out = host_floats(all);
	float *din = floats_to_device(in, all), *dout = (float *)device_bytes(all * sizeof(float));

	transpose<<<dim3(divide_up(columns, block.x), divide_up(rows, block.y)), block>>>(din, dout, rows, columns);
	finish("transpose");
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < columns; x++)
			out[x * rows + y] = in[y * columns + x];
	return report(differ_floats("out", dout, out, all));
}
