/* SPDX-License-Identifier: MIT */
/* The flow graph of a function, what is live along it, and where lanes that diverge reconverge. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/flow.h"

/* An instruction that ends the function, or the launch, for the lanes that execute it. */
static bool ends_function(const struct gt_ptx_instruction *instruction)
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
	if (ends_function(last))
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

/* ---- liveness ---- */

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

/* ---- where lanes that diverge at a branch reconverge: at the immediate post-dominator of its block, the nearest block that lies
 * on every path to the end ---- */

/* The graph without the edges that the search for post-dominators leaves out. */
struct ways {
	const struct gt_ptx_flow *flow;
	unsigned char *kept; /* by edge */
	unsigned char *ends; /* by block: a path leads from it to the end */
	size_t *start; /* by block: the first of its predecessors in `before` */
	size_t *before;
	size_t *cursor;
	size_t *order; /* blocks, the end first, each before those that lead to it (loops apart) */
	size_t *number; /* by block: its place in `order`; SIZE_MAX: the end cannot be reached */
	size_t n;
};

/* True for a block that only returns, or traps. Lanes that branch there leave, and the others do not wait for them.
 * Without this, one `return` in a conditional would keep lanes diverged to the end. */
static bool leaves(const struct ways *ways, size_t b)
{
	if (b == ways->flow->n_blocks)
		return true;
	const struct gt_ptx_block *block = &ways->flow->blocks[b];
	const struct gt_ptx_instruction *last = &ways->flow->function->instructions[block->end - 1];
	return ends_function(last) && !last->guard &&
	       (block->end == block->first + 1 || gt_ptx_row(last)->ending == GT_PTX_TRAPS);
}

/* Finds the blocks from which kept edges lead to the end. */
static void find_ends(struct ways *ways)
{
	const struct gt_ptx_flow *flow = ways->flow;
	bool changed = true;

	ways->ends[flow->n_blocks] = 1;
	while (changed) {
		changed = false;
		for (size_t b = flow->n_blocks; b-- > 0;) {
			const struct gt_ptx_block *block = &flow->blocks[b];
			if (ways->ends[b])
				continue;
			for (size_t s = 0; s < block->n_successors; s++)
				if (ways->kept[block->successors + s] &&
				    ways->ends[flow->edges[block->successors + s]])
					ways->ends[b] = changed = true;
		}
	}
}

static void choose_edges(struct ways *ways)
{
	const struct gt_ptx_flow *flow = ways->flow;

	for (size_t b = 0; b < flow->n_blocks; b++)
		for (size_t s = 0; s < flow->blocks[b].n_successors; s++) {
			size_t edge = flow->blocks[b].successors + s;
			ways->kept[edge] =
				flow->blocks[b].n_successors == 1 || !leaves(ways, flow->edges[edge]);
		}
	find_ends(ways);
	/* A loop whose only exit is such a return keeps that edge. */
	for (size_t b = 0; b < flow->n_blocks; b++)
		for (size_t s = 0; !ways->ends[b] && s < flow->blocks[b].n_successors; s++)
			ways->kept[flow->blocks[b].successors + s] = 1;
}

/* Fills the predecessors of each block over kept edges. */
static void find_predecessors(struct ways *ways)
{
	const struct gt_ptx_flow *flow = ways->flow;
	size_t n = flow->n_blocks;

	for (size_t e = 0; e < flow->n_edges; e++)
		ways->start[flow->edges[e] + 1] += ways->kept[e];
	for (size_t b = 0; b <= n; b++) {
		ways->start[b + 1] += ways->start[b];
		ways->cursor[b] = ways->start[b];
	}
	for (size_t b = 0; b < n; b++)
		for (size_t s = 0; s < flow->blocks[b].n_successors; s++) {
			size_t edge = flow->blocks[b].successors + s;
			if (ways->kept[edge])
				ways->before[ways->cursor[flow->edges[edge]]++] = b;
		}
	for (size_t b = 0; b <= n; b++)
		ways->cursor[b] = ways->start[b];
}

