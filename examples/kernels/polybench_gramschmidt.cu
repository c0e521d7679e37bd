/* SPDX-License-Identifier: MIT */
/* polybench_gramschmidt [ni [nj [columns [block]]]]: an orthogonal basis of the columns of ni x nj floats,
 * for the first columns of them (all, if not given), three kernels a column as PolyBench/GPU has them.
 * Equal to the CPU bit by bit. */
#include "suite.h"

__global__ void gramschmidt_kernel1(int ni, int nj, float *a, float *r, float *q, int k)
{
	(void)q;
	if (column() != 0)
		return;
	float norm = 0.0f;

	for (int i = 0; i < ni; i++)
		norm = fmaf(a[i * nj + k], a[i * nj + k], norm);
	r[k * nj + k] = sqrtf(norm);
}

__global__ void gramschmidt_kernel2(int ni, int nj, float *a, float *r, float *q, int k)
{
	int i = column();

	if (i < ni)
		q[i * nj + k] = a[i * nj + k] / r[k * nj + k];
}

__global__ void gramschmidt_kernel3(int ni, int nj, float *a, float *r, float *q, int k)
{
	int j = column();

	if (j <= k || j >= nj)
		return;
	r[k * nj + j] = 0.0f;
	for (int i = 0; i < ni; i++)
		r[k * nj + j] = fmaf(q[i * nj + k], a[i * nj + j], r[k * nj + j]);
	for (int i = 0; i < ni; i++)
		a[i * nj + j] = fmaf(-q[i * nj + k], r[k * nj + j], a[i * nj + j]);
}

/* Column k of q, and what it leaves of the columns after it. */
static void on_cpu(int ni, int nj, float *a, float *q, int k)
{
	float norm = 0.0f;

	for (int i = 0; i < ni; i++)
		norm = fmaf(a[i * nj + k], a[i * nj + k], norm);
	for (int i = 0; i < ni; i++)
		q[i * nj + k] = a[i * nj + k] / sqrtf(norm);
	for (int j = k + 1; j < nj; j++) {
		float part = 0.0f;

		for (int i = 0; i < ni; i++)
			part = fmaf(q[i * nj + k], a[i * nj + j], part);
		for (int i = 0; i < ni; i++)
			a[i * nj + j] = fmaf(-q[i * nj + k], part, a[i * nj + j]);
	}
}

int main(int argc, char **argv)
{
	int ni = argument(argc, argv, 1, 2048), nj = argument(argc, argv, 2, 2048);
	int columns = argument(argc, argv, 3, nj), block = argument(argc, argv, 4, 256);
	size_t all = (size_t)ni * nj;
	float *a = random_floats(all, 1), *q = host_floats(all), *r = host_floats((size_t)nj * nj);
	float *da = floats_to_device(a, all), *dq = floats_to_device(q, all), *dr = floats_to_device(r, (size_t)nj * nj);

	columns = columns < nj ? columns : nj;
	for (int k = 0; k < columns; k++) {
		gramschmidt_kernel1<<<1, block>>>(ni, nj, da, dr, dq, k);
		finish("gramschmidt_kernel1");
		gramschmidt_kernel2<<<divide_up(ni, block), block>>>(ni, nj, da, dr, dq, k);
		finish("gramschmidt_kernel2");
		gramschmidt_kernel3<<<divide_up(nj, block), block>>>(ni, nj, da, dr, dq, k);
		finish("gramschmidt_kernel3");
	}
	check_or_leave(2.0 * (double)all * columns);
	for (int k = 0; k < columns; k++)
		on_cpu(ni, nj, a, q, k);
	return report(differ_floats("q", dq, q, all));
}
