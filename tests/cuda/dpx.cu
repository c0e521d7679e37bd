/* SPDX-License-Identifier: MIT */
/* Instructions of dynamic programming (DPX), which a GPU of compute capability 9.0 has for numbers of 16 and 32 bits: CUDA's own functions for
 * the host say what they are. An alignment by Smith and Waterman's recurrence uses them; and a logic operation gives a predicate. */
#include <cstdint>
#include <cstdio>

#define N 4096
#define EITHER __host__ __device__

EITHER uint32_t both(uint32_t a, uint32_t b, uint32_t c, int which)
{
	bool p = false, q = false;
	uint32_t r = 0;

	switch (which) {
	case 0: r = __viaddmax_s16x2(a, b, c); break;
	case 1: r = __viaddmax_s16x2_relu(a, b, c); break;
	case 2: r = __viaddmin_u16x2(a, b, c); break;
	case 3: r = (uint32_t)__viaddmax_s32_relu((int)a, (int)b, (int)c); break;
	case 4: r = __vimax3_s16x2_relu(a, b, c); break;
	case 5: r = __vimin3_u16x2(a, b, c); break;
	case 6: r = (uint32_t)__vimin_s32_relu((int)a, (int)b); break;
	case 7: r = __vibmax_s16x2(a, b, &p, &q); break;
	default: r = (uint32_t)__vimax3_s32((int)a, (int)b, (int)c);
	}
	return r + 2 * p + 4 * q;
}

/* Row by row, the best of a match on the diagonal, a gap on either side, and 0. */
EITHER int aligned(const char *x, const char *y, int n)
{
	int row[33] = {0}, best = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0, diagonal = 0; j < n; j++) {
			const int above = row[j + 1];
			row[j + 1] = __vimax3_s32_relu(diagonal + (x[i] == y[j] ? 3 : -2), above - 1, row[j] - 1);
			diagonal = above;
			best = best < row[j + 1] ? row[j + 1] : best;
		}
	return best;
}

__global__ void run(const uint32_t *in, uint32_t *out, int which)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = both(in[i], in[(i * 7 + 1) % N], in[(i * 13 + 5) % N], which);
}

__global__ void align(const uint32_t *in, int *out)
{
	char x[32], y[32];

	for (int k = 0; k < 32; k++) {
		x[k] = (char)(in[(threadIdx.x * 32 + k) % N] & 3);
		y[k] = (char)(in[(threadIdx.x * 17 + k * 3) % N] & 3);
	}
	out[threadIdx.x] = aligned(x, y, 32);
}

/* Whether some bit of a & (b | c) is set, and `also` holds. */
__global__ void logic(const uint32_t *in, uint32_t *out)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t value, some;

	asm("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 q, %5, 0;\n\tlop3.and.b32 %0|p, %2, %3, %4, 0xe0, q;\n\tselp.u32 %1, 1, 0, p;\n\t}"
	    : "=r"(value), "=r"(some) : "r"(in[i] & 3), "r"(in[(i * 3) % N]), "r"(in[(i * 5) % N]), "r"(i & 1));
	out[i] = value * 2 + some;
}

int main()
{
	uint32_t *in, *out;
	int wrong = 0;

	cudaMallocManaged(&in, N * sizeof *in);
	cudaMallocManaged(&out, N * sizeof *out);
	for (uint32_t i = 0, state = 2463534242u; i < N; i++) {
		state ^= state << 13, state ^= state >> 17, state ^= state << 5;
		in[i] = i % 7 ? state : state & 0xffff8000u;
	}
	for (int which = 0; which < 9; which++) {
		run<<<N / 128, 128>>>(in, out, which);
		wrong += cudaDeviceSynchronize() != cudaSuccess;
		for (int i = 0; i < N; i++)
			wrong += out[i] != both(in[i], in[(i * 7 + 1) % N], in[(i * 13 + 5) % N], which);
	}
	logic<<<N / 128, 128>>>(in, out);
	wrong += cudaDeviceSynchronize() != cudaSuccess;
	for (int i = 0; i < N; i++) {
		const uint32_t value = in[i] & 3 & (in[(i * 3) % N] | in[(i * 5) % N]);
		wrong += out[i] != value * 2 + (value && i & 1);
	}
	align<<<1, 64>>>(in, (int *)out);
	wrong += cudaDeviceSynchronize() != cudaSuccess;
	for (int t = 0; t < 64; t++) {
		char x[32], y[32];
		for (int k = 0; k < 32; k++) {
			x[k] = (char)(in[(t * 32 + k) % N] & 3);
			y[k] = (char)(in[(t * 17 + k * 3) % N] & 3);
		}
		wrong += (int)out[t] != aligned(x, y, 32);
	}
	printf(wrong ? "FAIL: %d differ\n" : "PASS\n", wrong);
	return wrong != 0;
}
