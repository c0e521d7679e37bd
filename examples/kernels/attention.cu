/* SPDX-License-Identifier: MIT */
/* attention [n [heads]]: for each of n places and each head of 64 floats the mean of all values, weighted by how its query agrees
 * with each key: a block of 64 threads each, with the scores in shared memory. A thread adds up the products of a key, so lanes read
 * a row apart, a float or four floats at once; then each thread one column of the values. A weight is 1 + greatest score -
 * score, where attention has an exponential. The input is whole numbers: equal to the CPU bit by bit. */
#include "suite.h"

#define WIDE 64 /* floats of a head, and threads of a block */

struct alignas(16) four {
	float x, y, z, w;
};

static __device__ float greater(float a, float b) { return a > b ? a : b; }

/* The scores become weights; returns their sum. `words` has one for each of the two warps. */
static __device__ float weigh(float *scores, float *words, int n)
{
	int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
	float greatest = -1e30f, sum = 0.0f;

	for (int j = thread; j < n; j += WIDE)
		greatest = greater(greatest, scores[j]);
	for (int apart = 16; apart > 0; apart /= 2)
		greatest = greater(greatest, __shfl_xor_sync(0xffffffff, greatest, apart));
	if (lane == 0)
		words[warp] = greatest;
	__syncthreads();
	greatest = greater(words[0], words[1]);
	__syncthreads();
	for (int j = thread; j < n; j += WIDE) {
		scores[j] = 1.0f + greatest - scores[j];
		sum += scores[j];
	}
	for (int apart = 16; apart > 0; apart /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, apart);
	if (lane == 0)
		words[warp] = sum;
	__syncthreads();
	return words[0] + words[1];
}

__global__ void by_floats(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V, float *__restrict__ out, int n, int all)
{
	extern __shared__ float query[]; /* then the scores, then words */
	int head = blockIdx.x * WIDE, i = blockIdx.y, thread = threadIdx.x;
	float *scores = query + WIDE, weights, sum = 0.0f;

	query[thread] = Q[i * all + head + thread];
	__syncthreads();
	for (int j = thread; j < n; j += WIDE) {
		const float *key = K + j * all + head;
		float score = 0.0f;

		for (int d = 0; d < WIDE; d++)
			score = fmaf(query[d], key[d], score);
		scores[j] = score;
	}
	__syncthreads();
	weights = weigh(scores, scores + n, n);
	for (int j = 0; j < n; j++)
		sum = fmaf(scores[j], V[j * all + head + thread], sum);
	out[i * all + head + thread] = sum / weights;
}

__global__ void __launch_bounds__(WIDE, 16)
by_fours(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V, float *__restrict__ out, int n, int all)
{
	extern __shared__ float query[];
	int head = blockIdx.x * WIDE, i = blockIdx.y, thread = threadIdx.x;
	float *scores = query + WIDE, weights, a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
	const float *values = V + head + thread;

	if (thread < WIDE / 4)
		((four *)query)[thread] = ((const four *)(Q + i * all + head))[thread];
	__syncthreads();
	for (int j = thread; j < n; j += WIDE) {
		const four *key = (const four *)(K + j * all + head);
		float x = 0.0f, y = 0.0f, z = 0.0f, w = 0.0f;

#pragma unroll 4
		for (int l = 0; l < WIDE / 4; l++) {
			four of_key = key[l], of_query = ((four *)query)[l];

			x = fmaf(of_query.x, of_key.x, x);
			y = fmaf(of_query.y, of_key.y, y);
			z = fmaf(of_query.z, of_key.z, z);
			w = fmaf(of_query.w, of_key.w, w);
		}
		scores[j] = x + y + z + w;
	}
	__syncthreads();
	weights = weigh(scores, scores + n, n);
	for (int j = 0; j + 3 < n; j += 4) {
		a = fmaf(scores[j], values[j * all], a);
		b = fmaf(scores[j + 1], values[(j + 1) * all], b);
		c = fmaf(scores[j + 2], values[(j + 2) * all], c);
		d = fmaf(scores[j + 3], values[(j + 3) * all], d);
	}
	out[i * all + head + thread] = (a + b + c + d) / weights;
}

static void on_cpu(const float *Q, const float *K, const float *V, float *out, int n, int all)
{
	float *scores = host_floats(n);

	for (int at = 0; at < n * all; at += WIDE) {
		float greatest = -1e30f, weights = 0.0f, *to = out + at;

		memset(scores, 0, n * sizeof(float));
		for (int j = 0; j < n; j++) {
			for (int d = 0; d < WIDE; d++)
				scores[j] += Q[at + d] * K[j * all + at % all + d];
			greatest = scores[j] > greatest ? scores[j] : greatest;
		}
		for (int j = 0; j < n; j++) {
			weights += 1.0f + greatest - scores[j];
			for (int d = 0; d < WIDE; d++)
				to[d] += (1.0f + greatest - scores[j]) * V[j * all + at % all + d];
		}
		for (int d = 0; d < WIDE; d++)
			to[d] /= weights;
	}
	free(scores);
}

/* n floats of -1, 0 and 1. */
static float *small_numbers(size_t n, unsigned seed)
{
	float *p = host_floats(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (float)(next_random(&seed) % 3) - 1.0f;
	return p;
}

int main(int argc, char **argv)
{
	int n = 4 * divide_up(argument(argc, argv, 1, 64), 4), heads = argument(argc, argv, 2, 2), all = heads * WIDE;
	size_t size = (size_t)n * all, shared = (WIDE + n + 32) * sizeof(float);
	float *Q = small_numbers(size, 1), *K = small_numbers(size, 2), *V = small_numbers(size, 3), *out = host_floats(size);
	float *dQ = floats_to_device(Q, size), *dK = floats_to_device(K, size), *dV = floats_to_device(V, size);
	float *dfloats = floats_to_device(out, size), *dfours = floats_to_device(out, size);

	by_floats<<<dim3(heads, n), WIDE, shared>>>(dQ, dK, dV, dfloats, n, all);
	finish("by_floats");
	by_fours<<<dim3(heads, n), WIDE, shared>>>(dQ, dK, dV, dfours, n, all);
	finish("by_fours");
	check_or_leave(2.0 * (double)size * n);
	on_cpu(Q, K, V, out, n, all);
	return report(differ_floats("by_floats", dfloats, out, size) + differ_floats("by_fours", dfours, out, size));
}
