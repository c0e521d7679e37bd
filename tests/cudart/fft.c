/* SPDX-License-Identifier: MIT */
/* Calls of cuFFT, compared with sums of the definition on the host: X[k] = sum over j of x[j] e^(sign 2 pi i j k / n) in each
 * dimension. Built without CUDA: fft PART, of: results, refused, stray, far, captured. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

int cudaMalloc(void **pointer, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);

int cufftCreate(int *plan), cufftDestroy(int plan), cufftSetStream(int plan, void *stream), cufftGetSize(int plan, size_t *bytes);
int cufftPlan1d(int *plan, int x, int type, int batch), cufftPlan2d(int *plan, int x, int y, int type);
int cufftPlan3d(int *plan, int x, int y, int z, int type);
int cufftPlanMany(int *plan, int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride, int out_distance, int type,
		  int batch);
int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in, long long in_stride, long long in_distance, long long *out,
			long long out_stride, long long out_distance, int type, long long batch, size_t *work);
int cufftExecC2C(int, void *, void *, int), cufftExecZ2Z(int, void *, void *, int);
int cufftExecR2C(int, void *, void *), cufftExecC2R(int, void *, void *), cufftExecD2Z(int, void *, void *), cufftExecZ2D(int, void *, void *);
int cufftXtMakePlanMany(void);

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69, FORWARD = -1, INVERSE = 1 };
enum { X = 3, Y = 5, Z = 4, ALL = X * Y * Z, HALF = Z / 2 + 1 };

static double whole(int i, int from)
{
	return (i * 7 + from * 5) % 11 - 5;
}

/* The definition, of X by Y by Z numbers: a size of 1 leaves a dimension alone. */
static void define(const double _Complex *x, double _Complex *to, const int n[3], int sign)
{
	for (int k = 0; k < n[0] * n[1] * n[2]; k++) {
		const int at[3] = {k / n[2] / n[1], k / n[2] % n[1], k % n[2]};
		to[k] = 0;
		for (int j = 0; j < n[0] * n[1] * n[2]; j++) {
			const double turns = (double)(at[0] * (j / n[2] / n[1])) / n[0] + (double)(at[1] * (j / n[2] % n[1])) / n[1] +
					     (double)(at[2] * (j % n[2])) / n[2];
			to[k] += x[j] * cexp(sign * 2 * acos(-1) * turns * I);
		}
	}
}

static void *on_device(const void *from, size_t bytes)
{
	void *to;

	MUST(cudaMalloc(&to, bytes));
	MUST(cudaMemcpy(to, from, bytes, 1));
	return to;
}

static void compare(const void *device, const double _Complex *expected, int n, int wide, const char *what)
{
	double _Complex got[ALL];
	float _Complex narrow[ALL];
	double worst = 0;

	MUST(cudaMemcpy(wide ? (void *)got : (void *)narrow, device, (size_t)n * (wide ? sizeof *got : sizeof *narrow), 2));
	for (int i = 0; i < n; i++)
		worst = fmax(worst, cabs((wide ? got[i] : (double _Complex)narrow[i]) - expected[i]));
	check(worst < (wide ? 1e-12 : 1e-3), what);
}

/* Complex numbers: one, two and three dimensions, batches, both signs, in place and not. */
static void complex_ones(void)
{
	double _Complex x[ALL], expected[ALL];
	float _Complex narrow[ALL];
	int plan;

	for (int i = 0; i < ALL; i++)
		narrow[i] = (float _Complex)(x[i] = whole(i, 1) + whole(i, 2) * I);
	void *wide = on_device(x, sizeof x), *to = on_device(x, sizeof x), *small = on_device(narrow, sizeof narrow);

	for (int batch = 0; batch < X; batch++)
		define(x + batch * Y * Z, expected + batch * Y * Z, (const int[]){1, 1, Y * Z}, FORWARD);
	MUST(cufftPlan1d(&plan, Y * Z, Z2Z, X));
	MUST(cufftExecZ2Z(plan, wide, to, FORWARD));
	compare(to, expected, ALL, 1, "a batch of doubles");
	MUST(cufftDestroy(plan));
	define(x, expected, (const int[]){X, Y, Z}, INVERSE);
	MUST(cufftPlan3d(&plan, X, Y, Z, Z2Z));
	MUST(cufftExecZ2Z(plan, wide, to, INVERSE));
	compare(to, expected, ALL, 1, "three dimensions");
	compare(wide, x, ALL, 1, "what is transformed");
	MUST(cufftDestroy(plan));
	define(x, expected, (const int[]){1, X, Y * Z}, FORWARD);
	MUST(cufftPlan2d(&plan, X, Y * Z, C2C));
	MUST(cufftExecC2C(plan, small, small, FORWARD));
	compare(small, expected, ALL, 0, "two dimensions of floats, in place");
	check(cufftExecZ2Z(plan, wide, wide, FORWARD) == 1, "a plan of another type");
	MUST(cufftDestroy(plan));
	check(cufftDestroy(plan) == 1, "a plan that was destroyed");
}

