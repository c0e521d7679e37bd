/* SPDX-License-Identifier: MIT */
/* rodinia_backprop [inputs]: the two kernels of a training step of a layer of `inputs` units (a multiple
 * of 16) before 16 hidden ones, as Rodinia's backprop has them: partial sums by a tree in shared memory,
 * then the weights, whose rows are 17 floats, adjusted. Equal to the CPU bit by bit. */
#include "suite.h"

enum { HIDDEN = 16, STRIDE = HIDDEN + 1 };

/* As Rodinia's, the kernels take the number of hidden units, so that it is not known before a launch. */
__global__ void bpnn_layerforward_CUDA(float *input, float *weights, float *partial, int hid)
{
	__shared__ float node[HIDDEN], product[HIDDEN][HIDDEN];
	int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
	int at = (hid + 1) * HIDDEN * by + (hid + 1) * ty + tx + 1 + (hid + 1);

	if (tx == 0)
		node[ty] = input[HIDDEN * by + ty + 1];
	__syncthreads();
	product[ty][tx] = weights[at];
	__syncthreads();
	product[ty][tx] *= node[ty];
	__syncthreads();
	for (int step = 2; step <= HIDDEN; step *= 2) {
		if (ty % step == 0)
			product[ty][tx] += product[ty + step / 2][tx];
		__syncthreads();
	}
	weights[at] = product[ty][tx];
	__syncthreads();
	if (tx == 0)
		partial[by * hid + ty] = product[tx][ty];
}

__global__ void bpnn_adjust_weights_cuda(float *delta, int hid, float *input, float *weights, float *old)
{
	int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
	int at = (hid + 1) * HIDDEN * by + (hid + 1) * ty + tx + 1 + (hid + 1), y = HIDDEN * by + ty + 1, x = tx + 1;

	weights[at] += fmaf(0.3f * delta[x], input[y], 0.3f * old[at]);
	old[at] = fmaf(0.3f * delta[x], input[y], 0.3f * old[at]);
	__syncthreads();
	if (ty == 0 && by == 0) {
		weights[x] += fmaf(0.3f, delta[x], 0.3f * old[x]);
		old[x] = fmaf(0.3f, delta[x], 0.3f * old[x]);
	}
}

/* What the tree leaves in the weights: row r of a block of 16 holds the sum of as many rows as the
 * largest power of two that divides r, in the tree's order; row 0 of all 16. */
static void forward(int inputs, const float *input, float *weights)
{
	for (int i = 0; i < inputs; i++)
		for (int x = 1; x <= HIDDEN; x++)
			weights[STRIDE * (i + 1) + x] *= input[i + 1];
	for (int step = 2; step <= HIDDEN; step *= 2)
		for (int i = 0; i < inputs; i += step)
			for (int x = 1; x <= HIDDEN; x++)
				weights[STRIDE * (i + 1) + x] += weights[STRIDE * (i + 1 + step / 2) + x];
}

static void adjust(int inputs, const float *delta, const float *input, float *weights, float *old)
{
	for (int y = 0; y <= inputs; y++)
		for (int x = 1; x <= HIDDEN; x++) {
			float *o = &old[STRIDE * y + x];

			/* Row 0 is that of the constant input. */
			*o = y ? fmaf(0.3f * delta[x], input[y], 0.3f * *o) : fmaf(0.3f, delta[x], 0.3f * *o);
			weights[STRIDE * y + x] += *o;
		}
}

int main(int argc, char **argv)
{
	int inputs = argument(argc, argv, 1, 65536);
	dim3 grid(1, divide_up(inputs, HIDDEN)), block(HIDDEN, HIDDEN);
	size_t all = (size_t)(inputs + 1) * STRIDE;
	float *input = random_floats((size_t)inputs + 1, 1), *weights = random_floats(all, 2), *old = random_floats(all, 3);
	float *delta = random_floats(STRIDE, 4);

	if (inputs % HIDDEN) {
		fprintf(stderr, "%s: inputs must be a multiple of %d\n", argv[0], HIDDEN);
		return 2;
	}
	float *dinput = floats_to_device(input, (size_t)inputs + 1), *dweights = floats_to_device(weights, all);
	float *dpartial = (float *)device_bytes((size_t)inputs * sizeof(float)), *dold = floats_to_device(old, all);
	float *ddelta = floats_to_device(delta, STRIDE);

	bpnn_layerforward_CUDA<<<grid, block>>>(dinput, dweights, dpartial, HIDDEN);
	finish("bpnn_layerforward_CUDA");
	/* As Rodinia does: the second kernel begins from the weights as they were. */
	try_cuda(cudaMemcpy(dweights, weights, all * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
	bpnn_adjust_weights_cuda<<<grid, block>>>(ddelta, HIDDEN, dinput, dweights, dold);
	finish("bpnn_adjust_weights_cuda");
	float *sums = host_floats(all), *partial = host_floats(inputs);

	memcpy(sums, weights, all * sizeof(float));
	forward(inputs, input, sums);
	for (int i = 0; i < inputs; i++)
		partial[i] = sums[STRIDE * (i / HIDDEN * HIDDEN + 1) + i % HIDDEN + 1];
	adjust(inputs, delta, input, weights, old);
	return report(differ_floats("partial", dpartial, partial, inputs) || differ_floats("weights", dweights, weights, all));
}
