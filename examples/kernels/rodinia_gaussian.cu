/* SPDX-License-Identifier: MIT */
/* rodinia_gaussian [n]: forward elimination of n equations as Rodinia's gaussian launches it: for each unknown but the
 * last a kernel for its multipliers, blocks of 128 threads, and one that subtracts its row from those below, blocks of
 * 16 x 16, as the Makefile of Rodinia 3.1 in Accel-Sim's collection sets them. Equal to the CPU bit by bit. */
#include "suite.h"

enum { MULTIPLIERS = 128, SIDE = 16 };

/* Rounded once, as the device does it in one instruction. */
static __host__ __device__ float without(float from, float times, float what) { return fmaf(-times, what, from); }

__global__ void Fan1(float *multipliers, const float *a, int n, int t)
{
	int i = column();

	if (i < n - 1 - t)
		multipliers[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}

__global__ void Fan2(const float *multipliers, float *a, float *b, int n, int t)
{
	int x = column(), y = row();

	if (x >= n - 1 - t || y >= n - t)
		return;
	a[n * (x + 1 + t) + y + t] = without(a[n * (x + 1 + t) + y + t], multipliers[n * (x + 1 + t) + t], a[n * t + y + t]);
	if (y == 0)
		b[x + 1 + t] = without(b[x + 1 + t], multipliers[n * (x + 1 + t) + t], b[t]);
}

static void eliminate_on_cpu(float *a, float *b, int n)
{
	for (int t = 0; t < n - 1; t++)
		for (int i = t + 1; i < n; i++) {
			float multiplier = a[n * i + t] / a[n * t + t];
			for (int j = t; j < n; j++)
				a[n * i + j] = without(a[n * i + j], multiplier, a[n * t + j]);
			b[i] = without(b[i], multiplier, b[t]);
		}
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 16);
	size_t all = (size_t)n * n;
	float *a = random_floats(all, 1), *b = random_floats(n, 2), *zero = host_floats(all);

	for (int i = 0; i < n; i++)
		a[(size_t)n * i + i] += (float)n; /* no pivot is near 0 */
	memset(zero, 0, all * sizeof *zero);
	float *da = floats_to_device(a, all), *db = floats_to_device(b, n), *dm = floats_to_device(zero, all);

	for (int t = 0; t < n - 1; t++) {
		Fan1<<<divide_up(n, MULTIPLIERS), MULTIPLIERS>>>(dm, da, n, t);
		Fan2<<<cover(n, n, dim3(SIDE, SIDE)), dim3(SIDE, SIDE)>>>(dm, da, db, n, t);
		finish("elimination");
	}
	check_or_leave((double)n * n * n / 3);
	eliminate_on_cpu(a, b, n);
	return report(differ_floats("b", db, b, n) + differ_floats("a", da, a, all));
}
