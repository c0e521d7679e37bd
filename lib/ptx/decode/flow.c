/* SPDX-License-Identifier: MIT */
#include "ptx/decode/flow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Nothing follows the instruction, unless it is guarded. */
static bool ends(const struct gt_ptx_instruction *instruction)
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

size_t gt_ptx_label_at(const struct gt_ptx_function *function, const char *label)
{
	for (size_t i = 0; label && i < function->n_labels; i++)
		if (function->labels[i].name == label || strcmp(function->labels[i].name, label) == 0)
			return function->labels[i].at;
	return SIZE_MAX;
}

/* The labels a branch may go to. */
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

/* Marks where blocks begin: at labels branched to, and behind what ends a block. */
static int mark_blocks(const struct gt_ptx_function *function, size_t *begins, size_t *n_edges,
		       struct gt_error *error)
{
	begins[0] = 1;
	for (size_t i = 0; i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		if (falls_through(instruction))
			continue;
		begins[i + 1] = 1;
		size_t n;
		const struct gt_ptx_operand *labels = targets(instruction, &n);
		for (size_t t = 0; t < n; t++) {
			size_t at = gt_ptx_label_at(function, labels[t].name);
			if (at == SIZE_MAX)
				return gt_fail(error, "PTX line %u: no label '%s' to branch to",
					       instruction->line, labels[t].name ? labels[t].name : "");
			begins[at] = 1;
		}
		*n_edges += n;
	}
	return 0;
}

static void add_edge(struct gt_ptx_flow *flow, struct gt_ptx_block *block, size_t to)
{
	for (size_t s = 0; s < block->n_successors; s++)
		if (flow->edges[block->successors + s] == to)
			return;
	flow->edges[flow->n_edges++] = to;
	block->n_successors++;
}

static void add_edges(struct gt_ptx_flow *flow, const struct gt_ptx_function *function, size_t b)
{
	struct gt_ptx_block *block = &flow->blocks[b];
	const struct gt_ptx_instruction *last = &function->instructions[block->end - 1];
	size_t n;
	const struct gt_ptx_operand *labels = targets(last, &n);

	block->successors = flow->n_edges;
	for (size_t t = 0; t < n; t++)
		add_edge(flow, block, flow->block_of[gt_ptx_label_at(function, labels[t].name)]);
	if (ends(last))
		add_edge(flow, block, flow->n_blocks);
	if (falls_through(last) || last->guard || block->n_successors == 0)
		add_edge(flow, block, b + 1);
}

/* What the search for post-dominators works on: the graph less the edges it may leave out. */
struct ways {
	const struct gt_ptx_flow *flow;
	const struct gt_ptx_function *function;
	unsigned char *kept; /* by edge */
	unsigned char *ends; /* by block: the end can be reached from it */
	size_t *start; /* of a block's predecessors in `before`, and where the next block's start */
	size_t *before;
	size_t *cursor;
	size_t *order; /* blocks, the end first, each before those that lead to it (loops apart) */
	size_t *number; /* by block: its place in `order`; SIZE_MAX: the end cannot be reached */
	size_t n;
};

/* A block that does nothing but return, or traps: lanes that go there have left, and the others do
 * not wait for them. Without that, one `return` in a conditional would keep lanes apart to the end. */
static bool leaves(const struct ways *ways, size_t b)
{
	if (b == ways->flow->n_blocks)
		return true;
	const struct gt_ptx_block *block = &ways->flow->blocks[b];
	const struct gt_ptx_instruction *last = &ways->function->instructions[block->end - 1];
	return ends(last) && !last->guard &&
	       (block->end == block->first + 1 || gt_ptx_row(last)->ending == GT_PTX_TRAPS);
}

/* Blocks from which the end can be reached by kept edges. */
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
	/* A loop whose only way out is such a return keeps it. */
	for (size_t b = 0; b < flow->n_blocks; b++)
		for (size_t s = 0; !ways->ends[b] && s < flow->blocks[b].n_successors; s++)
			ways->kept[flow->blocks[b].successors + s] = 1;
}

/* The blocks that lead to each block by kept edges. */
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

/* Reverse postorder of the reversed graph, from the end. */
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

/* The nearest block that two blocks' chains of post-dominators share. */
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

/* Cooper, Harvey and Kennedy's iteration, on the reversed graph. */
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

static int find_meetings(struct gt_ptx_flow *flow, const struct gt_ptx_function *function,
			 struct gt_error *error)
{
	size_t n = flow->n_blocks;
	int result = -1;
	struct ways ways = {
		.flow = flow,
		.function = function,
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

static void cut_blocks(struct gt_ptx_flow *flow, const struct gt_ptx_function *function, const size_t *begins)
{
	for (size_t i = 0; i < function->n_instructions; i++) {
		if (begins[i])
			flow->blocks[flow->n_blocks++].first = i;
		flow->block_of[i] = flow->n_blocks - 1;
		flow->blocks[flow->n_blocks - 1].end = i + 1;
	}
	flow->block_of[function->n_instructions] = flow->n_blocks;
}

int gt_ptx_flow_make(struct gt_ptx_flow *flow, const struct gt_ptx_function *function, struct gt_error *error)
{
	size_t n = function->n_instructions, n_edges = 0;
	size_t *begins = calloc(n + 1, sizeof *begins);
	int result = -1;

	memset(flow, 0, sizeof *flow);
	if (begins && mark_blocks(function, begins, &n_edges, error) == 0) {
		flow->block_of = calloc(n + 1, sizeof *flow->block_of);
		flow->blocks = calloc(n + 1, sizeof *flow->blocks);
		flow->edges = calloc(n_edges + 2 * n + 1, sizeof *flow->edges);
		if (flow->block_of && flow->blocks && flow->edges) {
			cut_blocks(flow, function, begins);
			for (size_t b = 0; b < flow->n_blocks; b++)
				add_edges(flow, function, b);
			result = find_meetings(flow, function, error);
		} else {
			gt_fail_memory(error, "a flow graph");
		}
	} else if (!begins) {
		gt_fail_memory(error, "a flow graph");
	}
	free(begins);
	return result;
}

void gt_ptx_flow_free(struct gt_ptx_flow *flow)
{
	free(flow->blocks);
	free(flow->edges);
	free(flow->block_of);
	memset(flow, 0, sizeof *flow);
}
