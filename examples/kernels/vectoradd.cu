/* SPDX-License-Identifier: MIT */
/* vectoradd [n [block [bits]]]: c = a + b, a thread an element, of 32 bits (float) or 64 (double). Results
 * equal the CPU's bit by bit. */
#include "example.h"

__global__ void vectoradd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void vectoradd_double(const double *a, const double *b, double *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

static int add_floats(int n, int block)
{
	float *a = random_floats(n, 1), *b = random_floats(n, 2), *c = host_floats(n);
	float *da = floats_to_device(a, n), *db = floats_to_device(b, n), *dc = (float *)device_bytes(n * sizeof(float));

	vectoradd<<<divide_up(n, block), block>>>(da, db, dc, n);
	finish("vectoradd");
	for (int i = 0; i < n; i++)
		c[i] = a[i] + b[i];
	return differ_floats("c", dc, c, n);
}

static double *doubles(const float *from, int n)
{
	double *p = (double *)host_bytes(n * sizeof(double));

	for (int i = 0; i < n; i++)
		p[i] = (double)from[i];
	return p;
}

static int add_doubles(int n, int block)
{
	size_t bytes = n * sizeof(double);
	double *a = doubles(random_floats(n, 1), n), *b = doubles(random_floats(n, 2), n), *c = (double *)host_bytes(bytes);
	double *da = (double *)to_device(a, bytes), *db = (double *)to_device(b, bytes), *dc = (double *)device_bytes(bytes);

	vectoradd_double<<<divide_up(n, block), block>>>(da, db, dc, n);
	finish("vectoradd_double");
	to_host(c, dc, bytes);
	for (int i = 0; i < n; i++)
		if (c[i] != a[i] + b[i]) {
			printf("c[%d] is %.17g, expected %.17g\n", i, c[i], a[i] + b[i]);
			return 1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 4096), block = argument(argc, argv, 2, 256), bits = argument(argc, argv, 3, 32);

	return report(bits == 64 ? add_doubles(n, block) : add_floats(n, block));
}
