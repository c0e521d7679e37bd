/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/flow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool gt_ptx_ends(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	return ending == GT_PTX_RETURNS || ending == GT_PTX_EXITS || ending == GT_PTX_TRAPS;
}

/* The next instruction follows it, in the same block. */
static bool falls_through(const struct gt_ptx_instruction *instruction)
{
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	return ending == GT_PTX_FALLS_THROUGH || ending == GT_PTX_CALLS;
}

/* The labels that a branch may go to. */
static const struct gt_ptx_operand *targets(const struct gt_ptx_instruction *instruction, size_t *n)
{
	enum gt_ptx_ending ending = gt_ptx_row(instruction)->ending;

	*n = 0;
	if (ending == GT_PTX_BRANCHES && instruction->n_operands == 1) {
		*n = 1;
		return instruction->operands;
	}
	if (ending == GT_PTX_BRANCHES_BY_INDEX && instruction->n_operands == 2) {
		*n = instruction->operands[1].n_elements;
		return instruction->operands[1].elements;
	}
	return NULL;
}

static int index_labels(struct gt_ptx_flow *flow, struct gt_error *error)
{
	const struct gt_ptx_function *function = flow->function;
	int fresh;

	if (gt_map_open(&flow->labels, 2 * function->n_labels + 1, error) != 0)
		return -1;
	for (size_t i = 0; i < function->n_labels; i++)
		if (!gt_map_put(&flow->labels, (uint64_t)(uintptr_t)function->labels[i].name,
				function->labels[i].at, &fresh))
			return gt_fail_memory(error, "the labels of a function");
	return 0;
}

/* Marks where blocks begin: at the targets of branches, and after an instruction that ends a block. */
static int mark_blocks(const struct gt_ptx_flow *flow, unsigned char *begins, size_t *n_edges,
		       struct gt_error *error)
{
	const struct gt_ptx_function *function = flow->function;

	begins[0] = 1;
	for (size_t i = 0; i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		if (falls_through(instruction))
			continue;
		begins[i + 1] = 1;
		size_t n;
		const struct gt_ptx_operand *labels = targets(instruction, &n);
		for (size_t t = 0; t < n; t++) {
			const char *name = labels[t].name;
			const uint64_t *at = name ? gt_map_get(&flow->labels, (uint64_t)(uintptr_t)name) : NULL;
			if (!at)
				return gt_fail(error, "PTX line %u: no label '%s' to branch to",
					       instruction->line, name ? name : "");
			begins[*at] = 1;
		}
		*n_edges += n;
	}
	return 0;
}

static void cut_blocks(struct gt_ptx_flow *flow, const unsigned char *begins)
{
	size_t n = flow->function->n_instructions;

	for (size_t i = 0; i < n; i++) {
		if (begins[i])
			flow->blocks[flow->n_blocks++].first = i;
		flow->block_of[i] = flow->n_blocks - 1;
		flow->blocks[flow->n_blocks - 1].end = i + 1;
	}
	flow->block_of[n] = flow->n_blocks;
}

size_t gt_ptx_flow_target(const struct gt_ptx_flow *flow, const char *label)
{
	return flow->block_of[*gt_map_get(&flow->labels, (uint64_t)(uintptr_t)label)];
}

static void add_edge(struct gt_ptx_flow *flow, struct gt_ptx_block *block, size_t to)
{
	for (size_t s = 0; s < block->n_successors; s++)
		if (flow->edges[block->successors + s] == to)
			return;
	flow->edges[flow->n_edges++] = to;
	block->n_successors++;
}

static void add_edges(struct gt_ptx_flow *flow, size_t b)
{
	struct gt_ptx_block *block = &flow->blocks[b];
	const struct gt_ptx_instruction *last = &flow->function->instructions[block->end - 1];
	size_t n;
	const struct gt_ptx_operand *labels = targets(last, &n);

	block->successors = flow->n_edges;
	for (size_t t = 0; t < n; t++)
		add_edge(flow, block, gt_ptx_flow_target(flow, labels[t].name));
	if (gt_ptx_ends(last))
		add_edge(flow, block, flow->n_blocks);
	if (falls_through(last) || last->guard || block->n_successors == 0)
		add_edge(flow, block, b + 1);
}

/* Finds the blocks that are reached from the first. `stack` has room for one entry a block. */
static void find_reached(struct gt_ptx_flow *flow, size_t *stack)
{
	size_t depth = 0;

	if (flow->n_blocks > 0) {
		flow->blocks[0].reached = true;
		stack[depth++] = 0;
	}
	while (depth > 0) {
		const struct gt_ptx_block *block = &flow->blocks[stack[--depth]];
		for (size_t s = 0; s < block->n_successors; s++) {
			size_t to = flow->edges[block->successors + s];
			if (to == flow->n_blocks || flow->blocks[to].reached)
				continue;
			flow->blocks[to].reached = true;
			stack[depth++] = to;
		}
	}
}

