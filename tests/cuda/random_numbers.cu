/* SPDX-License-Identifier: MIT */
/* cuRAND's device interface, which is headers alone: its numbers against a second writing of the generators. Philox: Salmon et
 * al., "Parallel Random Numbers: As Easy as 1, 2, 3"; XORWOW: Marsaglia, "Xorshift RNGs". */
#include <cstdint>
#include <cstdio>
#include <cmath>

#include <curand_kernel.h>

#define THREADS 64
#define DRAWS	5

__global__ void draw(uint64_t seed, uint32_t *philox, uint32_t *xorwow, float *uniform, float2 *normal)
{
	curandStatePhilox4_32_10_t counted;
	curandStateXORWOW_t shifted;

	/* Each thread has its own subsequence, begun at its own offset. */
	curand_init(seed, threadIdx.x, 4 * threadIdx.x, &counted);
	curand_init(seed + threadIdx.x, 0, 0, &shifted);
	for (int i = 0; i < DRAWS; i++) {
		philox[threadIdx.x * DRAWS + i] = curand(&counted);
		xorwow[threadIdx.x * DRAWS + i] = curand(&shifted);
	}
	uniform[threadIdx.x] = curand_uniform(&shifted);
	normal[threadIdx.x] = curand_normal2(&shifted);
}

static void philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4])
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, c[4] = {counter[0], counter[1], counter[2], counter[3]};

	for (int round = 0; round < 10; round++) {
		uint64_t first = UINT64_C(0xd2511f53) * c[0], second = UINT64_C(0xcd9e8d57) * c[2];
		uint32_t next[4] = {(uint32_t)(second >> 32) ^ c[1] ^ key[0], (uint32_t)second,
				    (uint32_t)(first >> 32) ^ c[3] ^ key[1], (uint32_t)first};
		for (int i = 0; i < 4; i++)
			c[i] = next[i];
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
	for (int i = 0; i < 4; i++)
		out[i] = c[i];
}

struct xorwow {
	uint32_t v[5], d;

	/* cuRAND's way from a seed to a state. */
	explicit xorwow(uint64_t seed)
	{
		uint32_t low = ((uint32_t)seed ^ 0xaad26b49) * 1099087573U, high = ((uint32_t)(seed >> 32) ^ 0xf7dcefdd) * 2591861531U;

		v[0] = 123456789 + low;
		v[1] = 362436069 ^ low;
		v[2] = 521288629 + high;
		v[3] = 88675123 ^ high;
		v[4] = 5783321 + low;
		d = 6615241 + high + low;
	}
	uint32_t next()
	{
		uint32_t t = v[0] ^ v[0] >> 2;

		for (int i = 0; i < 4; i++)
			v[i] = v[i + 1];
		v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
		d += 362437;
		return v[4] + d;
	}
};

static int failures;

static void check(bool holds, const char *what, int i)
{
	if (!holds && failures++ < 10)
		printf("FAIL %s, %d\n", what, i);
}

int main()
{
	const uint64_t seed = 0x123456789abcdefULL;
	const uint32_t zero[4] = {0, 0, 0, 0};
	uint32_t *by_philox, *by_xorwow, known[4];
	float *uniform;
	float2 *normal;

	/* The published answer for a counter and a key of zeros. */
	philox(zero, 0, known);
	check(known[0] == 0x6627e8d5 && known[1] == 0xe169c58d && known[2] == 0xbc57ac4c && known[3] == 0x9b00dbd8, "known answer", 0);
	cudaMallocManaged(&by_philox, THREADS * DRAWS * sizeof *by_philox);
	cudaMallocManaged(&by_xorwow, THREADS * DRAWS * sizeof *by_xorwow);
	cudaMallocManaged(&uniform, THREADS * sizeof *uniform);
	cudaMallocManaged(&normal, THREADS * sizeof *normal);
	draw<<<1, THREADS>>>(seed, by_philox, by_xorwow, uniform, normal);
	check(cudaDeviceSynchronize() == cudaSuccess, "launch", 0);
	for (int t = 0; t < THREADS; t++) {
		uint32_t out[4];
		xorwow shifted(seed + (uint64_t)t);
		for (int i = 0; i < DRAWS; i++) {
			const uint32_t counter[4] = {(uint32_t)(t + i / 4), 0, (uint32_t)t, 0};
			philox(counter, seed, out);
			check(by_philox[t * DRAWS + i] == out[i % 4], "philox", t);
			check(by_xorwow[t * DRAWS + i] == shifted.next(), "xorwow", t);
		}
		/* In (0, 1]: the middle of 2^32 steps. */
		float expected = (float)shifted.next() * 2.3283064e-10f + 2.3283064e-10f / 2;
		check(fabsf(uniform[t] - expected) <= 1e-7f, "uniform", t);
		/* Box and Muller */
		double u = shifted.next() * ldexp(1, -32) + ldexp(1, -33);
		double angle = shifted.next() * ldexp(1, -31) * M_PI + ldexp(1, -32) * M_PI, radius = sqrt(-2 * log(u));
		check(fabs(normal[t].x - radius * sin(angle)) < 1e-4, "normal, x", t);
		check(fabs(normal[t].y - radius * cos(angle)) < 1e-4, "normal, y", t);
	}
	printf(failures ? "FAIL: %d differ\n" : "PASS\n", failures);
	return failures > 0;
}
