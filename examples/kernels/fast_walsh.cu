/* SPDX-License-Identifier: MIT */
/* fast_walsh [log2n]: the Walsh-Hadamard transform of 2^log2n floats, as CUDA's sample fastWalshTransform has it: four elements a
 * thread, a quarter apart, in global memory until pieces have up to 2048 elements, then each piece in shared memory. The floats are
 * -1, 0 and 1, so that sums are exact up to 2^24. */
#include "example.h"

enum { PIECE_LOG2 = 11, THREADS = 256 };

/* Each row of blocks has elements of its own, four times as many as threads. */
__global__ void fwtBatch2Kernel(float *to, const float *from, int stride)
{
	int place = blockIdx.x * blockDim.x + threadIdx.x, low = place & (stride - 1);
	int i = blockIdx.y * blockDim.x * gridDim.x * 4 + (place - low) * 4 + low;
	float a = from[i], b = from[i + stride], c = from[i + 2 * stride], d = from[i + 3 * stride];

	to[i] = a + c + (b + d);
	to[i + stride] = a + c - (b + d);
	to[i + 2 * stride] = a - c + (b - d);
	to[i + 3 * stride] = a - c - (b - d);
}

__global__ void fwtBatch1Kernel(float *to, const float *from, int log2n)
{
	__shared__ float piece[1 << PIECE_LOG2];
	int n = 1 << log2n, first = blockIdx.x << log2n, thread = threadIdx.x;

#pragma unroll 1
	for (int i = thread; i < n; i += blockDim.x)
		piece[i] = from[first + i];
#pragma unroll 1
	for (int stride = n / 4; stride > 0; stride /= 4) {
		int low = thread & (stride - 1), i = (thread - low) * 4 + low;
		__syncthreads();
		float a = piece[i], b = piece[i + stride], c = piece[i + 2 * stride], d = piece[i + 3 * stride];
		piece[i] = a + c + (b + d);
		piece[i + stride] = a + c - (b + d);
		piece[i + 2 * stride] = a - c + (b - d);
		piece[i + 3 * stride] = a - c - (b - d);
	}
	__syncthreads();
#pragma unroll 1
	for (int i = thread; log2n % 2 == 1 && i < n / 2; i += blockDim.x) {
		float a = piece[2 * i], b = piece[2 * i + 1];
		piece[2 * i] = a + b;
		piece[2 * i + 1] = a - b;
	}
	__syncthreads();
#pragma unroll 1
	for (int i = thread; i < n; i += blockDim.x)
		to[first + i] = piece[i];
}

static void transform(float *values, size_t n)
{
	for (size_t half = n / 2; half > 0; half /= 2)
		for (size_t i = 0; i < n; i++) {
			float a = values[i], b = values[i ^ half];
			if (!(i & half)) {
				values[i] = a + b;
				values[i ^ half] = a - b;
			}
		}
}

int main(int argc, char **argv)
{
	int log2n = argument(argc, argv, 1, 13), rows = 1;
	size_t n = (size_t)1 << log2n;
	float *values, *device;
	unsigned seed = 1;

	if (log2n < 7 || log2n > 24) {
		fprintf(stderr, "%s: expected a logarithm from 7 to 24, found %d\n", argv[0], log2n);
		return 2;
	}
	values = host_floats(n);
	for (size_t i = 0; i < n; i++)
		values[i] = (float)(next_random(&seed) % 3) - 1.0f;
	device = floats_to_device(values, n);
	for (; log2n > PIECE_LOG2; log2n -= 2, rows *= 4) {
		int row = 1 << log2n;
		fwtBatch2Kernel<<<dim3(row / (4 * THREADS), rows), THREADS>>>(device, device, row / 4);
		finish("fwtBatch2Kernel");
	}
	fwtBatch1Kernel<<<rows, (1 << log2n) / 4>>>(device, device, log2n);
	finish("fwtBatch1Kernel");
	transform(values, n);
	return report(differ_floats("values", device, values, n));
}
