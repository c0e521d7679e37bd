/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/estimate/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

int gt_ptx_renamed_open(struct gt_ptx_renamed *block, const struct gt_ptx_steps *steps, struct gt_error *error)
{
	memset(block, 0, sizeof *block);
	block->steps = steps;
	block->seen = calloc(steps->n_values + 1, sizeof *block->seen);
	block->name = calloc(steps->n_values + 1, sizeof *block->name);
	return block->seen && block->name ? 0 : gt_fail_memory(error, "an estimate of registers");
}

void gt_ptx_renamed_close(struct gt_ptx_renamed *block)
{
	free(block->seen);
	free(block->name);
	free(block->list);
	free(block->refs);
	free(block->names);
	memset(block, 0, sizeof *block);
}

static void new_name(struct gt_ptx_renamed *block, uint32_t value)
{
	struct gt_ptx_renamed_value *grown = gt_grown(block->names, block->n_names, &block->names_capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->names = grown;
	block->names[block->n_names] = (struct gt_ptx_renamed_value){.words = block->steps->words[value]};
	block->seen[value] = block->turn;
	block->name[value] = (uint32_t)block->n_names++;
}

static void put(struct gt_ptx_renamed *block, uint32_t name)
{
	uint32_t *grown = gt_grown(block->refs, block->n_refs, &block->refs_capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->refs = grown;
	block->refs[block->n_refs++] = name;
}

/* The name that a value has now; a first one if the block has not seen it yet: it lives from before. */
static void put_source(struct gt_ptx_renamed *block, uint32_t value)
{
	if (block->seen[value] != block->turn)
		new_name(block, value);
	put(block, block->name[value]);
}

static void copy_step(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *values = block->steps->refs + step->refs;
	struct gt_ptx_step *grown = gt_grown(block->list, block->n, &block->capacity, sizeof *grown);

	if (!grown) {
		block->failed = true;
		return;
	}
	block->list = grown;
	size_t refs = block->n_refs;
	block->list[block->n] = *step;
	block->list[block->n++].refs = refs;
	for (uint32_t r = 0; r < step->n_results; r++)
		put(block, 0);
	for (uint32_t s = 0; s < step->n_sources; s++)
		put_source(block, values[step->n_results + s]);
	for (uint32_t r = 0; r < step->n_results && !block->failed; r++) {
		new_name(block, values[r]);
		block->refs[refs + r] = block->name[values[r]];
	}
}

static void find_outliving(struct gt_ptx_renamed *block, const struct gt_ptx_live *live, size_t b)
{
	const uint64_t *set = gt_ptx_live_out(live, b);

	block->through = 0;
	for (size_t w = 0; w < live->words; w++)
		for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
			uint32_t value = live->values[64 * w + (size_t)__builtin_ctzll(rest)];
			if (block->seen[value] == block->turn)
				block->names[block->name[value]].outlives = true;
			else
				block->through += block->steps->words[value];
		}
}

void gt_ptx_rename(struct gt_ptx_renamed *block, const struct gt_ptx_live *live, size_t b, unsigned copies)
{
	const struct gt_ptx_steps *steps = block->steps;

	block->turn++;
	block->n = block->n_refs = block->n_names = 0;
	for (unsigned c = 1; c <= copies; c++)
		for (size_t i = steps->first[b]; i < steps->first[b + 1] && !block->failed; i++) {
			const struct gt_ptx_step *step = &steps->list[i];
			const uint32_t *refs = steps->refs + step->refs;
			if (c < copies && (step->effect == GT_PTX_EFFECT_ENDS || (step->advances && refs[0] == refs[1])))
				continue;
			copy_step(block, step);
		}
	if (!block->failed)
		find_outliving(block, live, b);
}

static uint32_t end_results(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *refs = block->refs + step->refs;
	uint32_t words = 0;

	for (uint32_t r = 0; r < step->n_results; r++) {
		struct gt_ptx_renamed_value *name = &block->names[refs[r]];
		words += name->live ? name->words : 0;
		name->live = false;
	}
	return words;
}

static uint32_t begin_sources(struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	const uint32_t *refs = block->refs + step->refs + step->n_results;
	uint32_t words = 0;

	for (uint32_t s = 0; s < step->n_sources; s++) {
		struct gt_ptx_renamed_value *name = &block->names[refs[s]];
		words += name->live ? 0 : name->words;
		name->live = true;
	}
	return words;
}

static uint32_t unread_results(const struct gt_ptx_renamed *block, const struct gt_ptx_step *step)
{
	uint32_t words = 0;

	for (uint32_t r = 0; r < step->n_results; r++) {
		const struct gt_ptx_renamed_value *name = &block->names[block->refs[step->refs + r]];
		words += name->live ? 0 : name->words;
	}
	return words;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* From the end backwards: a value lives from its last reader up to the step that makes it. */
uint32_t gt_ptx_words_live(struct gt_ptx_renamed *block, const uint32_t *order, bool reuse)
{
	uint32_t live = block->through;

	for (size_t k = 0; k < block->n_names; k++) {
		block->names[k].live = block->names[k].outlives;
		live += block->names[k].live ? block->names[k].words : 0;
	}
	uint32_t most = live;
	for (size_t place = block->n; place-- > 0;) {
		const struct gt_ptx_step *step = &block->list[order ? order[place] : place];
		most = larger(most, live + unread_results(block, step));
		uint32_t ended = end_results(block, step);
		uint32_t begun = begin_sources(block, step);
		most = larger(most, live + begun + step->scratch - (reuse ? ended : 0));
		live += begun - ended;
	}
	return most;
}
