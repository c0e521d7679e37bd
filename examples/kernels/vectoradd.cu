/* SPDX-License-Identifier: MIT */
/* vectoradd [n [block]]: c = a + b, a thread an element. Results equal the CPU's bit by bit. */
#include "example.h"

__global__ void vectoradd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), block = argument(argc, argv, 2, 256);
	float *a = random_floats(n, 1), *b = random_floats(n, 2), *c = host_floats(n);
	float *da = floats_to_device(a, n), *db = floats_to_device(b, n), *dc = floats_to_device(c, n);

	vectoradd<<<divide_up(n, block), block>>>(da, db, dc, n);
	finish("vectoradd");
	for (int i = 0; i < n; i++)
		c[i] = a[i] + b[i];
	return report(differ_floats("c", dc, c, n));
}
