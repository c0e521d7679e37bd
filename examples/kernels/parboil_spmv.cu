/* SPDX-License-Identifier: MIT */
/* parboil_spmv [rows [most]]: a sparse matrix times a vector, as Parboil's spmv computes it: rows are sorted by length, and the
 * k-th elements of all rows stand side by side, so that the threads of a warp read neighbours. Rows have up to `most`
 * elements; a warp goes on for as many as its longest row has. Equal to the CPU bit by bit. */
#include "suite.h"

enum { BLOCK = 192, WARP = 32 };

__global__ void spmv_jds(float *dst, float *data, int *index, int *permuted, float *x, int rows, int *starts, int *longest)
{
	int i = column();
	float sum = 0;

	if (i >= rows)
		return;
	for (int k = 0; k < longest[i / WARP]; k++) {
		int at = starts[k] + i;
		sum = fmaf(data[at], x[index[at]], sum);
	}
	dst[permuted[i]] = sum;
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 11948), most = argument(argc, argv, 2, 16), padded = divide_up(rows, WARP) * WARP;
	int *longest = host_ints(padded / WARP), *starts = host_ints(most), *permuted = host_ints(rows), elements = 0;
	unsigned state = 1;

	/* Lengths fall from `most` to 1; a warp's rows are padded to its first, with zeros. */
	for (int w = 0; w < padded / WARP; w++)
		longest[w] = most - (int)((long)w * WARP * most / padded);
	for (int k = 0; k < most; k++) {
		starts[k] = elements;
		for (int w = 0; w < padded / WARP && longest[w] > k; w++)
			elements += WARP;
	}
	float *data = random_floats(elements, 2), *x = random_floats(rows, 3), *dst = host_floats(rows);
	int *index = host_ints(elements);
	for (int i = 0; i < elements; i++)
		index[i] = (int)(next_random(&state) % (unsigned)rows);
	/* Any order of rows: one that a step of a number without a common divisor gives, or none. */
	for (int i = 0; i < rows; i++)
		permuted[i] = rows % 7 ? (int)((long)i * 7 % rows) : i;
	float *ddst = floats_to_device(dst, rows);
	spmv_jds<<<divide_up(rows, BLOCK), BLOCK>>>(ddst, floats_to_device(data, elements), ints_to_device(index, elements),
						    ints_to_device(permuted, rows), floats_to_device(x, rows), rows,
						    ints_to_device(starts, most), ints_to_device(longest, padded / WARP));
	finish("spmv_jds");
	for (int i = 0; i < rows; i++) {
		float sum = 0;
		for (int k = 0; k < longest[i / WARP]; k++)
			sum = fmaf(data[starts[k] + i], x[index[starts[k] + i]], sum);
		dst[permuted[i]] = sum;
	}
	return report(differ_floats("dst", ddst, dst, rows));
}
