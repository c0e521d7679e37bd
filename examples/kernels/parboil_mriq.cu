/* SPDX-License-Identifier: MIT */
/* parboil_mriq [voxels [samples]]: the matrix Q of a non-Cartesian image, as Parboil's mri-q computes it: first the magnitude of
 * each sample, then for 1024 samples a launch, which constant memory holds, a thread a voxel. Parboil's small input has
 * 32768 voxels and 3072 samples. Angles are in turns, and sine and cosine are polynomials, so that results equal the CPU's bit by
 * bit. */
#include "suite.h"

enum { SAMPLES = 1024, MAGNITUDES = 512, VOXELS = 256 };

struct sample {
	float x, y, z, magnitude;
};

__constant__ struct sample samples[SAMPLES] = {{1, 0, 0, 0}};

/* The cosine of a turn's fraction. */
static __host__ __device__ float cosine(float turns)
{
	float part = turns - (float)(int)turns, square = part * part, sum = -26.4262f;

	sum = fmaf(sum, square, 60.2446f);
	sum = fmaf(sum, square, -85.4568f);
	sum = fmaf(sum, square, 64.9394f);
	sum = fmaf(sum, square, -19.7392f);
	return fmaf(sum, square, 1.0f);
}

static __host__ __device__ void add(struct sample k, float x, float y, float z, float *real, float *imaginary)
{
	float turns = fmaf(k.x, x, fmaf(k.y, y, k.z * z));

	*real = fmaf(k.magnitude, cosine(turns), *real);
	*imaginary = fmaf(k.magnitude, cosine(turns - 0.25f), *imaginary);
}

__global__ void ComputePhiMag_GPU(const float *real, const float *imaginary, float *magnitude, int n)
{
	int i = column();

	if (i < n)
		magnitude[i] = fmaf(real[i], real[i], imaginary[i] * imaginary[i]);
}

__global__ void ComputeQ_GPU(int n, int voxels, const float *x, const float *y, const float *z, float *real, float *imaginary)
{
	int i = column();

	if (i >= voxels)
		return;
	float at_x = x[i], at_y = y[i], at_z = z[i], sum_real = real[i], sum_imaginary = imaginary[i];
	for (int k = 0; k < n; k++)
		add(samples[k], at_x, at_y, at_z, &sum_real, &sum_imaginary);
	real[i] = sum_real;
	imaginary[i] = sum_imaginary;
}

static void q_of_part(const struct sample *part, int n, int voxels, float *const at[3], float *real, float *imaginary)
{
	try_cuda(cudaMemcpyToSymbol(samples, part, (size_t)n * sizeof *part, 0, cudaMemcpyHostToDevice), "cudaMemcpyToSymbol");
	ComputeQ_GPU<<<divide_up(voxels, VOXELS), VOXELS>>>(n, voxels, at[0], at[1], at[2], real, imaginary);
	finish("ComputeQ_GPU");
}

int main(int argc, char **argv)
{
	int voxels = argument(argc, argv, 1, 4096), n = argument(argc, argv, 2, 1200);
	float *phi[2] = {random_floats(n, 1), random_floats(n, 2)}, *k[3], *at[3], *dat[3];
	float *magnitude = host_floats(n), *real = host_floats(voxels), *imaginary = host_floats(voxels);
	struct sample *all = (struct sample *)host_bytes(n * sizeof *all);

	for (int axis = 0; axis < 3; axis++) {
		k[axis] = random_floats(n, 3 + axis);
		at[axis] = random_floats(voxels, 6 + axis);
		dat[axis] = floats_to_device(at[axis], voxels);
	}
	float *dmagnitude = floats_to_device(magnitude, n), *dreal = floats_to_device(real, voxels);
	float *dimaginary = floats_to_device(imaginary, voxels);
	ComputePhiMag_GPU<<<divide_up(n, MAGNITUDES), MAGNITUDES>>>(floats_to_device(phi[0], n), floats_to_device(phi[1], n),
								   dmagnitude, n);
	finish("ComputePhiMag_GPU");
	to_host(magnitude, dmagnitude, n * sizeof(float));
	for (int i = 0; i < n; i++)
		all[i] = {k[0][i], k[1][i], k[2][i], magnitude[i]};
	for (int first = 0; first < n; first += SAMPLES)
		q_of_part(&all[first], n - first < SAMPLES ? n - first : SAMPLES, voxels, dat, dreal, dimaginary);
	check_or_leave(20.0 * voxels * n);
	for (int i = 0; i < n; i++)
		magnitude[i] = fmaf(phi[0][i], phi[0][i], phi[1][i] * phi[1][i]);
	for (int i = 0; i < voxels; i++)
		for (int s = 0; s < n; s++)
			add(all[s], at[0][i], at[1][i], at[2][i], &real[i], &imaginary[i]);
	return report(differ_floats("magnitude", dmagnitude, magnitude, n) | differ_floats("real", dreal, real, voxels) |
		      differ_floats("imaginary", dimaginary, imaginary, voxels));
}
