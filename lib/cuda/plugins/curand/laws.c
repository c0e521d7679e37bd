/* SPDX-License-Identifier: MIT */
/* The laws of pseudorandom generators: XORWOW and MRG32k3a, whose streams begin so far apart that they do not meet. */
#include "cuda/plugins/curand/curand.h"

#include <string.h>

/* ---- XORWOW ---- */

/* XORWOW (Marsaglia, "Xorshift RNGs", 2003): five words of a linear generator over bits, and a sixth that counts. A stream begins
 * 2^67 draws after the one before it; such a step is a power of the generator's matrix. */

#define WORDS  5
#define BITS   (WORDS * 32)
#define WEYL   362437
#define XORWOW_STREAM_LOG2 67

/* What becomes of the state in which one bit is set, for each bit. */
struct bit_matrix {
	uint32_t of[BITS][WORDS];
};

static uint32_t xorwow_step(uint32_t word[WORDS])
{
	uint32_t first = word[0] ^ word[0] >> 2, last = word[4];

	memmove(word, word + 1, (WORDS - 1) * sizeof *word);
	return word[4] = last ^ last << 4 ^ first ^ first << 1;
}

static void xorwow_apply(const struct bit_matrix *matrix, uint32_t word[WORDS])
{
	uint32_t result[WORDS] = {0};

	for (unsigned bit = 0; bit < BITS; bit++) {
		uint32_t mask = 0 - (word[bit / 32] >> bit % 32 & 1);
		for (unsigned w = 0; w < WORDS; w++)
			result[w] ^= matrix->of[bit][w] & mask;
	}
	memcpy(word, result, sizeof result);
}

static void xorwow_square(struct bit_matrix *matrix)
{
	struct bit_matrix old = *matrix;

	for (unsigned bit = 0; bit < BITS; bit++)
		xorwow_apply(&old, matrix->of[bit]);
}

/* The matrix of one draw. */
static void xorwow_first_power(struct bit_matrix *matrix)
{
	memset(matrix, 0, sizeof *matrix);
	for (unsigned bit = 0; bit < BITS; bit++) {
		matrix->of[bit][bit / 32] = UINT32_C(1) << bit % 32;
		xorwow_step(matrix->of[bit]);
	}
}

static void xorwow_skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	struct bit_matrix power;

	xorwow_first_power(&power);
	for (uint64_t left = draws; left > 0; left >>= 1, xorwow_square(&power))
		for (unsigned i = 0; (left & 1) && i < n; i++)
			xorwow_apply(&power, streams[i].word);
	for (unsigned i = 0; i < n; i++)
		streams[i].word[WORDS] += (uint32_t)draws * WEYL;
}

/* cuRAND's way from a seed to a state (curand_init). */
static struct gt_curand_stream xorwow_start(uint64_t seed)
{
	const uint32_t low = ((uint32_t)seed ^ 0xaad26b49) * 1099087573U;
	const uint32_t high = ((uint32_t)(seed >> 32) ^ 0xf7dcefdd) * 2591861531U;

	return (struct gt_curand_stream){{123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low,
				   6615241 + high + low}};
}

static void xorwow_seed_streams(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	struct bit_matrix power;

	xorwow_first_power(&power);
	for (unsigned i = 0; i < XORWOW_STREAM_LOG2; i++)
		xorwow_square(&power);
	streams[0] = xorwow_start(seed);
	for (unsigned i = 1; i < n; i++) {
		streams[i] = streams[i - 1];
		xorwow_apply(&power, streams[i].word);
	}
}

static void xorwow_draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i++)
		draws[i] = xorwow_step(stream->word) + (stream->word[WORDS] += WEYL);
}

const struct gt_curand_engine gt_curand_xorwow = {xorwow_seed_streams, xorwow_skip, xorwow_draw, 4096, 4096, 1, false};

/* ---- MRG32k3a ---- */

