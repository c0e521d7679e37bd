/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/estimate/live.h"

#include <stdlib.h>
#include <string.h>

enum { AT_END, AT_BEGINNING, WRITTEN, SETS };
#define BITS_MAX (UINT64_C(1) << 31) /* of all sets */

static uint64_t *set_of(const struct gt_ptx_live *live, size_t b, unsigned which)
{
	return live->sets + (b * SETS + which) * live->words;
}

static bool is_in(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void put_in(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

/* Finds the values that some block reads before it writes them. `wrote`: by value, 1 + the last block that did. */
static void find_values(struct gt_ptx_live *live, const struct gt_ptx_steps *steps, size_t n_blocks, size_t *wrote)
{
	for (size_t v = 0; v < steps->n_values; v++)
		live->bit[v] = UINT32_MAX;
	for (size_t b = 0; b < n_blocks; b++)
		for (size_t i = steps->first[b]; i < steps->first[b + 1]; i++) {
			const struct gt_ptx_step *step = &steps->list[i];
			const uint32_t *refs = steps->refs + step->refs;
			for (uint32_t s = step->n_results; s < step->n_results + step->n_sources; s++)
				if (wrote[refs[s]] != b + 1 && live->bit[refs[s]] == UINT32_MAX) {
					live->bit[refs[s]] = (uint32_t)live->n;
					live->values[live->n++] = refs[s];
				}
			for (uint32_t r = 0; r < step->n_results; r++)
				wrote[refs[r]] = b + 1;
		}
}

/* What a block reads before it writes it, and what it writes. */
static void begin(struct gt_ptx_live *live, const struct gt_ptx_steps *steps, size_t b)
{
	uint64_t *read = set_of(live, b, AT_BEGINNING), *written = set_of(live, b, WRITTEN);

	for (size_t i = steps->first[b]; i < steps->first[b + 1]; i++) {
		const struct gt_ptx_step *step = &steps->list[i];
		const uint32_t *refs = steps->refs + step->refs;
		for (uint32_t k = 0; k < step->n_sources; k++) {
			uint32_t bit = live->bit[refs[step->n_results + k]];
			if (bit != UINT32_MAX && !is_in(written, bit))
				put_in(read, bit);
		}
		for (uint32_t r = 0; r < step->n_results; r++)
			if (live->bit[refs[r]] != UINT32_MAX)
				put_in(written, live->bit[refs[r]]);
	}
}

/* Takes over what is live at the beginnings of the blocks that follow. */
static bool flow_back(struct gt_ptx_live *live, const struct gt_ptx_flow *flow, size_t b)
{
	const struct gt_ptx_block *block = &flow->blocks[b];
	uint64_t *end = set_of(live, b, AT_END), *beginning = set_of(live, b, AT_BEGINNING);
	const uint64_t *written = set_of(live, b, WRITTEN);
	bool changed = false;

	for (size_t s = 0; s < block->n_successors; s++) {
		size_t to = flow->edges[block->successors + s];
		for (size_t w = 0; to < flow->n_blocks && w < live->words; w++)
			end[w] |= set_of(live, to, AT_BEGINNING)[w];
	}
	for (size_t w = 0; w < live->words; w++) {
		uint64_t now = beginning[w] | (end[w] & ~written[w]);
		changed |= now != beginning[w];
		beginning[w] = now;
	}
	return changed;
}

static int find_sets(struct gt_ptx_live *live, const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow,
		     struct gt_error *error)
{
	live->words = live->n / 64 + 1;
	if ((flow->n_blocks + 1) * SETS > BITS_MAX / 64 / live->words)
		return 0;
	live->sets = calloc((flow->n_blocks + 1) * SETS, live->words * sizeof *live->sets);
	if (!live->sets)
		return gt_fail_memory(error, "an estimate of registers");
	for (size_t b = 0; b < flow->n_blocks; b++)
		begin(live, steps, b);
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t b = flow->n_blocks; b-- > 0;)
			changed |= flow_back(live, flow, b);
	}
	return 0;
}

int gt_ptx_live_make(struct gt_ptx_live *live, const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow,
		     struct gt_error *error)
{
	size_t *wrote = calloc(steps->n_values + 1, sizeof *wrote);

	memset(live, 0, sizeof *live);
	live->values = calloc(steps->n_values + 1, sizeof *live->values);
	live->bit = calloc(steps->n_values + 1, sizeof *live->bit);
	bool short_of_memory = !wrote || !live->values || !live->bit;
	if (!short_of_memory)
		find_values(live, steps, flow->n_blocks, wrote);
	free(wrote);
	return short_of_memory ? gt_fail_memory(error, "an estimate of registers") : find_sets(live, steps, flow, error);
}

void gt_ptx_live_free(struct gt_ptx_live *live)
{
	free(live->values);
	free(live->bit);
	free(live->sets);
	memset(live, 0, sizeof *live);
}

const uint64_t *gt_ptx_live_out(const struct gt_ptx_live *live, size_t b)
{
	return set_of(live, b, AT_END);
}