/* Real numbers to the half of their complex ones and back: X transforms of Y by Z. */
static void real_ones(int wide)
{
	const size_t real = wide ? sizeof(double) : sizeof(float);
	const int n[2] = {Y, Z}, pad = 2 * HALF;
	double x[ALL], padded[X * Y * 2 * HALF] = {0};
	float narrow[ALL], narrow_padded[X * Y * 2 * HALF] = {0};
	double _Complex all[ALL], expected[ALL], half[ALL], times[ALL];
	int there, back;

	for (int i = 0; i < ALL; i++) {
		narrow[i] = (float)(all[i] = x[i] = whole(i, 3));
		narrow_padded[i / Z * pad + i % Z] = (float)(padded[i / Z * pad + i % Z] = x[i]);
	}
	for (int batch = 0; batch < X; batch++)
		define(all + batch * Y * Z, expected + batch * Y * Z, (const int[]){1, Y, Z}, FORWARD);
	for (int i = 0; i < X * Y * HALF; i++)
		half[i] = expected[i / HALF * Z + i % HALF];
	for (int i = 0; i < ALL / 2; i++)
		times[i] = Y * Z * (x[2 * i] + x[2 * i + 1] * I);
	MUST(cufftPlanMany(&there, 2, (int *)(uintptr_t)n, NULL, 1, 0, NULL, 1, 0, wide ? D2Z : R2C, X));
	MUST(cufftPlanMany(&back, 2, (int *)(uintptr_t)n, NULL, 1, 0, NULL, 1, 0, wide ? Z2D : C2R, X));
	void *from = on_device(wide ? (void *)x : (void *)narrow, ALL * real), *to = on_device(padded, sizeof padded), *end = on_device(x, sizeof x);
	MUST((wide ? cufftExecD2Z : cufftExecR2C)(there, from, to));
	compare(to, half, X * Y * HALF, wide, "real numbers");
	MUST((wide ? cufftExecZ2D : cufftExecC2R)(back, to, end));
	compare(end, times, ALL / 2, wide, "and back");
	compare(to, half, X * Y * HALF, wide, "what goes back is left");
	void *place = on_device(wide ? (void *)padded : (void *)narrow_padded, X * Y * (size_t)pad * real);
	MUST((wide ? cufftExecD2Z : cufftExecR2C)(there, place, place));
	compare(place, half, X * Y * HALF, wide, "real numbers in place, of which each row is padded");
	MUST(cufftDestroy(there));
	MUST(cufftDestroy(back));
}

/* The columns of a matrix: a stride between its numbers, and 1 between its transforms. Y rows of Z, of which X are transformed. */
static void columns(void)
{
	long long n[1] = {Y}, embed[1] = {Y};
	double _Complex x[ALL], column[Y], transformed[Y], expected[ALL];
	size_t work = 1;
	int plan;

	for (int i = 0; i < Y * Z; i++)
		x[i] = expected[i] = whole(i, 4) + whole(i, 5) * I;
	for (int c = 0; c < X; c++) {
		for (int r = 0; r < Y; r++)
			column[r] = x[r * Z + c];
		define(column, transformed, (const int[]){1, 1, Y}, FORWARD);
		for (int r = 0; r < Y; r++)
			expected[r * Z + c] = transformed[r];
	}
	void *place = on_device(x, Y * Z * sizeof *x);
	MUST(cufftCreate(&plan));
	MUST(cufftMakePlanMany64(plan, 1, n, embed, Z, 1, embed, Z, 1, Z2Z, X, &work));
	check(work == 0, "no work area");
	MUST(cufftExecZ2Z(plan, place, place, FORWARD));
	compare(place, expected, Y * Z, 1, "columns");
	MUST(cufftDestroy(plan));
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	const float _Complex x[4] = {1, 2, 3, 4};
	void *dx = on_device(x, sizeof x), *stream;
	long long n[1] = {1LL << 31}, few[1] = {2}, embed[1] = {2};
	int plan = 0;

	if (strcmp(part, "results") == 0) {
		complex_ones();
		real_ones(0);
		real_ones(1);
		columns();
		check(cufftPlan1d(&plan, 4, 7, 1) == 3, "no such type");
		check(cufftPlan1d(&plan, 0, C2C, 1) == 8, "no numbers");
	} else if (strcmp(part, "refused") == 0) {
		printf("%d\n", cufftXtMakePlanMany());
		MUST(cufftCreate(&plan));
		printf("%d\n", cufftMakePlanMany64(plan, 1, n, NULL, 1, 1, NULL, 1, 1, C2C, 1, NULL));
	} else if (strcmp(part, "stray") == 0) {
		MUST(cufftPlan1d(&plan, 5, C2C, 1));
		cufftExecC2C(plan, dx, dx, FORWARD);
	} else if (strcmp(part, "far") == 0) {
		MUST(cufftCreate(&plan));
		MUST(cufftMakePlanMany64(plan, 1, few, embed, 1, 1 << 30, embed, 1, 1, C2C, 1 << 30, NULL));
		cufftExecC2C(plan, dx, dx, FORWARD);
	} else if (strcmp(part, "captured") == 0) {
		MUST(cufftPlan1d(&plan, 4, C2C, 1));
		MUST(cudaStreamCreate(&stream));
		MUST(cufftSetStream(plan, stream));
		MUST(cudaStreamBeginCapture(stream, 0));
		printf("%d\n", cufftExecC2C(plan, dx, dx, FORWARD));
	}
	printf(failures ? "%d differ\n" : "all as expected\n", failures);
	return failures > 0;
}