/* MRG32k3a (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators", 1999): two
 * recurrences of order three. A stream begins 2^76 draws after the one before it. */

#define MRG_STREAM_LOG2 76

/* A recurrence: the next number is `plus` times the one `plus_at` of the last three, less `minus` times the oldest. */
static const struct law {
	uint64_t modulus, plus, minus;
	unsigned plus_at;
} laws[2] = {{4294967087, 1403580, 810728, 1}, {4294944443, 527612, 1370589, 2}};

struct power {
	uint64_t at[3][3];
};

static struct power mrg_first_power(const struct law *law)
{
	struct power matrix = {{{0, 1, 0}, {0, 0, 1}, {law->modulus - law->minus, 0, 0}}};

	matrix.at[2][law->plus_at] = law->plus;
	return matrix;
}

static uint64_t row_times(const uint64_t row[3], uint64_t a, uint64_t b, uint64_t c, uint64_t modulus)
{
	return (row[0] * a % modulus + row[1] * b % modulus + row[2] * c % modulus) % modulus;
}

static void mrg_square(struct power *matrix, uint64_t modulus)
{
	const struct power old = *matrix;

	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++)
			matrix->at[i][j] = row_times(old.at[i], old.at[0][j], old.at[1][j], old.at[2][j], modulus);
}

static void mrg_apply(const struct power *matrix, uint32_t word[3], uint64_t modulus)
{
	const uint32_t old[3] = {word[0], word[1], word[2]};

	for (unsigned i = 0; i < 3; i++)
		word[i] = (uint32_t)row_times(matrix->at[i], old[0], old[1], old[2], modulus);
}

static void mrg_skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	for (unsigned part = 0; part < 2; part++) {
		struct power power = mrg_first_power(&laws[part]);
		for (uint64_t left = draws; left > 0; left >>= 1, mrg_square(&power, laws[part].modulus))
			for (unsigned i = 0; (left & 1) && i < n; i++)
				mrg_apply(&power, streams[i].word + 3 * part, laws[part].modulus);
	}
}

/* cuRAND's way from a seed to a state (curand_init). */
static struct gt_curand_stream mrg_start(uint64_t seed)
{
	const uint64_t low = (uint32_t)seed ^ 0x55555555, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaa;
	struct gt_curand_stream stream;

	for (unsigned i = 0; i < 6; i++) {
		uint64_t factor = seed == 0 ? 1 : (i % 3 == 1) == (i < 3) ? high : low;
		stream.word[i] = (uint32_t)(12345 * factor % laws[i / 3].modulus);
	}
	return stream;
}

static void mrg_seed_streams(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	struct power power[2] = {mrg_first_power(&laws[0]), mrg_first_power(&laws[1])};

	for (unsigned i = 0; i < 2 * MRG_STREAM_LOG2; i++)
		mrg_square(&power[i % 2], laws[i % 2].modulus);
	streams[0] = mrg_start(seed);
	for (unsigned i = 1; i < n; i++) {
		streams[i] = streams[i - 1];
		mrg_apply(&power[0], streams[i].word, laws[0].modulus);
		mrg_apply(&power[1], streams[i].word + 3, laws[1].modulus);
	}
}

static uint64_t mrg_step(const struct law *law, uint32_t word[3])
{
	uint64_t next = (law->plus * word[law->plus_at] + (law->modulus - law->minus) * word[0] % law->modulus) % law->modulus;

	memmove(word, word + 1, 2 * sizeof *word);
	return word[2] = (uint32_t)next;
}

static void mrg_draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t first = mrg_step(&laws[0], stream->word), second = mrg_step(&laws[1], stream->word + 3);
		draws[i] = (uint32_t)(first > second ? first - second : first + laws[0].modulus - second);
	}
}

const struct gt_curand_engine gt_curand_mrg32k3a = {mrg_seed_streams, mrg_skip, mrg_draw, 81920, 4096, 1, true};
