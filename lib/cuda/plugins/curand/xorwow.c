/* SPDX-License-Identifier: MIT */
/* XORWOW (Marsaglia, "Xorshift RNGs", 2003): five words of a linear generator over bits, and a sixth that counts. A stream begins
 * 2^67 draws after the one before it; such a step is a power of the generator's matrix. */
#include "cuda/plugins/curand/curand.h"

#include <string.h>

#define WORDS  5
#define BITS   (WORDS * 32)
#define WEYL   362437
#define STREAM_DRAWS_LOG2 67

/* What becomes of the state in which one bit is set, for each bit. */
struct matrix {
	uint32_t of[BITS][WORDS];
};

static uint32_t step(uint32_t word[WORDS])
{
	uint32_t first = word[0] ^ word[0] >> 2, last = word[4];

	memmove(word, word + 1, (WORDS - 1) * sizeof *word);
	return word[4] = last ^ last << 4 ^ first ^ first << 1;
}

static void apply(const struct matrix *matrix, uint32_t word[WORDS])
{
	uint32_t result[WORDS] = {0};

	for (unsigned bit = 0; bit < BITS; bit++) {
		uint32_t mask = 0 - (word[bit / 32] >> bit % 32 & 1);
		for (unsigned w = 0; w < WORDS; w++)
			result[w] ^= matrix->of[bit][w] & mask;
	}
	memcpy(word, result, sizeof result);
}

static void square(struct matrix *matrix)
{
	struct matrix old = *matrix;

	for (unsigned bit = 0; bit < BITS; bit++)
		apply(&old, matrix->of[bit]);
}

/* The matrix of one draw. */
static void first_power(struct matrix *matrix)
{
	memset(matrix, 0, sizeof *matrix);
	for (unsigned bit = 0; bit < BITS; bit++) {
		matrix->of[bit][bit / 32] = UINT32_C(1) << bit % 32;
		step(matrix->of[bit]);
	}
}

static void skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	struct matrix power;

	first_power(&power);
	for (uint64_t left = draws; left > 0; left >>= 1, square(&power))
		for (unsigned i = 0; (left & 1) && i < n; i++)
			apply(&power, streams[i].word);
	for (unsigned i = 0; i < n; i++)
		streams[i].word[WORDS] += (uint32_t)draws * WEYL;
}

/* cuRAND's way from a seed to a state (curand_init). */
static struct gt_curand_stream start(uint64_t seed)
{
	const uint32_t low = ((uint32_t)seed ^ 0xaad26b49) * 1099087573U;
	const uint32_t high = ((uint32_t)(seed >> 32) ^ 0xf7dcefdd) * 2591861531U;

	return (struct gt_curand_stream){{123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low,
				   6615241 + high + low}};
}

static void seed_streams(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	struct matrix power;

	first_power(&power);
	for (unsigned i = 0; i < STREAM_DRAWS_LOG2; i++)
		square(&power);
	streams[0] = start(seed);
	for (unsigned i = 1; i < n; i++) {
		streams[i] = streams[i - 1];
		apply(&power, streams[i].word);
	}
}

static void draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i++)
		draws[i] = step(stream->word) + (stream->word[WORDS] += WEYL);
}

const struct gt_curand_engine gt_curand_xorwow = {seed_streams, skip, draw, 4096, 4096, 1, false};
