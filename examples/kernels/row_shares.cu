/* SPDX-License-Identifier: MIT */
/* row_shares [rows [columns]]: each element's share of its row, with the accesses of softmax: the greatest element of the row, the
 * sum of the weights, and each weight by that sum. A weight is 1 + greatest - element, where softmax has an exponential; so
 * one pass can add up what all weights need. By a thread a row; by blocks that store weights and divide them later, that
 * read the row three times, twice, four floats at once, or once into shared memory. Then rows by the root of the mean of
 * their squares, a thread or a block a row, and each element by itself. Elements are whole numbers: equal to the CPU bit
 * by bit. columns is a multiple of 4. */
#include "example.h"

struct alignas(16) four {
	float x, y, z, w;
};

struct greater {
	static __device__ float none(void) { return -1e30f; }
	static __device__ float of(float a, float b) { return a > b ? a : b; }
};

struct sum {
	static __device__ float none(void) { return 0.0f; }
	static __device__ float of(float a, float b) { return a + b; }
};

template <class OF> static __device__ float of_warp(float value)
{
	for (int apart = 16; apart > 0; apart /= 2)
		value = OF::of(value, __shfl_xor_sync(0xffffffff, value, apart));
	return value;
}

/* Of all threads of a block, through a word of shared memory for each warp. */
template <class OF> static __device__ float of_block(float value, float *words)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	value = of_warp<OF>(value);
	if (lane == 0)
		words[warp] = value;
	__syncthreads();
	if (warp == 0) {
		value = of_warp<OF>(lane < blockDim.x / 32 ? words[lane] : OF::none());
		if (lane == 0)
			words[0] = value;
	}
	__syncthreads();
	return words[0];
}

/* The same through a word for each thread. */
template <class OF> static __device__ float of_halves(float value, float *words)
{
	int thread = threadIdx.x;

	words[thread] = value;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (thread < half)
			words[thread] = OF::of(words[thread], words[thread + half]);
		__syncthreads();
	}
	return words[0];
}

__global__ void thread_a_row(float *in, float *out, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float *from = in + row * columns, *to = out + row * columns;
	float greatest = greater::none(), weights = 0.0f;

	if (row >= rows)
		return;
	for (int i = 0; i < columns; i++)
		greatest = greater::of(greatest, from[i]);
	for (int i = 0; i < columns; i++) {
		float weight = 1.0f + greatest - from[i];

		to[i] = weight;
		weights += weight;
	}
	for (int i = 0; i < columns; i++)
		to[i] /= weights;
}

__global__ void stored_twice(const float *__restrict__ in, float *__restrict__ out, int columns)
{
	extern __shared__ float words[];
	const float *from = in + (size_t)blockIdx.x * columns;
	float *to = out + (size_t)blockIdx.x * columns;
	float greatest = greater::none(), weights = 0.0f;

	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		greatest = greater::of(greatest, from[i]);
	greatest = of_block<greater>(greatest, words);
	for (int i = threadIdx.x; i < columns; i += blockDim.x) {
		float weight = 1.0f + greatest - from[i];

		to[i] = weight;
		weights += weight;
	}
	__syncthreads();
	weights = of_block<sum>(weights, words);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		to[i] /= weights;
}

__global__ void read_thrice(const float *in, float *out, int columns)
{
	extern __shared__ float words[];
	const float *from = in + blockIdx.x * columns;
	float *to = out + blockIdx.x * columns;
	float greatest = greater::none(), weights = 0.0f;

	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		greatest = greater::of(greatest, from[i]);
	greatest = of_halves<greater>(greatest, words);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		weights += 1.0f + greatest - from[i];
	__syncthreads();
	weights = of_halves<sum>(weights, words);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		to[i] = (1.0f + greatest - from[i]) / weights;
}

/* What the weights of four elements need, and their shares. */
static __device__ void look_at(four v, float *greatest, float *all)
{
	*greatest = greater::of(*greatest, greater::of(greater::of(v.x, v.y), greater::of(v.z, v.w)));
	*all += v.x + v.y + v.z + v.w;
}

static __device__ four shares_of(four v, float greatest, float weights)
{
	four shares;

	shares.x = (1.0f + greatest - v.x) / weights;
	shares.y = (1.0f + greatest - v.y) / weights;
	shares.z = (1.0f + greatest - v.z) / weights;
	shares.w = (1.0f + greatest - v.w) / weights;
	return shares;
}

__global__ void read_twice(const four *__restrict__ in, four *__restrict__ out, int columns)
{
	extern __shared__ float words[]; /* one for each warp, twice */
	const four *from = in + (size_t)blockIdx.x * (columns / 4);
	four *to = out + (size_t)blockIdx.x * (columns / 4);
	float greatest = greater::none(), all = 0.0f, weights;

	for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
		look_at(from[i], &greatest, &all);
	greatest = of_block<greater>(greatest, words);
	all = of_block<sum>(all, words + blockDim.x / 32);
	weights = columns * (1.0f + greatest) - all;
	for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
		to[i] = shares_of(from[i], greatest, weights);
}