/* Fills the predecessors of each block. */
static void turn_edges(struct gt_ptx_flow *flow)
{
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t b = 0; b < flow->n_blocks; b++) {
			const struct gt_ptx_block *block = &flow->blocks[b];
			for (size_t s = 0; block->reached && s < block->n_successors; s++) {
				size_t to = flow->edges[block->successors + s];
				if (to == flow->n_blocks)
					continue;
				struct gt_ptx_block *next = &flow->blocks[to];
				if (pass == 1)
					flow->sources[next->predecessors + next->n_predecessors] = b;
				next->n_predecessors++;
			}
		}
		for (size_t b = 0; pass == 0 && b < flow->n_blocks; b++) {
			flow->blocks[b].predecessors = n;
			n += flow->blocks[b].n_predecessors;
			flow->blocks[b].n_predecessors = 0;
		}
	}
}

/* `begins` has a byte for each instruction and one for the end. */
static int build(struct gt_ptx_flow *flow, unsigned char *begins, struct gt_error *error)
{
	size_t n = flow->function->n_instructions, n_edges = 0;

	if (!begins)
		return gt_fail_memory(error, "a flow graph");
	if (index_labels(flow, error) != 0 || mark_blocks(flow, begins, &n_edges, error) != 0)
		return -1;
	n_edges += 2 * n + 1;
	flow->block_of = calloc(n + 1, sizeof *flow->block_of);
	flow->blocks = calloc(n + 1, sizeof *flow->blocks);
	flow->edges = calloc(n_edges, sizeof *flow->edges);
	flow->sources = calloc(n_edges, sizeof *flow->sources);
	if (!flow->block_of || !flow->blocks || !flow->edges || !flow->sources)
		return gt_fail_memory(error, "a flow graph");
	cut_blocks(flow, begins);
	for (size_t b = 0; b < flow->n_blocks; b++)
		add_edges(flow, b);
	find_reached(flow, flow->sources);
	turn_edges(flow);
	return 0;
}

int gt_ptx_flow_make(struct gt_ptx_flow *flow, const struct gt_ptx_function *function, struct gt_error *error)
{
	unsigned char *begins = calloc(function->n_instructions + 1, 1);

	*flow = (struct gt_ptx_flow){.function = function};
	int result = build(flow, begins, error);
	free(begins);
	return result;
}

void gt_ptx_flow_free(struct gt_ptx_flow *flow)
{
	free(flow->blocks);
	free(flow->edges);
	free(flow->sources);
	free(flow->block_of);
	gt_map_close(&flow->labels);
	memset(flow, 0, sizeof *flow);
}

#define LIVENESS_BITS_MAX (UINT64_C(1) << 31) /* of all sets */

int gt_ptx_liveness_make(struct gt_ptx_liveness *live, const struct gt_ptx_flow *flow, size_t n, struct gt_error *error)
{
	*live = (struct gt_ptx_liveness){.words = n / 64 + 1};
	if ((flow->n_blocks + 1) * GT_PTX_LIVENESS_SETS > LIVENESS_BITS_MAX / 64 / live->words)
		return 0;
	live->sets = calloc((flow->n_blocks + 1) * GT_PTX_LIVENESS_SETS, live->words * sizeof *live->sets);
	return live->sets ? 0 : gt_fail_memory(error, "the live ranges of registers");
}

void gt_ptx_liveness_free(struct gt_ptx_liveness *live)
{
	free(live->sets);
	live->sets = NULL;
}

/* Takes over what is live at the beginnings of the blocks that follow. True if more is live at the block's own beginning then. */
static bool flow_back(const struct gt_ptx_liveness *live, const struct gt_ptx_flow *flow, size_t b)
{
	const struct gt_ptx_block *block = &flow->blocks[b];
	const uint64_t *written = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_WRITTEN);
	uint64_t *in = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_IN), *out = gt_ptx_liveness_of(live, b, GT_PTX_LIVE_OUT);
	bool changed = false;

	for (size_t s = 0; s < block->n_successors; s++) {
		const size_t to = flow->edges[block->successors + s];
		for (size_t w = 0; to < flow->n_blocks && w < live->words; w++)
			out[w] |= gt_ptx_liveness_of(live, to, GT_PTX_LIVE_IN)[w];
	}
	for (size_t w = 0; w < live->words; w++) {
		const uint64_t now = in[w] | (out[w] & ~written[w]);
		changed |= now != in[w];
		in[w] = now;
	}
	return changed;
}

void gt_ptx_liveness_solve(const struct gt_ptx_liveness *live, const struct gt_ptx_flow *flow)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t b = flow->n_blocks; b-- > 0;)
			changed |= flow_back(live, flow, b);
	}
}
