/* SPDX-License-Identifier: MIT */
/* Quotients and remainders of 128 bits, which nvcc makes of sums and differences that carry into each other: as those of the host. */
#include <cuda_runtime.h>

#include "expect.h"

typedef unsigned __int128 wide;

enum { PAIRS = 1024 };

struct pair {
	wide a, b, quotient, remainder;
};

__global__ void divide(struct pair *pairs)
{
	struct pair *pair = &pairs[blockIdx.x * blockDim.x + threadIdx.x];

	pair->quotient = pair->a / pair->b;
	pair->remainder = pair->a % pair->b;
}

/* Numbers of any length, and such whose bits are all ones, or one alone. */
static wide number(unsigned i)
{
	static unsigned long long state = 1;
	wide bits = 0;

	for (int k = 0; k < 2; k++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		bits = bits << 64 | (state ^ state >> 29);
	}
	const unsigned length = i * 37 % 128;
	return i % 5 == 0 ? ~(wide)0 >> length : i % 5 == 1 ? (wide)1 << length : bits >> length;
}

int main()
{
	static struct pair pairs[PAIRS];
	struct pair *device;

	for (unsigned i = 0; i < PAIRS; i++) {
		pairs[i].a = number(i);
		pairs[i].b = number(i / 3 + 64);
		pairs[i].b += pairs[i].b == 0;
	}
	MUST(cudaMalloc(&device, sizeof pairs));
	MUST(cudaMemcpy(device, pairs, sizeof pairs, cudaMemcpyHostToDevice));
	divide<<<PAIRS / 128, 128>>>(device);
	MUST(cudaMemcpy(pairs, device, sizeof pairs, cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < PAIRS; i++) {
		CHECK(pairs[i].quotient == pairs[i].a / pairs[i].b);
		CHECK(pairs[i].remainder == pairs[i].a % pairs[i].b);
	}
	return verdict();
}
