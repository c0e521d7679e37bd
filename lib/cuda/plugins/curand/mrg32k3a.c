/* SPDX-License-Identifier: MIT */
/* MRG32k3a (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators", 1999): two
 * recurrences of order three. A stream begins 2^76 draws after the one before it. */
#include "cuda/plugins/curand/curand.h"

#include <string.h>

#define STREAM_DRAWS_LOG2 76

/* A recurrence: the next number is `plus` times the one `plus_at` of the last three, less `minus` times the oldest. */
static const struct law {
	uint64_t modulus, plus, minus;
	unsigned plus_at;
} laws[2] = {{4294967087, 1403580, 810728, 1}, {4294944443, 527612, 1370589, 2}};

struct matrix {
	uint64_t at[3][3];
};

static struct matrix first_power(const struct law *law)
{
	struct matrix matrix = {{{0, 1, 0}, {0, 0, 1}, {law->modulus - law->minus, 0, 0}}};

	matrix.at[2][law->plus_at] = law->plus;
	return matrix;
}

static uint64_t row_times(const uint64_t row[3], uint64_t a, uint64_t b, uint64_t c, uint64_t modulus)
{
	return (row[0] * a % modulus + row[1] * b % modulus + row[2] * c % modulus) % modulus;
}

static void square(struct matrix *matrix, uint64_t modulus)
{
	const struct matrix old = *matrix;

	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++)
			matrix->at[i][j] = row_times(old.at[i], old.at[0][j], old.at[1][j], old.at[2][j], modulus);
}

static void apply(const struct matrix *matrix, uint32_t word[3], uint64_t modulus)
{
	const uint32_t old[3] = {word[0], word[1], word[2]};

	for (unsigned i = 0; i < 3; i++)
		word[i] = (uint32_t)row_times(matrix->at[i], old[0], old[1], old[2], modulus);
}

static void skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	for (unsigned part = 0; part < 2; part++) {
		struct matrix power = first_power(&laws[part]);
		for (uint64_t left = draws; left > 0; left >>= 1, square(&power, laws[part].modulus))
			for (unsigned i = 0; (left & 1) && i < n; i++)
				apply(&power, streams[i].word + 3 * part, laws[part].modulus);
	}
}

/* cuRAND's way from a seed to a state (curand_init). */
static struct gt_curand_stream start(uint64_t seed)
{
	const uint64_t low = (uint32_t)seed ^ 0x55555555, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaa;
	struct gt_curand_stream stream;

	for (unsigned i = 0; i < 6; i++) {
		uint64_t factor = seed == 0 ? 1 : (i % 3 == 1) == (i < 3) ? high : low;
		stream.word[i] = (uint32_t)(12345 * factor % laws[i / 3].modulus);
	}
	return stream;
}

static void seed_streams(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	struct matrix power[2] = {first_power(&laws[0]), first_power(&laws[1])};

	for (unsigned i = 0; i < 2 * STREAM_DRAWS_LOG2; i++)
		square(&power[i % 2], laws[i % 2].modulus);
	streams[0] = start(seed);
	for (unsigned i = 1; i < n; i++) {
		streams[i] = streams[i - 1];
		apply(&power[0], streams[i].word, laws[0].modulus);
		apply(&power[1], streams[i].word + 3, laws[1].modulus);
	}
}

static uint64_t step(const struct law *law, uint32_t word[3])
{
	uint64_t next = (law->plus * word[law->plus_at] + (law->modulus - law->minus) * word[0] % law->modulus) % law->modulus;

	memmove(word, word + 1, 2 * sizeof *word);
	return word[2] = (uint32_t)next;
}

static void draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t first = step(&laws[0], stream->word), second = step(&laws[1], stream->word + 3);
		draws[i] = (uint32_t)(first > second ? first - second : first + laws[0].modulus - second);
	}
}

const struct gt_curand_engine gt_curand_mrg32k3a = {seed_streams, skip, draw, 81920, 4096, 1, true};
