/* SPDX-License-Identifier: MIT */
/* From where to where each register of a function is live. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/visitor.h"

#define BITSETS_MAX (UINT64_C(1) << 31) /* bits; beyond, every register is live everywhere */

/* The sets of a block. */
enum { USED, DEFINED, LIVE_IN, LIVE_OUT, SETS };

struct lives {
	const struct gt_ptx_flow *flow;
	size_t words;	/* of a set */
	uint64_t *sets; /* by block */
	/* Of the block that is visited. */
	uint64_t *used, *defined, *live;
	size_t position;
};

static bool is_in(const uint64_t *set, size_t i)
{
	return set[i / 64] >> i % 64 & 1;
}
static void put_in(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}
static void take_out(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static uint64_t *set_of(const struct lives *lives, size_t block, size_t which)
{
	return lives->sets + (block * SETS + which) * lives->words;
}

/* Results in registers are read where a function ends. */
static int keep_result(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct lives *lives = visitor->context;

	(void)written;
	put_in(lives->live, index);
	return 0;
}

static int keep_results(struct lives *lives, struct gt_ptx_visitor *visitor, size_t b)
{
	const struct gt_ptx_flow *flow = lives->flow;
	const struct gt_ptx_function *function = flow->function;

	lives->live = set_of(lives, b, LIVE_OUT);
	visitor->visit = keep_result;
	for (size_t s = 0; s < flow->blocks[b].n_successors; s++)
		for (size_t i = 0; flow->edges[flow->blocks[b].successors + s] == flow->n_blocks && i < function->n_returns; i++)
			if (function->returns[i].space == GT_PTX_REG && gt_ptx_visit_name(visitor, function->returns[i].name, false) != 0)
				return -1;
	return 0;
}

/* First pass, forwards: what a block reads before it writes it, and what it writes without a guard. */
static int collect(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct lives *lives = visitor->context;

	if (!written) {
		if (!is_in(lives->defined, index))
			put_in(lives->used, index);
	} else if (!visitor->guarded) {
		put_in(lives->defined, index);
	}
	return 0;
}

static void extend(struct gt_ptx_register *reg, size_t position)
{
	reg->first = position < reg->first ? position : reg->first;
	reg->last = position > reg->last ? position : reg->last;
}

/* Second pass, backwards: where each register is live. A source is live until after the result of its instruction, so
 * that the two never share a slot. */
static int trace_lives(struct gt_ptx_visitor *visitor, size_t index, bool written)
{
	const struct lives *lives = visitor->context;
	struct gt_ptx_register *reg = &visitor->registers->list[index];

	if (written) {
		extend(reg, lives->position + 1);
		extend(reg, lives->position + 2);
		if (!visitor->guarded)
			take_out(lives->live, index);
		return 0;
	}
	extend(reg, lives->position);
	extend(reg, lives->position + 2);
	put_in(lives->live, index);
	return 0;
}

/* Solves the equations of liveness: in = used | (out & ~defined), out = the union of in over the successors. */
static void iterate(const struct lives *lives)
{
	const struct gt_ptx_flow *flow = lives->flow;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t b = flow->n_blocks; b-- > 0;) {
			uint64_t *used = set_of(lives, b, USED), *defined = set_of(lives, b, DEFINED);
			uint64_t *in = set_of(lives, b, LIVE_IN), *out = set_of(lives, b, LIVE_OUT);
			for (size_t s = 0; s < flow->blocks[b].n_successors; s++) {
				size_t to = flow->edges[flow->blocks[b].successors + s];
				for (size_t w = 0; to < flow->n_blocks && w < lives->words; w++)
					out[w] |= set_of(lives, to, LIVE_IN)[w];
			}
			for (size_t w = 0; w < lives->words; w++) {
				uint64_t now = used[w] | (out[w] & ~defined[w]);
				changed |= now != in[w];
				in[w] = now;
			}
		}
	}
}

static int walk_block(struct lives *lives, struct gt_ptx_visitor *visitor, size_t b)
{
	const struct gt_ptx_block *block = &lives->flow->blocks[b];
	struct gt_ptx_registers *registers = visitor->registers;

	lives->live = memcpy(set_of(lives, b, DEFINED), set_of(lives, b, LIVE_OUT), lives->words * sizeof *lives->live);
	visitor->visit = trace_lives;
	for (size_t r = 0; r < registers->n; r++) {
		if (is_in(lives->live, r))
			extend(&registers->list[r], 2 * block->end);
		if (is_in(set_of(lives, b, LIVE_IN), r))
			extend(&registers->list[r], 2 * block->first);
	}
	for (size_t i = block->end; i-- > block->first;) {
		const struct gt_ptx_instruction *instruction = &lives->flow->function->instructions[i];
		lives->position = 2 * i;
		if (gt_ptx_visit_results(visitor, instruction) != 0 || gt_ptx_visit_sources(visitor, instruction) != 0)
			return -1;
	}
	return 0;
}

static int find_lives(struct lives *lives, struct gt_ptx_visitor *visitor, struct gt_error *error)
{
	const struct gt_ptx_flow *flow = lives->flow;

	lives->words = visitor->registers->n / 64 + 1;
	if ((uint64_t)lives->words * 64 * SETS * (flow->n_blocks + 1) > BITSETS_MAX) {
		for (size_t r = 0; r < visitor->registers->n; r++)
			visitor->registers->list[r].last = SIZE_MAX;
		return 0;
	}
	lives->sets = calloc((flow->n_blocks + 1) * SETS * lives->words, sizeof *lives->sets);
	if (!lives->sets)
		return gt_fail_memory(error, "the lives of registers");
	for (size_t b = 0; b < flow->n_blocks; b++) {
		lives->used = set_of(lives, b, USED);
		lives->defined = set_of(lives, b, DEFINED);
		visitor->visit = collect;
		for (size_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
			if (gt_ptx_visit_sources(visitor, &lives->flow->function->instructions[i]) != 0 ||
			    gt_ptx_visit_results(visitor, &lives->flow->function->instructions[i]) != 0)
				return -1;
		if (keep_results(lives, visitor, b) != 0)
			return -1;
	}
	iterate(lives);
	for (size_t b = 0; b < flow->n_blocks; b++)
		if (walk_block(lives, visitor, b) != 0)
			return -1;
	return 0;
}

const uint64_t *gt_ptx_live_behind(const struct gt_ptx_registers *registers, size_t *stride)
{
	*stride = SETS * registers->live_words;
	return registers->lives ? registers->lives + LIVE_OUT * registers->live_words : NULL;
}

int gt_ptx_find_lives(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, struct gt_error *error)
{
	struct lives lives = {.flow = flow};
	struct gt_ptx_visitor visitor = {.registers = registers, .context = &lives, .error = error};
	int result = find_lives(&lives, &visitor, error);

	registers->lives = lives.sets;
	registers->live_words = lives.words;
	return result;
}
