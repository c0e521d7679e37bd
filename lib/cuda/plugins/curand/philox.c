/* SPDX-License-Identifier: MIT */
/* Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). A stream is a subsequence: the upper
 * half of the counter is its number, and the lower half counts its blocks of four draws. */
#include "cuda/plugins/curand/curand.h"

enum { COUNT, STREAM = 2, KEY = 4 }; /* words of a state, of two words each */

static void seed_streams(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	for (unsigned i = 0; i < n; i++)
		streams[i] = (struct gt_curand_stream){.word = {[STREAM] = i, [KEY] = (uint32_t)seed, [KEY + 1] = (uint32_t)(seed >> 32)}};
}

static void count(struct gt_curand_stream *stream, uint64_t blocks)
{
	uint64_t counted = (stream->word[COUNT] | (uint64_t)stream->word[COUNT + 1] << 32) + blocks;

	stream->word[COUNT] = (uint32_t)counted;
	stream->word[COUNT + 1] = (uint32_t)(counted >> 32);
}

static void skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	for (unsigned i = 0; i < n; i++)
		count(&streams[i], draws / 4);
}

/* The four draws of the state's counter. */
static void block_of(const struct gt_curand_stream *stream, uint32_t x[4])
{
	uint32_t key[2] = {stream->word[KEY], stream->word[KEY + 1]};

	for (unsigned i = 0; i < 4; i++)
		x[i] = stream->word[COUNT + i];
	for (unsigned round = 0; round < 10; round++) {
		uint64_t first = UINT64_C(0xd2511f53) * x[0], second = UINT64_C(0xcd9e8d57) * x[2];
		x[0] = (uint32_t)(second >> 32) ^ x[1] ^ key[0];
		x[1] = (uint32_t)second;
		x[2] = (uint32_t)(first >> 32) ^ x[3] ^ key[1];
		x[3] = (uint32_t)first;
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
}

/* n: a multiple of four. */
static void draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i += 4) {
		block_of(stream, draws + i);
		count(stream, 1);
	}
}

const struct gt_curand_engine gt_curand_philox = {seed_streams, skip, draw, 65536, 65536, 4, false};
