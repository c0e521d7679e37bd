/* SPDX-License-Identifier: MIT */
/* Where lanes that diverge at a branch reconverge: at the immediate post-dominator of its block, the nearest block that
 * lies on every path to the end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/flow.h"

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
	return gt_ptx_ends(last) && !last->guard &&
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