/* Numbers the blocks in reverse postorder of the reversed graph, from the end. */
static int number_blocks(struct ways *ways, struct gt_error *error)
{
	size_t n = ways->flow->n_blocks, depth = 0, left = n + 1;
	size_t *stack = calloc(n + 1, sizeof *stack);

	if (!stack)
		return gt_fail_memory(error, "a flow graph");
	for (size_t b = 0; b <= n; b++)
		ways->number[b] = SIZE_MAX;
	stack[depth++] = n;
	ways->number[n] = 0;
	while (depth > 0) {
		size_t b = stack[depth - 1];
		if (ways->cursor[b] == ways->start[b + 1]) {
			ways->order[--left] = b;
			depth--;
			continue;
		}
		size_t from = ways->before[ways->cursor[b]++];
		if (ways->number[from] == SIZE_MAX) {
			ways->number[from] = 0;
			stack[depth++] = from;
		}
	}
	free(stack);
	ways->n = n + 1 - left;
	memmove(ways->order, ways->order + left, ways->n * sizeof *ways->order);
	for (size_t i = 0; i < ways->n; i++)
		ways->number[ways->order[i]] = i;
	return 0;
}

/* The nearest common post-dominator of two blocks. */
static size_t meet(const struct ways *ways, const size_t *join, size_t a, size_t b)
{
	while (a != b) {
		while (ways->number[a] > ways->number[b])
			a = join[a];
		while (ways->number[b] > ways->number[a])
			b = join[b];
	}
	return a;
}

/* Immediate post-dominators by the iteration of Cooper, Harvey and Kennedy (2001), on the reversed graph. */
static int find_joins(struct gt_ptx_flow *flow, const struct ways *ways, struct gt_error *error)
{
	size_t n = flow->n_blocks;
	size_t *join = malloc((n + 1) * sizeof *join);
	bool changed = true;

	if (!join)
		return gt_fail_memory(error, "a flow graph");
	for (size_t b = 0; b < n; b++)
		join[b] = SIZE_MAX;
	join[n] = n;
	while (changed) {
		changed = false;
		for (size_t i = 1; i < ways->n; i++) {
			const struct gt_ptx_block *block = &flow->blocks[ways->order[i]];
			size_t best = SIZE_MAX;
			for (size_t s = 0; s < block->n_successors; s++) {
				size_t to = flow->edges[block->successors + s];
				if (ways->kept[block->successors + s] && join[to] != SIZE_MAX)
					best = best == SIZE_MAX ? to : meet(ways, join, best, to);
			}
			changed |= join[ways->order[i]] != best;
			join[ways->order[i]] = best;
		}
	}
	for (size_t b = 0; b < n; b++)
		flow->blocks[b].join = join[b] == SIZE_MAX ? n : join[b];
	free(join);
	return 0;
}

int gt_ptx_flow_find_joins(struct gt_ptx_flow *flow, struct gt_error *error)
{
	size_t n = flow->n_blocks;
	int result = -1;
	struct ways ways = {
		.flow = flow,
		.kept = calloc(flow->n_edges + 1, 1),
		.ends = calloc(n + 1, 1),
		.start = calloc(n + 2, sizeof(size_t)),
		.before = calloc(flow->n_edges + 1, sizeof(size_t)),
		.cursor = calloc(n + 1, sizeof(size_t)),
		.order = calloc(n + 1, sizeof(size_t)),
		.number = calloc(n + 1, sizeof(size_t)),
	};

	if (!ways.kept || !ways.ends || !ways.start || !ways.before || !ways.cursor || !ways.order ||
	    !ways.number) {
		gt_fail_memory(error, "a flow graph");
	} else {
		choose_edges(&ways);
		find_predecessors(&ways);
		if (number_blocks(&ways, error) == 0)
			result = find_joins(flow, &ways, error);
	}
	free(ways.kept);
	free(ways.ends);
	free(ways.start);
	free(ways.before);
	free(ways.cursor);
	free(ways.order);
	free(ways.number);
	return result;
}