__global__ void read_once(const four *__restrict__ in, four *__restrict__ out, int columns)
{
	extern __shared__ float words[]; /* the row, then as above */
	const four *from = in + (size_t)blockIdx.x * (columns / 4);
	four *to = out + (size_t)blockIdx.x * (columns / 4), *row = (four *)words;
	float greatest = greater::none(), all = 0.0f, weights;

	for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
		row[i] = from[i];
	__syncthreads();
	for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
		look_at(row[i], &greatest, &all);
	greatest = of_block<greater>(greatest, words + columns);
	all = of_block<sum>(all, words + columns + blockDim.x / 32);
	weights = columns * (1.0f + greatest) - all;
	for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
		to[i] = shares_of(row[i], greatest, weights);
}

__global__ void thread_a_norm(const float *__restrict__ in, const float *__restrict__ scale, float *__restrict__ out, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	const float *from = in + row * columns;
	float *to = out + row * columns, squares = 0.0f;

	if (row >= rows)
		return;
	for (int i = 0; i < columns; i++)
		squares += from[i] * from[i];
	squares = 1.0f / sqrtf(squares / columns + 1.0f);
	for (int i = 0; i < columns; i++)
		to[i] = from[i] * squares * scale[i];
}

__global__ void block_a_norm(const float *__restrict__ in, const float *__restrict__ scale, float *__restrict__ out, int columns)
{
	__shared__ float words[32];
	const float *from = in + blockIdx.x * columns;
	float *to = out + blockIdx.x * columns, squares = 0.0f;

	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		squares += from[i] * from[i];
	squares = of_block<sum>(squares, words);
	squares = 1.0f / sqrtf(squares / columns + 1.0f);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		to[i] = from[i] * squares * scale[i];
}

__global__ void by_itself(const float *__restrict__ in, float *__restrict__ out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * in[i] * in[i];
}

static void shares_on_cpu(const float *in, float *out, int columns)
{
	float greatest = in[0], weights = 0.0f;

	for (int i = 0; i < columns; i++)
		greatest = in[i] > greatest ? in[i] : greatest;
	for (int i = 0; i < columns; i++)
		weights += 1.0f + greatest - in[i];
	for (int i = 0; i < columns; i++)
		out[i] = (1.0f + greatest - in[i]) / weights;
}

static void norm_on_cpu(const float *in, const float *scale, float *out, int columns)
{
	float squares = 0.0f;

	for (int i = 0; i < columns; i++)
		squares += in[i] * in[i];
	squares = 1.0f / sqrtf(squares / columns + 1.0f);
	for (int i = 0; i < columns; i++)
		out[i] = in[i] * squares * scale[i];
}

/* Whether a kernel has left the expected, and zeros for the next one. */
static int differ_after(const char *kernel, float *device, const float *expected, size_t n)
{
	finish(kernel);
	if (differ_floats(kernel, device, expected, n))
		return 1;
	try_cuda(cudaMemset(device, 0, n * sizeof(float)), "cudaMemset");
	return 0;
}

int main(int argc, char **argv)
{
	int rows = argument(argc, argv, 1, 64), columns = argument(argc, argv, 2, 256), differ = 0;
	size_t n = (size_t)rows * columns;
	float *in = host_floats(n), *scale = host_floats(columns), *expected = host_floats(n), *din, *dout, *dscale;
	unsigned state = 1;

	for (size_t i = 0; i < n; i++)
		in[i] = (float)(next_random(&state) % 17) - 8.0f;
	for (int i = 0; i < columns; i++)
		scale[i] = (float)(i % 5);
	din = floats_to_device(in, n);
	dout = floats_to_device(expected, n);
	dscale = floats_to_device(scale, columns);
	for (int row = 0; row < rows; row++)
		shares_on_cpu(in + (size_t)row * columns, expected + (size_t)row * columns, columns);
	thread_a_row<<<divide_up(rows, 256), 256>>>(din, dout, rows, columns);
	differ += differ_after("thread_a_row", dout, expected, n);
	stored_twice<<<rows, 128, 4 * sizeof(float)>>>(din, dout, columns);
	differ += differ_after("stored_twice", dout, expected, n);
	read_thrice<<<rows, 256, 256 * sizeof(float)>>>(din, dout, columns);
	differ += differ_after("read_thrice", dout, expected, n);
	read_twice<<<rows, 256, 16 * sizeof(float)>>>((four *)din, (four *)dout, columns);
	differ += differ_after("read_twice", dout, expected, n);
	read_once<<<rows, 256, (columns + 16) * sizeof(float)>>>((four *)din, (four *)dout, columns);
	differ += differ_after("read_once", dout, expected, n);
	for (int row = 0; row < rows; row++)
		norm_on_cpu(in + (size_t)row * columns, scale, expected + (size_t)row * columns, columns);
	thread_a_norm<<<divide_up(rows, 256), 256>>>(din, dscale, dout, rows, columns);
	differ += differ_after("thread_a_norm", dout, expected, n);
	block_a_norm<<<rows, 256>>>(din, dscale, dout, columns);
	differ += differ_after("block_a_norm", dout, expected, n);
	for (size_t i = 0; i < n; i++)
		expected[i] = in[i] * in[i] * in[i];
	by_itself<<<divide_up((int)n, 128), 128>>>(din, dout, (int)n);
	return report(differ + differ_after("by_itself", dout, expected, n));
}
